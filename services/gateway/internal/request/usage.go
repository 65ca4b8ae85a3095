package request

import (
	"math"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// ParseUsage reads GET /v1/usage?from&to&by&prism&model&key_id (spec: usage-query). If a day is absent, results
// completes the period, since its clock says which day is today.
func ParseUsage(q Query) (contract.UsageQuery, error) {
	var r reader
	usage := contract.UsageQuery{
		From: r.day(q, "from"),
		To:   r.day(q, "to"),
		By:   oneOf(&r, "by", q("by"), contract.UsageBys(), contract.ByDay),
	}
	usage.Prism = r.prismQuery(q)
	usage.Model = r.singleStr(q, "model", maxName)
	usage.Key = r.keyID(q)
	if usage.From != nil && usage.To != nil {
		if _, _, problem := usage.Period(0); problem != nil {
			r.add(problem.Path, problem.Text)
		}
	}
	return usage, r.err()
}

// day reads a day in UTC, or the RFC 3339 date-time at which it begins (spec: usage-days). It is nil if absent.
func (r *reader) day(q Query, name string) *prism.Day {
	before := len(r.problems)
	s := r.singleStr(q, name, math.MaxInt)
	if s == "" || len(r.problems) != before {
		return nil
	}
	at, err := time.Parse(time.DateOnly, s)
	if err != nil {
		var ok bool
		if at, ok = parseDatetime(s); !ok || !at.Equal(prism.DayOf(at).Start()) {
			r.add(name, textDay)
			return nil
		}
	}
	day := prism.DayOf(at)
	return &day
}
