package storetest

import (
	"errors"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/labelqueue"
	"github.com/prism-results/prism/services/results/internal/store"
)

// spec: label-queue-random
func (f *fixture) randomQueue(t *testing.T) {
	t.Helper()
	q := labelqueue.Queue{Prism: f.mine.prism.ID, Question: "urgent"}
	var want []labelqueue.Entry
	var ids []prism.ResultID
	for i := range 60 {
		r := f.save(t, f.ok(f.mine.prism)).Result
		ids = append(ids, r.ID)
		switch i % 5 {
		case 0:
			f.putLabels(t, f.label(r, "urgent", "true"))
			continue
		case 1:
			f.putLabels(t, f.label(r, "topic", "a"))
		}
		want = append(want, labelqueue.Entry{Position: labelqueue.RandomPosition(r.ID), Result: r.ID})
	}
	f.save(t, f.ok(f.addPrism(t, f.mine, "other")))
	slices.SortFunc(want, func(a, b labelqueue.Entry) int { return slices.Compare(a.Position[:], b.Position[:]) })
	for _, limit := range []int{1, 7, 48, 100} {
		var got []labelqueue.Entry
		for after := (prism.UUID{}); ; {
			page, err := f.RandomQueue(t.Context(), f.mine.account, q, prism.UUID{}, after, limit)
			succeeds(t, err)
			if len(page) == 0 {
				break
			}
			same(t, len(page) <= limit, true)
			got, after = append(got, page...), page[len(page)-1].Position
		}
		same(t, got, want)
	}
	late, err := f.RandomQueue(t.Context(), f.mine.account, q, ids[49].UUID, prism.UUID{}, 100)
	succeeds(t, err)
	same(t, len(late), 8)
}

func (f *fixture) waitingForLabels(t *testing.T) {
	t.Helper()
	first, second := f.save(t, f.ok(f.mine.prism)).Result, f.save(t, f.ok(f.mine.prism)).Result
	failed := f.save(t, f.failed(f.mine.prism)).Result
	labelled := f.save(t, f.ok(f.mine.prism)).Result
	f.putLabels(t, f.label(labelled, "urgent", "true"), f.label(first, "topic", "a"))
	q := labelqueue.Queue{Prism: f.mine.prism.ID, Question: "urgent"}
	page := func(q labelqueue.Queue, p store.Page) (ids []prism.ResultID) {
		entries, last, err := f.Unlabelled(t.Context(), f.mine.account, q, p, func(u labelqueue.Unlabelled) (*labelqueue.Entry, error) {
			same(t, string(u.Answers), string(first.Answers))
			same(t, u.Version, 1)
			return &labelqueue.Entry{Position: prism.UUID{1}, Result: u.Result}, nil
		})
		succeeds(t, err)
		for _, e := range entries {
			same(t, e.Position, prism.UUID{1})
			ids = append(ids, e.Result)
		}
		same(t, last.IsZero(), len(ids) < p.Limit)
		if len(ids) == p.Limit {
			same(t, last, ids[p.Limit-1].UUID)
		}
		return ids
	}
	same(t, page(q, store.Page{Limit: 9}), []prism.ResultID{second.ID, first.ID})
	same(t, page(q, store.Page{Limit: 1}), []prism.ResultID{second.ID})
	same(t, page(q, store.Page{Limit: 9, After: second.ID.UUID}), []prism.ResultID{first.ID})
	failure := errors.New("unreadable")
	none := func(labelqueue.Unlabelled) (*labelqueue.Entry, error) { return nil, nil }
	fails := func(labelqueue.Unlabelled) (*labelqueue.Entry, error) { return nil, failure }
	entries, last, err := f.Unlabelled(t.Context(), f.mine.account, q, store.Page{Limit: 2}, none)
	succeeds(t, err)
	same(t, len(entries), 0)
	same(t, last, first.ID.UUID)
	_, _, err = f.Unlabelled(t.Context(), f.mine.account, q, store.Page{Limit: 2}, fails)
	failsWith(t, err, failure)
	q.Version = 2
	same(t, page(q, store.Page{Limit: 9}), nil)
	q.Version = 1
	ids := []prism.ResultID{first.ID, second.ID, failed.ID, labelled.ID, {UUID: f.id()}}
	queued, err := f.Queued(t.Context(), f.mine.account, q, ids)
	succeeds(t, err)
	slices.SortFunc(queued, func(a, b labelqueue.Queued) int { return slices.Compare(a.Result.UUID[:], b.Result.UUID[:]) })
	size := len(`a call` + `[{"Key":"zulu","Value":"help!"},{"Key":"alpha","Value":""}]` + string(first.Answers))
	same(t, queued, []labelqueue.Queued{{Result: first.ID, Version: 1, Bytes: size}, {Result: second.ID, Version: 1, Bytes: size}})
	found, err := f.QueuedResults(t.Context(), f.mine.account, q, ids)
	succeeds(t, err)
	slices.SortFunc(found, func(a, b prism.Result) int { return slices.Compare(a.ID.UUID[:], b.ID.UUID[:]) })
	same(t, found, []prism.Result{first, second})
}
