package request

import (
	"math"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

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
