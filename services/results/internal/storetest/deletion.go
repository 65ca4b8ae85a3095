package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/store"
)

// spec: result-delete
func deletionTests() []test {
	return []test{
		{"a deleted result is not found, and deleting it again finds nothing", func(t *testing.T, f *fixture) {
			r, kept := f.save(t, keyed(f.ok(f.mine.prism), "a key")).Result, f.save(t, f.ok(f.mine.prism)).Result
			succeeds(t, f.delete(t, r.ID))
			same(t, f.stored(t, r.ID), nil)
			same(t, f.holder(t, "a key"), nil)
			same(t, *f.stored(t, kept.ID), kept)
			failsWith(t, f.delete(t, r.ID), store.ErrNotFound)
			same(t, f.count(t), 1)
		}},
		{"a result of another account is not deleted", func(t *testing.T, f *fixture) {
			theirs := f.ok(f.theirs.prism)
			_, err := f.SaveResult(t.Context(), f.theirs.account, theirs)
			succeeds(t, err)
			failsWith(t, f.delete(t, theirs.ID), store.ErrNotFound)
			_, err = f.SaveResult(t.Context(), f.theirs.account, theirs)
			succeeds(t, err)
			all, _, err := f.ListResults(t.Context(), f.theirs.account, store.Filter{}, store.WithoutInput, store.Page{Limit: 9})
			succeeds(t, err)
			same(t, len(all), 1)
		}},
		{"the idempotency key of a deleted result is free", func(t *testing.T, f *fixture) {
			r := f.save(t, keyed(f.ok(f.mine.prism), "a key")).Result
			succeeds(t, f.delete(t, r.ID))
			again := f.save(t, keyed(f.ok(f.mine.prism), "a key")).Result
			f.holds(t, "a key", again.ID)
		}},
		{"the result that a deleted one retried stays retried by it", func(t *testing.T, f *fixture) {
			old := f.save(t, keyed(f.failed(f.mine.prism), "a key")).Result
			by := f.retry(t, f.ok(f.mine.prism), old).Result
			succeeds(t, f.delete(t, by.ID))
			same(t, *f.stored(t, old.ID).RetriedBy, by.ID)
			_, err := f.SaveRetry(t.Context(), f.mine.account, f.ok(f.mine.prism), old.ID)
			retriedBy(t, err, by.ID)
			f.save(t, keyed(f.ok(f.mine.prism), "a key"))
		}},
		{"the result that retried a deleted one stays, with the idempotency key", func(t *testing.T, f *fixture) {
			old := f.save(t, keyed(f.failed(f.mine.prism), "a key")).Result
			by := f.retry(t, f.ok(f.mine.prism), old).Result
			succeeds(t, f.delete(t, old.ID))
			f.holds(t, "a key", by.ID)
		}},
		// spec: retry-of-a-deleted-result
		{"a retry of a result that was deleted meanwhile saves nothing", func(t *testing.T, f *fixture) {
			old := f.save(t, keyed(f.failed(f.mine.prism), "a key")).Result
			succeeds(t, f.delete(t, old.ID))
			r := f.ok(f.mine.prism)
			_, err := f.SaveRetry(t.Context(), f.mine.account, r, old.ID)
			failsWith(t, err, store.ErrNotFound)
			same(t, f.count(t), 0)
		}},
		{"a retry that was saved is the same when it is saved again after the old result was deleted", func(t *testing.T, f *fixture) {
			old := f.save(t, keyed(f.failed(f.mine.prism), "a key")).Result
			first := f.retry(t, f.ok(f.mine.prism), old)
			succeeds(t, f.delete(t, old.ID))
			same(t, f.retry(t, first.Result, old), first)
			same(t, f.count(t), 1)
		}},
		// spec: audit-actions, audit-in-the-transaction
		{"a deletion is one entry of the audit, which holds nothing of the result", func(t *testing.T, f *fixture) {
			ref := "of a person"
			r := f.ok(f.mine.prism)
			r.Ref = &ref
			f.save(t, r)
			succeeds(t, f.delete(t, r.ID))
			_ = f.delete(t, r.ID)
			entries := f.entriesOf(t, store.ResultDelete)
			same(t, len(entries), 1)
			same(t, entries[0].Object, store.Object{Kind: store.ResultObject, ID: r.ID.UUID})
			same(t, string(entries[0].Detail), `{}`)
		}},
		// spec: results-delete
		{"a job deletes what matches its filter, and no other result", func(t *testing.T, f *fixture) {
			f.jobs(t)
		}},
		// spec: deletion-goes-on
		{"a job is leased by one worker, in turns, and is gone at its end", func(t *testing.T, f *fixture) {
			first, second := f.add(t, deletion.Job{Status: prism.OK}), f.add(t, deletion.Job{Status: prism.Failed})
			now := moment(0).Add(time.Hour)
			taken, ok := f.take(t, now)
			if other, _ := f.take(t, now); !ok || taken.ID == other.ID || taken.ID != first.ID && taken.ID != second.ID {
				t.Errorf("took %v and %v", taken.ID, other.ID)
			}
			if again, ok := f.take(t, now); ok {
				t.Errorf("took %v, which is leased", again.ID)
			}
			jobs, since, err := f.DueDeletions(t.Context(), now)
			succeeds(t, err)
			same(t, jobs, 2)
			same(t, since, first.DueAt)
			now = now.Add(2 * time.Minute) // the worker died
			again, _ := f.take(t, now)
			succeeds(t, f.ReturnDeletion(t.Context(), again, now))
			if returned, _ := f.take(t, now); returned.ID == again.ID {
				t.Error("a job took two turns in a row")
			}
			f.finish(t, again, now)
			_, _, err = f.DeletePart(t.Context(), &again, now, f.by(now))
			failsWith(t, err, store.ErrNotFound)
			jobs, _, err = f.DueDeletions(t.Context(), now)
			succeeds(t, err)
			same(t, jobs, 1)
		}},
		// spec: search-of-all
		{"a job with a search deletes what was found of its filter, part by part, and comes again as it was", func(t *testing.T, f *fixture) {
			saved := []prism.Result{f.save(t, f.ok(f.mine.prism)).Result, f.save(t, f.ok(f.mine.prism)).Result, f.save(t, f.failed(f.mine.prism)).Result}
			made := f.add(t, deletion.Job{Status: prism.OK, Search: `{"q":"a"}`, By: []string{"q"}})
			now := moment(0).Add(time.Hour)
			if _, ok := f.take(t, moment(0).Add(29*time.Minute)); ok {
				t.Error("took a job before it is due")
			}
			jobs, since, err := f.DueDeletions(t.Context(), now)
			succeeds(t, err)
			same(t, jobs, 1)
			same(t, since, made.DueAt)
			d, _ := f.take(t, now)
			same(t, d.Search, made.Search)
			same(t, d.DueAt, made.DueAt)
			part := func(ids []prism.ResultID, upto prism.UUID, end bool) int {
				d.Found = deletion.FoundPart{IDs: ids, Upto: upto, End: end}
				n, ended, err := f.DeletePart(t.Context(), &d, now.Add(time.Minute), f.by(now))
				succeeds(t, err)
				same(t, ended, end)
				return n
			}
			same(t, part(nil, saved[0].ID.UUID, false), 0)
			same(t, part([]prism.ResultID{saved[0].ID, saved[1].ID, saved[2].ID}, saved[2].ID.UUID, false), 1) // the first is behind, the last failed
			succeeds(t, f.ReturnDeletion(t.Context(), d, now))
			d, _ = f.take(t, now)
			same(t, d.Reached, saved[2].ID.UUID)
			same(t, part(nil, d.End(), true), 0)
			same(t, f.count(t), 2)
			if _, ok := f.take(t, now.Add(time.Hour)); ok {
				t.Error("took a job that has ended")
			}
			entries := f.entriesOf(t, store.ResultsDelete)
			same(t, string(entries[0].Detail), `{"by":["status","q"],"status":"ok","deleting":7}`)
		}},
		{"a part that another worker went past changes nothing", func(t *testing.T, f *fixture) {
			f.add(t, deletion.Job{Status: prism.OK})
			slow, _ := f.take(t, moment(0).Add(time.Hour))
			quick, _ := f.take(t, moment(0).Add(2*time.Hour))
			quick.Reached = slow.Reached
			f.finish(t, quick, moment(0).Add(2*time.Hour))
			f.save(t, f.ok(f.mine.prism))
			_, _, err := f.DeletePart(t.Context(), &slow, moment(0).Add(3*time.Hour), f.by(moment(0)))
			failsWith(t, err, store.ErrNotFound)
			same(t, f.count(t), 1)
		}},
		// spec: deletion-age
		{"a job leaves results that are younger than a minute to a second pass", func(t *testing.T, f *fixture) {
			called := moment(0).Add(time.Hour)
			save := func(age time.Duration) prism.ResultID {
				r := f.ok(f.mine.prism)
				r.CreatedAt = called.Add(-age)
				return f.save(t, r).Result.ID
			}
			old, young, later := save(time.Minute+time.Millisecond), save(time.Minute), save(-time.Millisecond)
			d := f.add(t, deletion.Job{Status: prism.OK, DueAt: called, SavedBefore: called.Add(time.Millisecond)})
			job, _ := f.take(t, called)
			f.finish(t, job, called)
			same(t, f.stored(t, old), nil)
			if f.stored(t, young) == nil {
				t.Error("a young result was deleted")
			}
			if _, ok := f.take(t, called.Add(time.Minute)); ok {
				t.Error("the second pass is due too early")
			}
			job, ok := f.take(t, d.SavedBefore.Add(time.Minute))
			if !ok {
				t.Fatal("there is no second pass")
			}
			f.finish(t, job, called.Add(2*time.Minute))
			same(t, f.stored(t, young), nil)
			if f.stored(t, later) == nil {
				t.Error("a result that was saved after the call was deleted")
			}
			_, ok = f.take(t, called.Add(time.Hour))
			same(t, ok, false)
		}},
		// spec: deletion-entry
		{"the entry of a deletion names the filters and never the ref", func(t *testing.T, f *fixture) {
			ref := "of a person"
			before := moment(5)
			f.add(t, deletion.Job{Ref: &ref, Before: before, Status: prism.Failed})
			entries := f.entriesOf(t, store.ResultsDelete)
			same(t, string(entries[0].Detail),
				`{"by":["ref","before","status"],"before":"`+prism.FormatTime(before)+`","status":"failed","deleting":7}`)
			same(t, entries[0].Object, store.Object{Kind: store.PrismObject, ID: f.mine.prism.ID.UUID, Name: "triage"})
		}},
		// spec: deletion-goes-on
		{"the jobs of accounts that had their turn come behind those of others", func(t *testing.T, f *fixture) {
			f.takeTurns(t)
			f.add(t, deletion.Job{})
			f.add(t, deletion.Job{})
			due := moment(0).Add(40 * time.Minute)
			other := deletion.Job{
				Account: f.theirs.account, ID: f.id(), Prism: f.theirs.prism.ID, DueAt: due, SavedBefore: moment(0).Add(10 * time.Minute),
			}
			succeeds(t, f.AddDeletion(t.Context(), other, "triage", 1, f.by(due)))
			now := due.Add(time.Minute)
			var got []prism.AccountID
			for range 4 {
				d, err := f.TakeDeletion(t.Context(), now, now.Add(time.Minute), []prism.AccountID{{UUID: f.id()}, f.mine.account})
				if err == nil {
					got = append(got, d.Account)
				} else {
					failsWith(t, err, store.ErrNotFound)
				}
			}
			same(t, got, []prism.AccountID{f.theirs.account, f.mine.account, f.mine.account})
		}},
		// spec: deletions-under-way
		{"an account has a thousand deletions under way, beside those of retention, whoever asks at the same time", func(t *testing.T, f *fixture) {
			f.retain(t, 1, moment(0))
			add := func(of tenant) error {
				at := moment(0).Add(30 * time.Minute)
				return f.AddDeletion(t.Context(), deletion.Job{
					Account: of.account, ID: f.id(), Prism: of.prism.ID, DueAt: at, SavedBefore: moment(1),
				}, "triage", 1, f.by(at))
			}
			for range 997 {
				succeeds(t, add(f.mine))
			}
			added := 0
			for _, err := range together(racers, func(int) error { return add(f.mine) }) {
				if err == nil {
					added++
				} else {
					failsWith(t, err, store.ErrTooManyDeletions)
				}
			}
			same(t, added, 3)
			succeeds(t, add(f.theirs))
			now := moment(0).Add(time.Hour)
			job, _ := f.take(t, now)
			if job.Days > 0 {
				job, _ = f.take(t, now)
			}
			f.finish(t, job, now)
			succeeds(t, add(f.mine))
			failsWith(t, add(f.mine), store.ErrTooManyDeletions)
		}},
		{"pages that are read while results are deleted have each that stays once, in order", func(t *testing.T, f *fixture) {
			f.pagesWhileDeleting(t)
		}},
	}
}

