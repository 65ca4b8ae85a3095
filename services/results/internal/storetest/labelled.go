package storetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/store"
)

func (f *fixture) answers(t *testing.T) {
	t.Helper()
	first, second, other, failed := f.ok(f.mine.prism), f.ok(f.mine.prism), f.ok(f.mine.prism), f.failed(f.mine.prism)
	first.Answers = []byte(`{"urgent":{"type":"yes_no","probability":0.25}}`)
	slices.Reverse(second.Fields)
	other.Fields = []prism.FieldValue{{Key: "zulu", Value: "help!a"}, {Key: "lpha", Value: ""}}
	want := map[prism.ResultID]string{}
	ids := []prism.ResultID{failed.ID, {UUID: f.id()}}
	for _, r := range []prism.Result{first, second, other, failed} {
		f.save(t, r)
	}
	for range 101 {
		r := f.ok(f.mine.prism)
		f.save(t, r)
		ids, want[r.ID] = append(ids, r.ID), string(r.Answers)
	}
	for _, r := range []prism.Result{first, second, other} {
		ids, want[r.ID] = append(ids, r.ID), string(r.Answers)
	}
	got, inputs := map[prism.ResultID]string{}, map[prism.ResultID][16]byte{}
	succeeds(t, f.Answers(t.Context(), f.mine.account, ids, func(a quality.Answered) error {
		got[a.Result], inputs[a.Result] = string(a.Answers), a.Input
		return nil
	}))
	same(t, got, want)
	same(t, inputs[first.ID], inputs[second.ID]) // whatever the order of the fields
	same(t, inputs[first.ID] != inputs[other.ID], true)
	succeeds(t, f.Answers(t.Context(), f.theirs.account, ids, func(quality.Answered) error {
		t.Error("another account has the answers")
		return nil
	}))
	stop := errors.New("stop")
	if err := f.Answers(t.Context(), f.mine.account, ids, func(quality.Answered) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of the reader", err)
	}
	succeeds(t, f.Answers(t.Context(), f.mine.account, nil, func(quality.Answered) error { return stop }))
}

func (f *fixture) labelled(t *testing.T) {
	t.Helper()
	first, second, other := f.ok(f.mine.prism), f.ok(f.mine.prism), f.ok(f.mine.prism)
	other.CreatedAt, other.Call = moment(50), &prism.ModelCall{Name: "fast"}
	for _, r := range []prism.Result{first, second, other} {
		f.save(t, r)
	}
	sampled := f.label(second, "urgent", "false")
	sampled.Sample, sampled.Origin = prism.UncertainSample, store.LabelOfFile
	f.putLabels(t, f.label(first, "urgent", "true"), f.label(first, "topic", "a"), sampled, f.label(other, "urgent", "true"))
	read := func(filter store.Filter, question string, limit int) []quality.Label {
		filter.Prism, filter.Version = f.mine.prism.ID, max(1, filter.Version)
		found, err := f.Labelled(t.Context(), f.mine.account, filter, question, limit)
		succeeds(t, err)
		return found
	}
	found := read(store.Filter{}, "urgent", 9)
	same(t, len(found), 3)
	same(t, []prism.ResultID{found[0].Result, found[1].Result, found[2].Result}, []prism.ResultID{other.ID, second.ID, first.ID})
	same(t, found[1], quality.Label{
		Result: second.ID, Value: "false", Sample: prism.UncertainSample, Origin: store.LabelOfFile,
	})
	ids := func(found []quality.Label) (ids []prism.ResultID) {
		for _, l := range found {
			ids = append(ids, l.Result)
		}
		return ids
	}
	same(t, ids(read(store.Filter{}, "urgent", 2)), []prism.ResultID{other.ID, second.ID})
	same(t, ids(read(store.Filter{}, "topic", 9)), []prism.ResultID{first.ID})
	same(t, ids(read(store.Filter{To: moment(50)}, "urgent", 9)), []prism.ResultID{second.ID, first.ID})
	same(t, ids(read(store.Filter{Model: "fast"}, "urgent", 9)), []prism.ResultID{other.ID})
	same(t, ids(read(store.Filter{Run: &prism.RunID{UUID: f.id()}}, "urgent", 9)), nil)
	same(t, ids(read(store.Filter{Version: 2}, "urgent", 9)), nil)
	for question, want := range map[string]int{"urgent": 2, "topic": 1, "mood": 0} { // but that of the uncertain second
		n, err := f.CountLabelled(t.Context(), f.mine.account, store.Filter{Prism: f.mine.prism.ID, Version: 1}, question)
		succeeds(t, err)
		same(t, n, want)
	}
}
