package storetest

import (
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/runs"
)

// spec: run-chunks, run-fairness, run-limits, run-queue
func runLeaseTests() []test {
	return []test{
		{"a lease has the rows of a chunk that wait, and what they need", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 2, 3)
			token := f.id()
			l, err := f.LeaseChunk(t.Context(), token, moment(10), moment(20))
			succeeds(t, err)
			r.Status, r.StartedAt = prism.RunRunning, &l.BegunAt
			same(t, *l, runs.LeasedChunk{
				Lease: contract.Lease{Account: f.mine.account, Run: r.ID, Chunk: 0, Token: token}, Run: r,
				Chunk: runs.Chunk{FirstRow: 1, Attempt: 1, States: []byte("pp")}, BegunAt: moment(10),
			})
			f.saves(t, l, "o", moment(11))
			again := f.leased(t, moment(12))
			same(t, string(again.Chunk.States), "op")
			same(t, f.leased(t, moment(13)).Chunk.FirstRow, 3)
			same(t, f.lease(t, moment(14)), nil)
		}},
		{"the account with the fewest leased rows is served first, then the run that waited longest", func(t *testing.T, f *fixture) {
			f.takeTurns(t)
			first, second := f.run(t, f.mine, moment(5), 5, 5, 5), f.run(t, f.mine, moment(6), 5, 5)
			theirs := f.run(t, f.theirs, moment(7), 2, 2, 9)
			var got []prism.RunID
			for i := range 6 {
				got = append(got, f.leased(t, moment(10+i)).Run.ID)
			}
			same(t, got, []prism.RunID{first.ID, theirs.ID, theirs.ID, theirs.ID, second.ID, first.ID})
		}},
		{"workers that lease at once get each chunk once", func(t *testing.T, f *fixture) {
			f.run(t, f.mine, moment(5), 1, 1, 1, 1)
			f.run(t, f.theirs, moment(5), 1, 1, 1)
			leases := make([]*runs.LeasedChunk, 10)
			for _, err := range together(len(leases), func(i int) (err error) {
				leases[i], err = f.LeaseChunk(t.Context(), prism.UUID{15: byte(i)}, moment(10), moment(10).Add(contract.LeaseTime))
				return err
			}) {
				succeeds(t, err)
			}
			chunks := map[contract.Lease]bool{}
			for _, l := range leases {
				if l != nil {
					of := l.Lease
					of.Token = prism.UUID{}
					if chunks[of] {
						t.Errorf("%v was leased twice", of)
					}
					chunks[of] = true
				}
			}
			for f.lease(t, moment(11)) != nil { // a worker whose chunk another one took looks again
				chunks[contract.Lease{Chunk: int32(len(chunks)) + 100}] = true
			}
			same(t, len(chunks), 7)
		}},
		{"a lease lasts until it is not renewed", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 1)
			l := f.leased(t, moment(10))
			renew := func(lease contract.Lease, ms int) bool {
				states, err := f.RenewLeases(t.Context(), []contract.Lease{lease}, moment(ms), moment(ms).Add(contract.LeaseTime))
				succeeds(t, err)
				same(t, states[0].Lease, lease)
				return !states[0].Stop
			}
			same(t, renew(l.Lease, 40_000), true)
			f.tend(t, moment(99_999))
			same(t, renew(l.Lease, 99_999), true)
			other := l.Lease
			other.Token = f.id()
			same(t, renew(other, 99_999), false)
			other = l.Lease
			other.Run = prism.RunID{UUID: f.id()}
			same(t, renew(other, 99_999), false)
			f.tend(t, moment(159_999))
			same(t, renew(l.Lease, 159_999), false)
			f.counts(t, r.ID, "p")
		}},
		{"a run with rows per second has one lease at a time", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 1, 1, 1)
			leases := []contract.Lease{f.leased(t, moment(10)).Lease, f.leased(t, moment(11)).Lease}
			rate := 2.5
			_, err := f.SetRunLimits(t.Context(), f.mine.account, r.ID, api.RunLimits{RowsPerSecond: &rate}, f.by(moment(12)))
			succeeds(t, err)
			same(t, f.lease(t, moment(13)), nil)
			states, err := f.RenewLeases(t.Context(), leases, moment(14), moment(14).Add(contract.LeaseTime))
			succeeds(t, err)
			same(t, states, []contract.LeaseState{
				{Lease: leases[0], RowLimits: contract.RowLimits{RowsPerSecond: 2.5}}, {Lease: leases[1], Stop: true},
			})
			for _, l := range leases {
				succeeds(t, f.SaveRows(t.Context(), contract.SaveRows{Lease: l, Done: true}, moment(15)))
			}
			same(t, f.leased(t, moment(16)).RowsPerSecond, 2.5)
			same(t, f.lease(t, moment(17)), nil)
		}},
		{"the leases of a run share its concurrency", func(t *testing.T, f *fixture) {
			n := f.newRun(f.mine, f.fileOf(t, f.mine.account, 1, 1, 1, 1, 1).ID)
			n.Concurrency = 70
			r, err := f.CreateRun(t.Context(), f.mine.account, n, f.by(moment(5)))
			succeeds(t, err)
			first, second, third := f.leased(t, moment(10)), f.leased(t, moment(10)), f.leased(t, moment(10))
			same(t, []int32{first.Concurrency, second.Concurrency, third.Concurrency}, []int32{32, 32, 6})
			same(t, f.lease(t, moment(10)), nil)
			f.saves(t, second, "o", moment(11))
			renewed := func(at int, leases ...contract.Lease) (granted []int32) {
				states, err := f.RenewLeases(t.Context(), leases, moment(at), moment(at).Add(contract.LeaseTime))
				succeeds(t, err)
				for _, s := range states {
					granted = append(granted, s.Concurrency)
				}
				return granted
			}
			same(t, renewed(12, first.Lease, third.Lease), []int32{32, 32})
			few, none := 40, 0
			_, err = f.SetRunLimits(t.Context(), f.mine.account, r.ID, api.RunLimits{Concurrency: &few}, f.by(moment(13)))
			succeeds(t, err)
			same(t, renewed(14, first.Lease, third.Lease), []int32{8, 32})
			limited, err := f.SetRunLimits(t.Context(), f.mine.account, r.ID, api.RunLimits{Concurrency: &none}, f.by(moment(15)))
			succeeds(t, err)
			same(t, limited.Concurrency, 0)
			same(t, renewed(16, first.Lease, third.Lease), []int32{0, 0})
			same(t, f.leased(t, moment(17)).RowLimits, contract.RowLimits{})
		}},
		{"the queue is measured", func(t *testing.T, f *fixture) {
			queue := func(at int) runs.Queue {
				q, err := f.QueueOfRuns(t.Context(), moment(at))
				succeeds(t, err)
				return q
			}
			same(t, queue(1), runs.Queue{})
			f.run(t, f.mine, moment(5), 2, 1)
			f.run(t, f.theirs, moment(6), 4)
			same(t, queue(7), runs.Queue{Runs: 2, PendingRows: 7, OldestSince: moment(5)})
			l := f.leased(t, moment(8))
			same(t, queue(9), runs.Queue{Runs: 2, PendingRows: 7, Leases: 1, OldestSince: moment(6)})
			f.saves(t, l, "oo", moment(10))
			same(t, queue(11), runs.Queue{Runs: 2, PendingRows: 5, OldestSince: moment(6)})
		}},
	}
}
