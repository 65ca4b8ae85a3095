package drift

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/prism"
)

// Reference is what answers of a version are compared with.
type Reference struct {
	Kind     api.DriftKind
	From, To time.Time // zero while there is no first result
	Results  int64
	// Counts have no targets while there is no result.
	Counts Counts
	among  []int // of each target
}

// Window is a time whose answers are compared with the reference.
type Window struct {
	From, To time.Time // From is included, To is not
	Results  int64
	// Targets are those of the version, in its order; nil without a result or without a reference.
	Targets []Comparison
}

// Comparison is how far the answers to a target are from the reference. Of too few answers it has no alarm.
type Comparison struct{ Probability, Classes calibration.Drift }

// Alarm tells whether either is an alarm.
func (c Comparison) Alarm() bool { return c.Probability.Alarm || c.Classes.Alarm }

// Known tells whether there were enough answers to compare.
func (c Comparison) Known() bool { return !c.Probability.TooFew }

// Last is the drift of a version in the last hour and day.
type Last struct {
	CountedTo time.Time
	Reference Reference
	Hour, Day Window
}

// reader reads the counts of a version.
type reader struct {
	Store
	Watch
	version int32
}

// Read compares the last hour and the last day of a version that were counted with its reference. The questions are those of the version.
func Read(ctx context.Context, from Store, w Watch, version int32, questions []prism.Question) (l Last, err error) {
	r := reader{from, w, version}
	l.CountedTo = w.Reached.Time()
	if l.Reference, err = r.reference(ctx); err != nil {
		return l, err
	}
	l.Reference.among = amongOf(questions)
	last := OfTenMinutes.Begin(l.CountedTo)
	day, hour := last.Add(-24*time.Hour), last.Add(-time.Hour)
	var ofDay, ofHour Counts
	err = r.each(ctx, OfTenMinutes, day, l.CountedTo, func(s SpanCounts) error {
		if l.Reference.Kind == api.SetPeriod && !s.At.Before(l.Reference.From) && s.At.Before(l.Reference.To) {
			return nil // what is compared is not compared with itself
		}
		if !s.At.Before(hour) {
			if err := ofHour.addStored(s.Results, s.Counts); err != nil {
				return err
			}
		}
		return ofDay.addStored(s.Results, s.Counts)
	})
	if err != nil {
		return l, err
	}
	c := newComparer(l.Reference)
	if l.Day, err = c.window(day, l.CountedTo, ofDay); err != nil {
		return l, err
	}
	l.Hour, err = c.window(hour, l.CountedTo, ofHour)
	return l, err
}

// History compares each of the last 48 hours and 30 days of a version, in which there were results, with its reference. The last of
// them go on.
func History(
	ctx context.Context, from Store, w Watch, version int32, ref Reference,
) (hours, days []Window, err error) {
	const day = 24 * time.Hour
	r := reader{from, w, version}
	to := w.Reached.Time()
	firstHour := OfHour.Begin(to).Add(-47 * time.Hour)
	c := newComparer(ref)
	var counts Counts // of the day that begins at begin
	begin := to.Truncate(day).Add(-29 * day)
	add := func(points *[]Window, begin time.Time, length time.Duration, counts Counts) error {
		if counts.Results == 0 {
			return nil
		}
		w, err := c.window(begin, begin.Add(length), counts)
		*points = append(*points, w)
		return err
	}
	err = r.each(ctx, OfHour, begin, to, func(s SpanCounts) error {
		if next := s.At.Truncate(day); next.After(begin) {
			if err := add(&days, begin, day, counts); err != nil {
				return err
			}
			begin, counts = next, Counts{}
		}
		if !s.At.Before(firstHour) {
			var ofHour Counts
			if err := ofHour.addStored(s.Results, s.Counts); err != nil {
				return err
			}
			if err := add(&hours, s.At, time.Hour, ofHour); err != nil {
				return err
			}
		}
		return counts.addStored(s.Results, s.Counts)
	})
	if err != nil {
		return nil, nil, err
	}
	return hours, days, add(&days, begin, day, counts)
}

// spansAtOnce is how many spans are in memory: each can have 100 KB. Fewer are when they have more than spanBytes together, as those of many
// options have.
const (
	spansAtOnce = 48
	spanBytes   = 8 << 20
)

// each calls fn with the spans of a time in their order.
func (r reader) each(ctx context.Context, span Span, from, to time.Time, fn func(SpanCounts) error) error {
	each := max(time.Duration(span)*time.Second, time.Second)
	part := spansAtOnce * each
	var end time.Time
	for ; from.Before(to); from = end {
		if end = from.Add(part); end.After(to) {
			end = to
		}
		spans, err := r.DriftCounts(ctx, r.Account, r.Prism, r.version, span, from, end)
		if err != nil {
			return err
		}
		size := 0
		for _, s := range spans {
			size += len(s.Counts)
			if err := fn(s); err != nil {
				return err
			}
		}
		if size > spanBytes {
			part = max(each, (part / 2).Truncate(each))
		}
	}
	return nil
}

// reference reads the reference: the period that was set, or the first results.
func (r reader) reference(ctx context.Context) (ref Reference, err error) {
	v, err := r.DriftVersion(ctx, r.Account, r.Prism, r.version)
	if err != nil {
		return ref, err
	}
	span, from, to := OfFirst, FirstAt(), FirstAt().Add(time.Second)
	ref.Kind, ref.From, ref.To = api.FirstResults, v.FirstFrom, v.FirstTo
	if !v.From.IsZero() {
		span, from, to = OfHour, v.From, v.To
		ref.Kind, ref.From, ref.To = api.SetPeriod, v.From, v.To
	}
	err = r.each(ctx, span, from, to, func(s SpanCounts) error { return ref.Counts.addStored(s.Results, s.Counts) })
	ref.Results = ref.Counts.Results
	return ref, err
}

// comparer compares with a reference.
type comparer struct{ tops, classes []calibration.Reference }

func newComparer(ref Reference) (c comparer) {
	for i := range ref.Counts.Targets {
		q := &ref.Counts.Targets[i]
		tops, classes := calibration.NewCountedReference(ints(q.Tops[:])), calibration.NewClassReference(ints(q.Classes))
		if i < len(ref.among) {
			tops.Among, classes.Among = ref.among[i], ref.among[i]
		}
		c.tops, c.classes = append(c.tops, tops), append(c.classes, classes)
	}
	return c
}

// window compares the counts of a time.
func (c comparer) window(from, to time.Time, counts Counts) (w Window, err error) {
	w.From, w.To, w.Results = from, to, counts.Results
	if len(counts.Targets) != len(c.tops) {
		return w, nil
	}
	for i := range counts.Targets {
		q := &counts.Targets[i]
		tops := make([]int, len(c.tops[i].Counts))
		for bin, n := range q.Tops {
			if n > 0 {
				tops[c.tops[i].Bin(float64(bin))] += int(n)
			}
		}
		var comparison Comparison
		if comparison.Probability, err = c.tops[i].Drift(tops); err != nil {
			return w, err
		}
		if comparison.Classes, err = c.classes[i].Drift(ints(q.Classes)); err != nil {
			return w, err
		}
		w.Targets = append(w.Targets, comparison)
	}
	return w, nil
}

func ints(counts []int64) []int {
	numbers := make([]int, len(counts))
	for i, n := range counts {
		numbers[i] = int(n)
	}
	return numbers
}

// Start is the id behind which the counting of a prism begins that is watched from a time on.
func Start(at time.Time) prism.UUID { return prism.FirstUUID(at.Add(-HistoryTime)) }
