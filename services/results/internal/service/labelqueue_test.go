package service_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/labelqueue"
	"github.com/prism-results/prism/services/results/internal/store"
)

// labelPage is a page of labels or of the queue.
type labelPage struct {
	Data []struct {
		Result prism.ResultID `json:"result_id"`
		Labels map[string]any `json:"labels"`
	} `json:"data"`
	Sample     string  `json:"sample"`
	NextCursor *string `json:"next_cursor"`
}

// queue reads a queue to its end.
func (w *world) queue(t *testing.T, q api.ListLabelQueueRequest) (ids []prism.ResultID) {
	t.Helper()
	for {
		var page labelPage
		response, err := w.LabelQueue(t.Context(), w.key, prism.Ref{Slug: "triage"}, q)
		if err != nil {
			t.Fatal(err)
		}
		decode(t, response, &page)
		if page.Sample != string(q.Order) || len(page.Data) > q.Limit {
			t.Errorf("got %s", response.Body)
		}
		for _, r := range page.Data {
			ids = append(ids, r.Result)
		}
		if page.NextCursor == nil {
			return ids
		}
		q.Cursor = *page.NextCursor
	}
}

// spec: label-queue, label-queue-random
func TestTheRandomQueueHasWhatWaitsByTheHashOfItsID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.triage(t)
	var want []prism.ResultID
	for i := range 30 {
		answers := yes(0.5)
		if i%3 == 0 {
			answers = ""
		}
		id := w.result(t, p, "r", answers)
		switch {
		case i%3 == 0:
		case i%5 == 0:
			w.labelOf(t, id, "urgent", "true")
		default:
			want = append(want, id)
		}
	}
	d := definition("text") // without the question
	d.Questions = append(d.Questions, prism.Question{Key: "new", Type: prism.YesNo, Text: "Is it?"})
	if _, err := w.AddVersion(t.Context(), w.key, prism.Ref{ID: p}, api.NewVersion{Definition: d}); err != nil {
		t.Fatal(err)
	}
	s := w.save(p)
	s.Version = 2
	w.saved(t, s)
	slices.SortFunc(want, func(a, b prism.ResultID) int {
		x, y := labelqueue.RandomPosition(a), labelqueue.RandomPosition(b)
		return slices.Compare(x[:], y[:])
	})
	for _, limit := range []int{1, 7, 16, 100} {
		q := api.ListLabelQueueRequest{Question: "urgent", Order: prism.RandomSample, Version: 1, PageRequest: api.PageRequest{Limit: limit}}
		if got := w.queue(t, q); !slices.Equal(got, want) {
			t.Errorf("limit %d: got %v, want %v", limit, got, want)
		}
	}
	q := api.ListLabelQueueRequest{Question: "new", Order: prism.RandomSample, PageRequest: api.PageRequest{Limit: 9}}
	for _, order := range []prism.LabelSample{prism.RandomSample, prism.UncertainSample} {
		q.Order = order
		want := []prism.ResultID{s.ID}
		if order == prism.UncertainSample {
			want = nil // it has no answer to it
		}
		if got := w.queue(t, q); !slices.Equal(got, want) {
			t.Errorf("%s: got %v", order, got)
		}
	}
	for _, c := range []struct {
		ref     string
		version int32
		want    error
	}{
		{"triage", 0, apierr.Invalid(apierr.Problem{Path: "question", Text: "Unknown question"})},
		{"triage", 2, apierr.Invalid(apierr.Problem{Path: "question", Text: "Unknown question"})},
		{"triage", 3, apierr.VersionNotFound()},
		{"none", 0, apierr.PrismNotFound()},
	} {
		q := api.ListLabelQueueRequest{Question: "urgent", Version: c.version, Order: prism.RandomSample, PageRequest: api.PageRequest{Limit: 1}}
		if _, err := w.LabelQueue(t.Context(), w.key, prism.Ref{Slug: c.ref}, q); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// spec: label-queue, label-queue-uncertain
func TestTheUncertainQueueBeginsWithWhatIsLeastSure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.triage(t)
	answers := func(urgent, low float64) string {
		return fmt.Sprintf(`{"urgent":{"type":"yes_no","probability":%v},"mood":{"type":"scale","level":"low","probabilities":{"low":%v,"up":%v}}}`,
			urgent, low, 1-low)
	}
	a, b, c := w.result(t, p, "a", answers(0.9, 0.6)), w.result(t, p, "b", answers(0.45, 1)), w.result(t, p, "c", answers(0.2, 0.5))
	w.result(t, p, "d", "")
	done := w.result(t, p, "e", answers(0.5, 0.5))
	w.labelOf(t, done, "urgent", "true")
	w.labelOf(t, done, "mood", "up")
	for question, want := range map[string][]prism.ResultID{"urgent": {b, c, a}, "mood": {c, a, b}} {
		for limit := 1; limit <= 4; limit++ {
			q := api.ListLabelQueueRequest{Question: question, Order: prism.UncertainSample, PageRequest: api.PageRequest{Limit: limit}}
			if got := w.queue(t, q); !slices.Equal(got, want) {
				t.Errorf("%s, limit %d: got %v, want %v", question, limit, got, want)
			}
		}
	}
	q := api.ListLabelQueueRequest{Question: "urgent", Order: prism.UncertainSample, PageRequest: api.PageRequest{Limit: 1}}
	got, err := w.LabelQueue(t.Context(), w.key, prism.Ref{Slug: "triage"}, q)
	matches(t, got, err, `{"data":\[{"result_id":"`+b.String()+`","ref":"b","created_at":"[^"]+","version":1,"context":null,`+
		`"fields":{"text":"hello"},"answers":`+answers(0.45, 1)+`}\],"sample":"uncertain","next_cursor":"[\w-]+"}`)
}

