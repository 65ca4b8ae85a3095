package storetest

import (
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// ahead is how far the clock was ahead before it was set back, and mended how long everything waits at most after that.
const ahead, mended = 3 * time.Hour, 2 * time.Minute

// spec: clocks-that-jump
func clockTests() []test {
	return []test{
		{"a file that was completed while the clock was ahead is read soon, also if its reader dies", func(t *testing.T, f *fixture) {
			waiting, leased := f.upload(t), f.upload(t)
			for _, file := range []files.File{waiting, leased} {
				succeeds(t, f.SetReading(t.Context(), f.mine.account, file.ID, moment(1).Add(ahead)))
			}
			succeeds(t, second(f.TakeReading(t.Context(), f.ownedFile(leased.ID), f.id(), moment(2).Add(ahead), moment(2).Add(ahead+store.MaxLease))))
			f.mends(t, 2)
			for _, file := range []files.File{waiting, leased} {
				now := moment(3).Add(mended)
				succeeds(t, second(f.TakeReading(t.Context(), f.ownedFile(file.ID), f.id(), now, now.Add(store.MaxLease))))
			}
		}},
		{"a run whose worker dies goes on soon, and has its turn before runs that came later", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(1).Add(ahead), 1)
			was := f.leased(t, moment(2).Add(ahead))
			f.mends(t, 3) // the lease, the turn, and since when its rows are watched
			f.tend(t, moment(3))
			same(t, f.lease(t, moment(3)), nil) // the worker may live
			states, err := f.RenewLeases(t.Context(), []contract.Lease{was.Lease}, moment(3), moment(3).Add(contract.LeaseTime))
			succeeds(t, err)
			same(t, states[0].Stop, false)
			f.tend(t, moment(3).Add(mended))
			same(t, f.leased(t, moment(4).Add(mended)).Run.ID, r.ID)
		}},
		{"a run that pauses while its worker dies has paused soon", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(1).Add(ahead), 1)
			f.leased(t, moment(2).Add(ahead))
			same(t, f.act(t, r.ID, store.RunPause, moment(3).Add(ahead)).Status, prism.RunPausing)
			f.mends(t, 4)
			f.tend(t, moment(4).Add(runs.StopWait))
			f.has(t, r.ID, prism.RunPaused)
		}},
		{"a retry of many whose worker dies goes on soon", func(t *testing.T, f *fixture) {
			f.failures(t, 1)
			retry := f.many(f.mine)
			succeeds(t, f.AddRetry(t.Context(), retry, 1, f.by(moment(20).Add(ahead))))
			if f.lease(t, moment(21).Add(ahead)) == nil {
				t.Fatal("nothing was leased")
			}
			f.mends(t, 2)
			f.tend(t, moment(22).Add(mended))
			f.leased(t, moment(23).Add(mended))
		}},
		{"a deletion that was asked for while the clock was ahead keeps what is saved later", func(t *testing.T, f *fixture) {
			save := func(at time.Time) prism.ResultID {
				r := f.ok(f.mine.prism)
				r.CreatedAt = at
				return f.save(t, r).Result.ID
			}
			before, later := save(moment(2)), save(moment(3).Add(time.Hour))
			called := moment(2).Add(ahead)
			f.add(t, deletion.Job{Status: prism.OK, DueAt: called, SavedBefore: called})
			f.mends(t, 3) // the lease that a new one has, what it deletes, and when it is due
			job, ok := f.take(t, moment(3).Add(mended))
			if !ok {
				t.Fatal("the deletion is not due")
			}
			f.finish(t, job, moment(3).Add(mended))
			same(t, f.stored(t, before), nil)
			if f.stored(t, later) == nil {
				t.Error("a result that was saved later was deleted")
			}
			_, ok = f.take(t, moment(3).Add(2*ahead))
			same(t, ok, false)
		}},
		{"an event that was to be tried again while the clock was ahead is tried after its pause", func(t *testing.T, f *fixture) {
			f.happens(t, f.webhook(t), 1)
			f.fails(t, f.takes(t, moment(2).Add(ahead)), 500, moment(2).Add(ahead))
			f.mends(t, 2) // when it is due, and when its webhook is
			same(t, f.due(t, moment(4)), nil)
			same(t, len(f.takes(t, moment(3).Add(webhooks.Pauses[0])).Deliveries), 1)
		}},
		{"a webhook is sent events soon whose sender dies, or for which one waits", func(t *testing.T, f *fixture) {
			f.happens(t, f.webhook(t), 1)
			f.takes(t, moment(2).Add(ahead))
			f.mends(t, 1)
			same(t, f.due(t, moment(4)), nil) // the sender may live
			f.takes(t, moment(3).Add(mended))
			w := f.webhook(t)
			d, err := f.TestWebhook(t.Context(), f.mine.account, w.ID, f.id(), f.by(moment(2).Add(ahead)))
			succeeds(t, err)
			f.mends(t, 3) // the other lease too
			same(t, f.takes(t, moment(4)).Deliveries[0].ID, d.ID)
		}},
		{"times that are not far in the future stay", func(t *testing.T, f *fixture) {
			f.run(t, f.mine, moment(1), 1)
			f.leased(t, moment(2))
			file := f.upload(t)
			succeeds(t, f.SetReading(t.Context(), f.mine.account, file.ID, moment(2)))
			succeeds(t, second(f.TakeReading(t.Context(), f.ownedFile(file.ID), f.id(), moment(2), moment(2).Add(store.MaxLease))))
			f.fails(t, func() *webhooks.Leased { f.happens(t, f.webhook(t), 1); return f.takes(t, moment(15)) }(), 500, moment(15))
			f.happens(t, f.webhook(t), 1)
			f.takes(t, moment(16))
			f.mends(t, 0)
		}},
	}
}

// mends holds how many times are mended at moment 3, and that none is left.
func (f *fixture) mends(t *testing.T, want int) {
	t.Helper()
	n, err := f.MendTimes(t.Context(), moment(3))
	succeeds(t, err)
	same(t, n, want)
	n, err = f.MendTimes(t.Context(), moment(3))
	succeeds(t, err)
	same(t, n, 0)
}
