package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// spec: event-types
func eventTests() []test {
	const day = 24 * time.Hour
	return []test{
		{"an account in which nothing happened has no events", func(t *testing.T, f *fixture) {
			empty := prism.AccountID{UUID: f.id()}
			succeeds(t, f.CreateAccount(t.Context(), empty, "empty", moment(0)))
			told, next, err := f.ReadEvents(t.Context(), empty, events.Cursor{}, 9, true)
			succeeds(t, err)
			same(t, len(told), 0)
			same(t, next, events.Cursor{})
		}},
		// spec: event-types
		{"a result is told when it is saved, when it failed, and for each label", func(t *testing.T, f *fixture) {
			from := f.latest(t)
			ok, failed, retry := f.ok(f.mine.prism), f.failed(f.mine.prism), f.ok(f.mine.prism)
			f.save(t, ok)
			f.save(t, failed)
			f.retry(t, retry, failed)
			f.putLabels(t, f.label(ok, "urgent", "true"), f.label(ok, "topic", "b"))
			succeeds(t, f.delete(t, ok.ID))
			told, next := f.events(t, from, 100)
			all, _, err := f.ReadEvents(t.Context(), f.mine.account, from, 100, true)
			succeeds(t, err)
			rest, _ := f.events(t, all[1].Behind, 100) // between both events of a change
			same(t, rest, told[2:])
			same(t, told, []string{
				"result.created " + ok.ID.String(), "result.created " + failed.ID.String() + " failed", "result.failed " + failed.ID.String() + " failed",
				"result.created " + retry.ID.String() + " ok", "result.labelled " + ok.ID.String(), "result.labelled " + ok.ID.String(),
			})
			same(t, next.Change, from.Change+7)
			same(t, f.latest(t), next)
		}},
		// spec: event-types
		{"a failed result that is deleted before it is read has not failed, and a label is told when it is removed", func(t *testing.T, f *fixture) {
			from := f.latest(t)
			ok, failed := f.ok(f.mine.prism), f.failed(f.mine.prism)
			f.save(t, failed)
			succeeds(t, f.delete(t, failed.ID))
			f.save(t, ok)
			f.putLabels(t, f.label(ok, "urgent", "true"))
			f.putLabels(t, f.label(ok, "urgent", ""))
			told, _ := f.events(t, from, 100)
			same(t, told, []string{
				"result.created " + failed.ID.String(), "result.created " + ok.ID.String() + " ok",
				"result.labelled " + ok.ID.String() + " ok", "result.labelled " + ok.ID.String() + " ok",
			})
		}},
		// spec: event-order
		{"what happened besides results is told in its order and between them, and is no change", func(t *testing.T, f *fixture) {
			from := f.latest(t)
			run, key := prism.RunID{UUID: f.id()}, prism.KeyID{UUID: f.id()}
			all := []events.Event{
				{Type: api.RunFinished, At: moment(8), Prism: f.mine.prism.ID, Run: run},
				{Type: api.PrismChanged, At: moment(9), Prism: f.mine.prism.ID, EventDetail: store.EventDetail{Change: "lens.replace"}},
				{
					Type: api.DriftAlarm, At: moment(10), Prism: f.mine.prism.ID,
					EventDetail: store.EventDetail{Version: 2, Question: "topic", Option: "a"},
				},
				{Type: api.KeyExpiring, At: moment(11), Key: key, EventDetail: store.EventDetail{ExpiresAt: moment(99)}},
			}
			r := f.ok(f.mine.prism)
			r.CreatedAt = moment(9)
			f.save(t, r)
			f.tell(t, f.mine, all...)
			f.tell(t, f.theirs, all[0])
			succeeds(t, f.Fold(t.Context()))
			told, next, err := f.ReadEvents(t.Context(), f.mine.account, from, 100, true)
			succeeds(t, err)
			for i := range told {
				if i > 0 {
					same(t, told[i].Behind != told[i-1].Behind, true)
				}
				rest, end, err := f.ReadEvents(t.Context(), f.mine.account, told[i].Behind, 100, true)
				succeeds(t, err)
				same(t, append([]events.Event{}, rest...), append([]events.Event{}, told[i+1:]...))
				same(t, end, next)
			}
			for i := range told {
				told[i].Behind = events.Cursor{}
			}
			same(t, told, []events.Event{
				all[0], {Type: api.ResultCreated, At: moment(9), Prism: f.mine.prism.ID, Result: r.ID, Status: prism.OK}, all[1], all[2], all[3],
			})
			same(t, next, events.Cursor{Change: from.Change + 1, Other: from.Other + 4})
			told, next, err = f.ReadEvents(t.Context(), f.mine.account, next, 100, true)
			succeeds(t, err)
			same(t, len(told), 0)
			same(t, next, f.latest(t))
		}},
		{"pages of any size tell all, each once and in the same order", func(t *testing.T, f *fixture) {
			from := f.latest(t)
			for n := range 6 {
				r := f.ok(f.mine.prism)
				if n%2 == 1 {
					r = f.failed(f.mine.prism)
				}
				r.CreatedAt = moment(10 * n)
				f.save(t, r)
				f.tell(t, f.mine, events.Event{Type: api.PrismChanged, At: moment(5 + 15*n), Prism: f.mine.prism.ID})
			}
			all, end := f.events(t, from, 100)
			same(t, len(all), 6+3+6)
			for _, created := range []bool{true, false} {
				want := all
				if !created {
					want = slices.DeleteFunc(slices.Clone(all), func(e string) bool {
						return strings.HasPrefix(e, string(api.ResultCreated)) && strings.HasSuffix(e, string(prism.OK))
					})
					same(t, len(want), 3+3+6)
				}
				for limit := range 7 {
					var got []string
					place := from
					for {
						told, next := f.eventsWith(t, place, limit+1, created)
						got = append(got, told...)
						if next == place {
							break
						}
						place = next
					}
					same(t, got, want)
					same(t, place, end)
				}
			}
		}},
		// spec: event-types
		{"a run is told when it starts, when it has paused, and when it is over, each once", func(t *testing.T, f *fixture) {
			from := f.latest(t)
			r := f.run(t, f.mine, moment(5), 1, 1)
			l := f.leased(t, moment(10))
			_, err := f.ActOnRun(t.Context(), f.mine.account, r.ID, store.RunPause, f.by(moment(11)))
			succeeds(t, err)
			told, _ := f.events(t, from, 100)
			same(t, told, []string{"run.started"}) // a row is at the model
			succeeds(t, f.SaveRows(t.Context(), ended(outcomes(l, "o")), moment(12)))
			for range 2 {
				_, err = f.TendRuns(t.Context(), moment(13))
				succeeds(t, err)
			}
			_, err = f.ActOnRun(t.Context(), f.mine.account, r.ID, store.RunResume, f.by(moment(14)))
			succeeds(t, err)
			succeeds(t, f.SaveRows(t.Context(), ended(outcomes(f.leased(t, moment(15)), "f")), moment(16)))
			for range 2 {
				_, err = f.TendRuns(t.Context(), moment(17))
				succeeds(t, err)
			}
			other := f.run(t, f.mine, moment(18), 1)
			for range 2 {
				_, err = f.ActOnRun(t.Context(), f.mine.account, other.ID, store.RunCancel, f.by(moment(19)))
				succeeds(t, err)
			}
			succeeds(t, f.Fold(t.Context()))
			all, _, err := f.ReadEvents(t.Context(), f.mine.account, from, 100, true)
			succeeds(t, err)
			told = nil
			for _, e := range all {
				same(t, e.Prism, f.mine.prism.ID)
				same(t, e.Run, map[bool]prism.RunID{true: other.ID, false: r.ID}[e.Type == api.RunCancelled])
				told = append(told, string(e.Type))
			}
			same(t, told, []string{
				"run.started", "result.created", "run.paused", "result.created", "result.failed", "run.finished", "run.cancelled",
			})
		}},
		// spec: event-types
		{"a run is told when it has paused by itself, and each time that it finishes", func(t *testing.T, f *fixture) {
			from := f.latest(t)
			r := f.run(t, f.mine, moment(5), 1)
			f.saves(t, f.leased(t, moment(10)), "f", moment(11))
			f.tend(t, moment(12))
			f.act(t, r.ID, store.RunRetry, moment(13))
			archived := moment(14)
			for _, at := range []*time.Time{&archived, nil} {
				_, err := f.SetArchived(t.Context(), f.mine.account, f.mine.prism.ID, at)
				succeeds(t, err)
				f.tend(t, moment(15))
			}
			f.has(t, r.ID, prism.RunPaused)
			f.act(t, r.ID, store.RunResume, moment(16))
			f.saves(t, f.leased(t, moment(17)), "o", moment(18))
			f.tend(t, moment(19))
			succeeds(t, f.Fold(t.Context()))
			all, _, err := f.ReadEvents(t.Context(), f.mine.account, from, 100, true)
			succeeds(t, err)
			var told []string
			for _, e := range all {
				if e.Type != api.PrismChanged {
					told = append(told, string(e.Type))
				}
			}
			same(t, told, []string{"run.started", "result.created", "result.failed", "run.finished", "run.paused", "result.created", "run.finished"})
		}},
		// spec: event-types
		{"what changes a prism is told as the audit names it, and what changes nothing is not", func(t *testing.T, f *fixture) {
			from := f.latest(t)
			for range 2 {
				succeeds(t, f.Rename(t.Context(), f.mine.account, f.mine.prism.ID, "Another"))
			}
			_, err := f.SetArchived(t.Context(), f.mine.account, f.mine.prism.ID, new(moment(3)))
			succeeds(t, err)
			succeeds(t, f.Fold(t.Context()))
			all, _, err := f.ReadEvents(t.Context(), f.mine.account, from, 100, true)
			succeeds(t, err)
			same(t, len(all), 2)
			same(t, []string{all[0].Change, all[1].Change}, []string{"prism.rename", "prism.archive"})
			same(t, all[1].Prism, f.mine.prism.ID)
		}},
		// spec: event-types
		{"a key that ends within a week is told once, and one that was revoked or ends later is not", func(t *testing.T, f *fixture) {
			from := f.latest(t)
			var ids []prism.KeyID
			for n, ends := range []time.Duration{6 * day, 8 * day, 6 * day} {
				k := keys.APIKey{
					ID: prism.KeyID{UUID: f.id()}, Name: "k", Prefix: "k", Role: prism.Owner, CreatedAt: moment(0), ExpiresAt: new(moment(0).Add(ends)),
				}
				succeeds(t, f.CreateKey(t.Context(), f.mine.account, k, contract.KeyDigest{8, byte(n)}))
				ids = append(ids, k.ID)
			}
			_, err := f.RevokeKey(t.Context(), f.mine.account, ids[2], moment(1))
			succeeds(t, err)
			for range 2 {
				for more := true; more; {
					more, err = f.TellExpiring(t.Context(), moment(2))
					succeeds(t, err)
				}
			}
			succeeds(t, f.Fold(t.Context()))
			all, _, err := f.ReadEvents(t.Context(), f.mine.account, from, 100, true)
			succeeds(t, err)
			same(t, len(all), 1)
			same(t, all[0].Key, ids[0])
			same(t, all[0].ExpiresAt, moment(0).Add(6*day))
		}},
		// spec: event-kept
		{"events from before a time are removed, and who has not read them is told", func(t *testing.T, f *fixture) {
			from := f.latest(t)
			for n := range 5 {
				f.tell(t, f.mine, events.Event{Type: api.PrismChanged, At: moment(0).Add(time.Duration(10+n) * day), Prism: f.mine.prism.ID})
			}
			succeeds(t, f.Fold(t.Context()))
			f.removeEvents(t, moment(0).Add(12*day))
			_, _, err := f.ReadEvents(t.Context(), f.mine.account, events.Cursor{Change: from.Change, Other: from.Other + 1}, 9, true)
			failsWith(t, err, store.ErrChangesRemoved)
			told, _ := f.events(t, events.Cursor{Change: from.Change, Other: from.Other + 2}, 9)
			same(t, len(told), 3)
			f.removeEvents(t, moment(0).Add(30*day))
			told, next := f.events(t, events.Cursor{}, 9)
			same(t, len(told), 1) // the last one stays
			same(t, next.Other, from.Other+5)
			_, _, err = f.ReadEvents(t.Context(), f.mine.account, events.Cursor{Other: next.Other + 1}, 9, true)
			failsWith(t, err, store.ErrNoSuchChange)
			_, _, err = f.ReadEvents(t.Context(), f.mine.account, events.Cursor{Change: next.Change + 1}, 9, true)
			failsWith(t, err, store.ErrNoSuchChange)
		}},
	}
}

