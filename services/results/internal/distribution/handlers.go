package distribution

import (
	"context"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"time"
	_ "time/tzdata" // for images without time zones

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Handlers are those of the operations on distributions. Prisms finds a prism by its name, and Versions its versions.
type Handlers struct {
	Store  Store
	Prisms interface {
		Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (prism.Prism, error)
	}
	Versions interface {
		Version(ctx context.Context, account prism.AccountID, id prisms.VersionID) (*prisms.Cached, error)
	}
	// Visit calls count with the results of a prism that a filter and a search find.
	Visit func(
		ctx context.Context, account prism.AccountID, p prism.Prism, f store.Filter, sent api.ResultSearch, count func(*finding.Found),
	) (finding.Covered, error)
	Now func() time.Time
}

// Operations are the operations on distributions.
func (s *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{access.Handle(api.ReadDistribution, s.readDistribution)}
}

func invalid(path, text string) error { return apierr.Invalid(apierr.Problem{Path: path, Text: text}) }

func (s *Handlers) readDistribution(
	ctx context.Context, c store.Caller, in api.ReadDistributionRequest,
) (out api.Distribution, err error) {
	p, err := s.Prisms.Prism(ctx, c.Account, in.Prism)
	if err != nil {
		return out, access.Translate(err, apierr.PrismNotFound())
	}
	question, err := s.question(ctx, c.Account, p, in)
	if err != nil {
		return out, err
	}
	zone, err := time.LoadLocation(in.Zone)
	if err != nil || in.Zone == "Local" { // the zone of the machine
		return out, invalid("zone", "Unknown time zone")
	}
	year, month, date := s.Now().In(zone).Date()
	from, to, problem := in.Period(prism.DayOf(time.Date(year, month, date, 0, 0, 0, 0, time.UTC)))
	if problem != nil {
		return out, apierr.Invalid(*problem)
	}
	begins := buckets(in.By, zone, from, to)
	distribution, err := s.find(ctx, c.Account, p, Filter{
		Prism: p.ID, Question: in.Question, Version: in.Version, From: begins[0], To: begins[len(begins)-1],
	}, in.ResultSearch)
	if err != nil {
		return out, err
	}
	return api.Distribution{
		Question: in.Question, Type: question.Type, By: in.By, Zone: in.Zone, From: from.String(), To: to.String(),
		Exact: distribution.Exact, CountedFrom: bodies.Time(distribution.CountedFrom), CountedTo: bodies.Time(distribution.CountedTo),
		Data: rows(question, begins, distribution.Quarters),
	}, nil
}

// find counts the results that a search finds, or reads the counts of all if nothing is searched for.
func (s *Handlers) find(ctx context.Context, account prism.AccountID, p prism.Prism, f Filter, sent api.ResultSearch) (Found, error) {
	if sent.Q == "" && len(sent.Where) == 0 {
		return s.read(ctx, account, f)
	}
	among := store.Filter{Prism: f.Prism, Version: f.Version, From: f.From, To: f.To}
	searched := Searched{Question: f.Question}
	covered, err := s.Visit(ctx, account, p, among, sent, searched.Count)
	return searched.Counts(covered), err
}

// read reads counts. Of an account whose first results are so new that the worker has not looked yet, it begins the counting. If that fails,
// as with a full disk, the counts say that they are not exact.
func (s *Handlers) read(ctx context.Context, account prism.AccountID, f Filter) (Found, error) {
	distribution, err := s.Store.ReadDistribution(ctx, account, f)
	if err != nil || distribution.Exact || distribution.Begun {
		return distribution, err
	}
	if s.Store.BeginCounting(ctx, account) == nil {
		if _, failed := s.Store.Count(ctx, account, pieceSize); failed == nil {
			return s.Store.ReadDistribution(ctx, account, f)
		}
	}
	return distribution, nil
}

// question is the question of the version that was asked for, or of the newest one that has it.
func (s *Handlers) question(
	ctx context.Context, account prism.AccountID, p prism.Prism, in api.ReadDistributionRequest,
) (none prism.Question, err error) {
	newest, oldest := p.Latest.Number, int32(1)
	if in.Version != 0 {
		newest, oldest = in.Version, in.Version
	}
	for number := newest; number >= oldest; number-- {
		v, err := s.Versions.Version(ctx, account, prisms.VersionIn(p, number))
		if err != nil {
			return none, access.Translate(err, apierr.VersionNotFound())
		}
		if q, known := v.Question(in.Question); known {
			return q, nil
		}
	}
	return none, invalid("question", "Unknown question")
}

// rows adds up the quarters of each bucket (spec: distribution-row).
func rows(q prism.Question, begins []time.Time, quarters []Quarter) []api.DistributionRow {
	data := []api.DistributionRow{}
	for len(quarters) > 0 {
		// The bucket of the first quarter is the one before the first that begins later.
		next := sort.Search(len(begins), func(i int) bool { return begins[i].After(quarters[0].At) })
		var sum Counts
		n := 0
		for ; n < len(quarters) && quarters[n].At.Before(begins[next]); n++ {
			sum.Add(&quarters[n].Counts)
		}
		quarters = quarters[n:]
		if answers := sum.Answers(); answers > 0 {
			data = append(data, api.DistributionRow{
				At: api.Time{Time: begins[next-1]}, Answers: answers, Values: values(q, &sum), Labelled: sum.Labelled, Right: sum.Right,
				Probability: math.Round(float64(sum.Probability)/float64(answers)) / Unit, Bins: sum.Bins,
			})
		}
	}
	return data
}

// values are those of a question, and then those that other versions have besides.
func values(q prism.Question, sum *Counts) []api.DistributionValue {
	totals := map[string]int64{}
	for value, n := range sum.Values {
		if value != several {
			totals[strings.TrimPrefix(value, severalKeys)] += n
		}
	}
	all := make([]api.DistributionValue, 0, len(totals))
	for _, value := range q.LabelValues() {
		all = append(all, api.DistributionValue{Value: q.Type.ShownLabel(value), Count: totals[value]})
		delete(totals, value)
	}
	for _, value := range slices.Sorted(maps.Keys(totals)) {
		all = append(all, api.DistributionValue{Value: value, Count: totals[value]})
	}
	return all
}
