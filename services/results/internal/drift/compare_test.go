package drift

import (
	"context"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// monthly has counts of every span, and a reference of a month that was set.
type monthly struct {
	Store
	counts []byte
	most   int // spans that were asked for at once
}

const resultsOfSpan = 200

func (m *monthly) DriftVersion(context.Context, prism.AccountID, prism.PrismID, int32) (VersionReference, error) {
	return VersionReference{From: now.Add(-60 * 24 * time.Hour), To: now.Add(-35 * 24 * time.Hour)}, nil
}

func (m *monthly) DriftCounts(
	_ context.Context, _ prism.AccountID, _ prism.PrismID, _ int32, span Span, from, to time.Time,
) (counts []SpanCounts, err error) {
	length := time.Duration(span) * time.Second
	for at := from; at.Before(to); at = at.Add(length) {
		counts = append(counts, SpanCounts{At: at, Results: resultsOfSpan, Counts: m.counts})
	}
	m.most = max(m.most, len(counts))
	return counts, nil
}

var now = time.Date(2026, time.March, 29, 12, 0, 0, 0, time.UTC)

func TestAMonthIsReadAFewSpansAtATime(t *testing.T) {
	t.Parallel()
	p := newPlan(definition())
	c := p.newCounts()
	for range resultsOfSpan {
		p.add(c, prism.Answers{yesNo(0.8)})
	}
	m := &monthly{counts: c.encode()}
	watch := Watch{Reached: prism.FirstUUID(now)}
	last, err := Read(t.Context(), m, watch, 1, definition().Questions)
	if err != nil {
		t.Fatal(err)
	}
	if last.Day.Results != 144*resultsOfSpan || last.Hour.Results != 6*resultsOfSpan || last.Reference.Results != 25*24*resultsOfSpan {
		t.Errorf("the last day is %d, the last hour %d, the reference %d", last.Day.Results, last.Hour.Results, last.Reference.Results)
	}
	hours, days, err := History(t.Context(), m, watch, 1, last.Reference)
	if err != nil || len(hours) != 47 || len(days) != 30 {
		t.Fatalf("%d hours and %d days, %v", len(hours), len(days), err)
	}
	for i, d := range days {
		spans := int64(24)
		if i == 29 {
			spans = 12 // today
		}
		if d.Results != spans*resultsOfSpan || !d.To.Equal(d.From.Add(24*time.Hour)) || len(d.Targets) != len(c.Targets) {
			t.Errorf("day %d is %+v", i, d)
		}
	}
	if m.most > spansAtOnce {
		t.Errorf("%d spans were read at once", m.most)
	}
}