// transactions is a database below a store.
type transactions interface {
	Transaction(ctx context.Context, operation string, fn func(run sqldb.Run) error) error
}

func (f *fixture) tell(t *testing.T, of tenant, all ...events.Event) {
	t.Helper()
	for _, e := range all {
		succeeds(t, f.Store.(transactions).Transaction(t.Context(), "tell", func(run sqldb.Run) error {
			return sqldb.Tell(t.Context(), run, of.account, store.NewEvent{
				Type: e.Type, At: e.At, Prism: e.Prism, Subject: cmp.Or(e.Run.UUID, e.Key.UUID), Detail: e.EventDetail,
			})
		}))
	}
}

func (f *fixture) latest(t *testing.T) events.Cursor {
	t.Helper()
	succeeds(t, f.Fold(t.Context()))
	latest, err := f.LatestEvents(t.Context(), f.mine.account)
	succeeds(t, err)
	return latest
}

// events folds, and reads a page of mine: each event as its type, the result and its status.
func (f *fixture) events(t *testing.T, after events.Cursor, limit int) (told []string, next events.Cursor) {
	t.Helper()
	return f.eventsWith(t, after, limit, true)
}

// eventsWith is events, with or without those of results that were saved and did not fail.
func (f *fixture) eventsWith(t *testing.T, after events.Cursor, limit int, created bool) (told []string, next events.Cursor) {
	t.Helper()
	succeeds(t, f.Fold(t.Context()))
	all, next, err := f.ReadEvents(t.Context(), f.mine.account, after, limit, created)
	succeeds(t, err)
	for _, e := range all {
		result := ""
		if !e.Result.IsZero() {
			result = e.Result.String()
		}
		told = append(told, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Type, result, e.Status)))
	}
	return told, next
}

func (f *fixture) removeEvents(t *testing.T, before time.Time) {
	t.Helper()
	for more := true; more; {
		var err error
		more, err = f.RemoveEvents(t.Context(), before)
		succeeds(t, err)
	}
}

// ended ends the lease of the outcomes.
func ended(rows contract.SaveRows) contract.SaveRows {
	rows.Done = true
	return rows
}