func (f *fixture) delete(t *testing.T, id prism.ResultID) error {
	t.Helper()
	return f.DeleteResult(t.Context(), f.mine.account, id, f.by(moment(0)))
}

// add adds a job on the prism of mine that deletes what was saved until now, and says that it deletes 7 results.
func (f *fixture) add(t *testing.T, d deletion.Job) deletion.Job {
	t.Helper()
	d.Account, d.ID, d.Prism = f.mine.account, f.id(), f.mine.prism.ID
	if d.SavedBefore.IsZero() {
		d.DueAt, d.SavedBefore = moment(0).Add(30*time.Minute), moment(0).Add(10*time.Minute)
	}
	succeeds(t, f.AddDeletion(t.Context(), d, "triage", 7, f.by(d.DueAt)))
	return d
}

func (f *fixture) take(t *testing.T, now time.Time) (deletion.Job, bool) {
	t.Helper()
	d, err := f.TakeDeletion(t.Context(), now, now.Add(time.Minute), nil)
	if errors.Is(err, store.ErrNotFound) {
		return d, false
	}
	succeeds(t, err)
	return d, true
}

// finish deletes all parts of a pass, and returns how many results those were.
func (f *fixture) finish(t *testing.T, d deletion.Job, now time.Time) (deleted int) {
	t.Helper()
	by := f.by(now)
	by.Actor = store.Actor{Kind: store.RetentionActor, Name: "retention"}
	for {
		n, ended, err := f.DeletePart(t.Context(), &d, now.Add(time.Minute), by)
		succeeds(t, err)
		deleted += n
		if ended {
			return deleted
		}
	}
}