// spec: page-bytes, label-queue
func TestAPageOfTheQueueEndsAtFourMiB(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.triage(t)
	var want []prism.ResultID
	sizes := map[prism.ResultID]int{}
	for i := range 12 {
		s := w.save(p)
		size := []int{1, store.ListBytes/2 - 4000, store.ListBytes / 4, store.ListBytes + 1}[i%4]
		s.Fields[0].Value, s.Outcome.Answers = strings.Repeat("x", size), []byte(yes(0.5+float64(i)/100))
		w.saved(t, s)
		want, sizes[s.ID] = append(want, s.ID), size
	}
	for _, order := range []prism.LabelSample{prism.RandomSample, prism.UncertainSample} {
		var got []prism.ResultID
		q := api.ListLabelQueueRequest{Question: "urgent", Order: order, PageRequest: api.PageRequest{Limit: 100}}
		for more := true; more; {
			response, err := w.LabelQueue(t.Context(), w.key, prism.Ref{Slug: "triage"}, q)
			if err != nil {
				t.Fatal(err)
			}
			var page labelPage
			decode(t, response, &page)
			if n := len(page.Data); n == 0 || n > 1 && len(response.Body) > store.ListBytes {
				t.Errorf("%s: a page of %d has %d bytes", order, n, len(response.Body))
			}
			if n := len(got); n > 0 && sizes[got[n-1]]+sizes[page.Data[0].Result] < store.ListBytes/4 {
				t.Errorf("%s: a page ended too early", order)
			}
			for _, r := range page.Data {
				got = append(got, r.Result)
			}
			if more = page.NextCursor != nil; more {
				q.Cursor = *page.NextCursor
			}
		}
		if order == prism.RandomSample {
			slices.SortFunc(got, func(a, b prism.ResultID) int { return slices.Compare(a.UUID[:], b.UUID[:]) })
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", order, got, want)
		}
	}
}

// spec: label-queue, assignee-filter
func TestAQueueMayHaveWhatIsAssignedAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.triage(t)
	assigned, other := w.result(t, p, "r", yes(0.5)), w.result(t, p, "r", yes(0.7))
	ada, _ := w.invited(t, prism.Labeller)
	if _, err := w.Store.Assign(t.Context(), w.account, assigned, &ada); err != nil {
		t.Fatal(err)
	}
	for assignee, want := range map[string][]prism.ResultID{ada.String(): {assigned}, "none": {other}, "me": nil} {
		for _, order := range []prism.LabelSample{prism.RandomSample, prism.UncertainSample} {
			q := api.ListLabelQueueRequest{Question: "urgent", Order: order, Assignee: assignee, PageRequest: api.PageRequest{Limit: 5}}
			if got := w.queue(t, q); !slices.Equal(got, want) {
				t.Errorf("%s of %s: %v, want %v", order, assignee, got, want)
			}
		}
	}
}
