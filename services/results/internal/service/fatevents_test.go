package service_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/eventbodies"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/store"
)

// longKey is a key of 64 characters.
func longKey(n int) string { return fmt.Sprintf("k%02d_", n) + strings.Repeat("x", 60) }

// fatAnswer is what a column of a tags shows at most: 100 options, all of which are right.
func fatAnswer() (text string, stored []byte) {
	var keys, values, probabilities []string
	for i := range 100 {
		keys = append(keys, longKey(i))
		values, probabilities = append(values, `"`+longKey(i)+`"`), append(probabilities, `"`+longKey(i)+`":0.9`)
	}
	stored = fmt.Appendf(nil, `{"q":{"type":"tags","values":[%s],"probabilities":{%s}}}`, strings.Join(values, ","), strings.Join(probabilities, ","))
	return strings.Join(keys, "; "), stored
}

// fatPrism makes a prism whose Lens shows all options of a tags in each column.
func (w *world) fatPrism(t *testing.T, slug string, columns int) prism.PrismID {
	t.Helper()
	of := prism.Definition{Fields: []prism.Field{{Key: "text"}}, Questions: []prism.Question{{Key: "q", Type: prism.Tags, Text: "Which?"}}}
	for i := range 100 {
		of.Questions[0].Options = append(of.Questions[0].Options, prism.Option{Key: longKey(i), Label: "Option"})
	}
	var lens prism.Lens
	for i := range columns {
		lens.Columns = append(lens.Columns, prism.Column{Name: longKey(i), Question: "q", Show: prism.ShowAnswer})
	}
	doc, err := w.CreatePrism(t.Context(), w.key, api.NewPrism{Slug: slug, NewVersion: api.NewVersion{Definition: of, Lens: &lens}})
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		ID prism.PrismID `json:"id"`
	}
	decode(t, doc, &body)
	return body.ID
}

// The largest event has columns of 64 KiB. A page of a hundred would have 6 MB, so it has fewer.
//
// spec: event-body, event-list, page-bytes
func TestPagesOfTheFattestEventsEndEarly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fat, fatter := w.fatPrism(t, "fat", 9), w.fatPrism(t, "fatter", 10)
	latest, err := contract.Do(t.Context(), w.Service, w.key, api.ListEvents, api.ListEventsRequest{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var page api.Events
	decode(t, latest, &page)
	text, stored := fatAnswer()
	var want []string
	for i := range 100 {
		of := fat
		if i == 50 {
			of = fatter
		}
		save := w.save(of)
		save.Outcome.Answers = bytes.Clone(stored)
		w.saved(t, save)
		want = append(want, save.ID.String())
	}
	var got []string
	pages, largest := 0, 0
	for pages == 0 || len(page.Data) > 0 {
		response, err := contract.Do(t.Context(), w.Service, w.key, api.ListEvents, api.ListEventsRequest{
			EventFilter: api.EventFilter{Answers: true}, After: page.Next, Limit: 100,
		})
		if err != nil {
			t.Fatal(err)
		}
		page = api.Events{}
		if err := strictjson.Unmarshal(response.Body, &page); err != nil {
			t.Fatal(err)
		}
		pages, largest = pages+1, max(largest, len(response.Body))
		for _, e := range page.Data {
			answers := 0
			for _, cell := range e.Data.Answers {
				if cell.Value == text {
					answers++
				}
			}
			if got = append(got, e.Data.ResultID); len(got) == 51 && answers != 0 || len(got) != 51 && answers != 9 {
				t.Errorf("event %d tells %d columns", len(got), answers)
			}
		}
	}
	if pages != 3 || largest > store.ListBytes || largest < store.ListBytes-2*64<<10 || strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%d pages of at most %d bytes have %d events, want 2 and the empty one with %d", pages, largest, len(got), len(want))
	}
}

// spec: event-body
func TestTheFattestEventHasAMegabyte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.fatPrism(t, "fat", 9)
	_, stored := fatAnswer()
	e := events.Event{Type: api.ResultCreated, Prism: of, Run: prism.RunID{UUID: w.id()}, Results: []prism.ResultID{}}
	for i := range 100 {
		save := w.save(of)
		save.Outcome.Answers = bytes.Clone(stored)
		w.saved(t, save)
		if i == 0 {
			e.Result = save.ID
		} else {
			e.Results = append(e.Results, save.ID)
		}
	}
	writer := eventbodies.Writer{Store: w.store, Lenses: w.Service}
	written, err := writer.WriteEvents(t.Context(), w.account, []events.Event{e}, events.AllColumns)
	if err != nil {
		t.Fatal(err)
	}
	body, err := strictjson.Marshal(written[0], strictjson.Numbers)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range written[0].Data.Results {
		if r.Status != "ok" || (r.Answers != nil) != (i < 16) {
			t.Errorf("row %d is %s with %d columns", i, r.Status, len(r.Answers))
		}
	}
	if n := len(written[0].Data.Results); n != 100 || len(body) > contract.LeasedDeliveryBytes {
		t.Errorf("%d rows have %d bytes", n, len(body))
	}
}