// jobs runs a job with each filter over results of every kind.
func (f *fixture) jobs(t *testing.T) {
	t.Helper()
	other := f.addPrism(t, f.mine, "other")
	empty, some := "", "some"
	var all []prism.Result
	seed := func() {
		for _, p := range []prism.Prism{f.mine.prism, other} {
			for _, ref := range []*string{nil, &empty, &some} {
				for i, r := range []prism.Result{f.ok(p), f.failed(p), f.ok(p), f.failed(p)} {
					r.Ref, r.CreatedAt = ref, moment(i/2*1000)
					all = append(all, f.save(t, r).Result)
				}
			}
		}
	}
	for _, d := range []deletion.Job{
		{Ref: &empty},
		{Ref: &some},
		{Status: prism.OK},
		{Status: prism.Failed},
		{Before: moment(1000)},
		{Ref: &some, Status: prism.OK},
		{Ref: &some, Before: moment(1)},
		{Status: prism.Failed, Before: moment(1000)},
		{Ref: &empty, Status: prism.Failed, Before: moment(0)},
	} {
		seed()
		bound := moment(0).Add(time.Minute)
		if !d.Before.IsZero() {
			bound = d.Before
		}
		d.DueAt, d.SavedBefore = moment(0).Add(time.Hour), bound
		matches := func(r prism.Result) bool {
			return r.Prism == f.mine.prism.ID && (d.Ref == nil || r.Ref != nil && *r.Ref == *d.Ref) &&
				(d.Status == "" || r.Status == d.Status) && r.CreatedAt.Before(bound)
		}
		remaining := slices.DeleteFunc(slices.Clone(all), matches)
		d = f.add(t, d)
		counted := d
		n, ended, err := f.CountDeletion(t.Context(), &counted)
		succeeds(t, err)
		same(t, ended, true)
		same(t, int(n), len(all)-len(remaining))
		job, _ := f.take(t, moment(0).Add(time.Hour))
		same(t, f.finish(t, job, moment(0).Add(time.Hour)), len(all)-len(remaining))
		same(t, f.count(t), len(remaining))
		for _, r := range remaining {
			same(t, *f.stored(t, r.ID), r)
		}
		all = remaining
	}
}

func (f *fixture) entriesOf(t *testing.T, action store.Action) []audit.Entry {
	t.Helper()
	all, _, err := f.ListAudit(t.Context(), f.mine.account, audit.Filter{}, store.Page{Limit: 1000})
	succeeds(t, err)
	return slices.DeleteFunc(all, func(e audit.Entry) bool { return e.Action != action })
}
