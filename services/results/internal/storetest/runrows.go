package storetest

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/usage"
)

// rowResults are the results of a run in a list, as row and status, and those that were retried too.
func (f *fixture) rowResults(t *testing.T, id prism.RunID, limit int) (rows []string, results []prism.Result) {
	t.Helper()
	var after prism.UUID
	for {
		page, _, err := f.ListResults(t.Context(), f.mine.account, store.Filter{Run: &id}, store.WithoutInput, store.Page{After: after, Limit: limit})
		succeeds(t, err)
		if len(page) == 0 {
			return rows, results
		}
		for _, s := range page {
			rows = append(rows, fmt.Sprint(s.RunRow, " ", s.Result.Status))
			results = append(results, s.Result)
			after = contract.RowPosition(s.RunRow, s.Result.ID)
		}
	}
}

// newest are the newest results of rows, as row and status.
func (f *fixture) newest(t *testing.T, id prism.RunID) (rows []string) {
	t.Helper()
	found, err := f.RunResults(t.Context(), f.mine.account, id, 1, 100)
	succeeds(t, err)
	for _, r := range found {
		rows = append(rows, fmt.Sprint(r.Row, " ", r.Status))
	}
	return rows
}

// spec: one-result-a-row, run-retry, run-single-retry, run-pauses-itself, run-usage, run-results
func runRowTests() []test {
	return []test{
		{"the results of rows are stored with run, row and what they used, and once", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 3)
			l := f.leased(t, moment(10))
			for range 3 {
				succeeds(t, f.SaveRows(t.Context(), outcomes(l, "ofi"), moment(11)))
			}
			f.counts(t, r.ID, "ofi")
			same(t, f.found(t, r.ID).Usage, runs.Usage{
				InputTokens: 30, Cost: prism.Cost{Whole: 1, Rest: 400_000_000_000}, Currency: "EUR",
			})
			sums, _, err := f.ReadUsage(t.Context(), f.mine.account, usage.Filter{By: api.ByKey, To: math.MaxInt32})
			succeeds(t, err)
			if len(sums) != 1 || sums[0].Results != 2 || sums[0].Failed != 1 || sums[0].InputTokens != 30 || sums[0].Key != f.mine.keyID {
				t.Errorf("usage is %+v", sums)
			}
			record, err := f.Record(t.Context(), f.mine.account, prism.RowResultID(moment(10), r.ID, 2, 1))
			succeeds(t, err)
			same(t, *record.Run, r.ID)
			same(t, record.RunRow, 2)
			same(t, record.Result.CreatedAt, moment(11))
			chunks, err := f.RunChunks(t.Context(), f.mine.account, r.ID, 0, 9)
			succeeds(t, err)
			same(t, chunks[0].Invalid, map[int64]string{3: "Missing fields: “text”"})
			call := f.ok(f.mine.prism)
			f.save(t, call)
			record, err = f.Record(t.Context(), f.mine.account, call.ID)
			succeeds(t, err)
			same(t, record.Run, nil)
		}},
		{"a lost lease saves nothing", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 2)
			lost := f.leased(t, moment(10))
			succeeds(t, f.SaveRows(t.Context(), outcomes(lost, "o"), moment(11)))
			f.tend(t, moment(10).Add(contract.LeaseTime))
			failsWith(t, f.SaveRows(t.Context(), outcomes(lost, "of"), moment(12)), contract.ErrLeaseLost)
			next := f.leased(t, moment(12).Add(contract.LeaseTime))
			failsWith(t, f.SaveRows(t.Context(), outcomes(lost, "of"), moment(12)), contract.ErrLeaseLost)
			same(t, next.BegunAt, lost.BegunAt) // the ids of the results are the same ones
			f.saves(t, next, "f", moment(13))
			f.counts(t, r.ID, "of")
		}},
		{"workers that save the rows of a lease at once save each once", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 5)
			l := f.leased(t, moment(10))
			for _, err := range together(6, func(i int) error {
				return f.SaveRows(t.Context(), outcomes(l, []string{"ooo--", "--fff"}[i%2]), moment(11))
			}) {
				succeeds(t, err)
			}
			rows, _ := f.rowResults(t, r.ID, 10)
			same(t, len(rows), 5)
			same(t, f.found(t, r.ID).Pending(), 0)
		}},
		{"rows that are not those of the lease are refused", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 1, 1)
			l := f.leased(t, moment(10))
			other := outcomes(l, "o")
			other.Rows[0].Row = 2
			another := outcomes(l, "o")
			another.Rows[0].Save.ID = f.resultID()
			for _, s := range []contract.SaveRows{other, another} {
				if err := f.SaveRows(t.Context(), s, moment(11)); err == nil {
					t.Error("the rows were saved")
				}
			}
			f.counts(t, r.ID, "pp")
		}},
		{"an attempt that is older than an hour begins anew", func(t *testing.T, f *fixture) {
			f.run(t, f.mine, moment(5), 1)
			first := f.leased(t, moment(10))
			late := moment(10).Add(runs.AttemptAge)
			f.tend(t, late)
			same(t, first.BegunAt, moment(10))
			same(t, f.leased(t, late).BegunAt, late)
		}},
		{"failed rows are sent again as retries, deleted ones as first calls", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 4, 1)
			f.saves(t, f.leased(t, moment(10)), "fofi", moment(11))
			f.saves(t, f.leased(t, moment(10)), "o", moment(11))
			f.tend(t, moment(12))
			_, before := f.rowResults(t, r.ID, 2)
			succeeds(t, f.DeleteResult(t.Context(), f.mine.account, before[2].ID, f.by(moment(13))))
			same(t, f.act(t, r.ID, store.RunRetry, moment(14)).Status, prism.RunQueued)
			f.counts(t, r.ID, "popio")
			f.act(t, r.ID, store.RunRetry, moment(14)) // twice is once
			l := f.leased(t, moment(15))
			same(t, l.Chunk.Attempt, 2)
			same(t, l.Failed, map[int64]prism.ResultID{1: before[0].ID})
			f.saves(t, l, "of", moment(16))
			f.counts(t, r.ID, "oofio")
			rows, after := f.rowResults(t, r.ID, 2)
			same(t, strings.Join(rows, ", "), "1 failed, 1 ok, 2 ok, 3 failed, 5 ok")
			same(t, *f.stored(t, before[0].ID).RetriedBy, after[1].ID)
			record, err := f.Record(t.Context(), f.mine.account, after[3].ID)
			succeeds(t, err)
			same(t, record.RetryOf, nil)
			same(t, strings.Join(f.newest(t, r.ID), ", "), "1 ok, 2 ok, 3 failed, 5 ok")
			f.tend(t, moment(17))
			f.has(t, r.ID, prism.RunFinished)
		}},
		{"a run without failed rows is not retried", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 2)
			f.saves(t, f.leased(t, moment(10)), "o", moment(11))
			_, err := f.ActOnRun(t.Context(), f.mine.account, r.ID, store.RunRetry, f.by(moment(12)))
			failsWith(t, err, store.ErrNoFailedRows)
		}},
		{"rows that fail under a lease are retried when it has ended", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 3)
			l := f.leased(t, moment(10))
			succeeds(t, f.SaveRows(t.Context(), outcomes(l, "f--"), moment(11)))
			f.act(t, r.ID, store.RunRetry, moment(12))
			f.counts(t, r.ID, "ppp")
			succeeds(t, f.SaveRows(t.Context(), outcomes(l, "fo-"), moment(13))) // the first one again
			f.counts(t, r.ID, "pop")
			f.saves(t, l, "", moment(14))
			f.counts(t, r.ID, "pop")
			f.saves(t, f.leased(t, moment(15)), "oo", moment(16))
			rows, _ := f.rowResults(t, r.ID, 10)
			same(t, strings.Join(rows, ", "), "1 failed, 1 ok, 2 ok, 3 ok")
		}},
		{"a retry of one result is a result of the row", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 1, 3)
			f.saves(t, f.leased(t, moment(10)), "o", moment(11))
			f.saves(t, f.leased(t, moment(10)), "off", moment(11))
			_, before := f.rowResults(t, r.ID, 10)
			retry := f.ok(f.mine.prism)
			for range 2 {
				_, err := f.SaveRetry(t.Context(), f.mine.account, retry, before[2].ID)
				succeeds(t, err)
			}
			f.counts(t, r.ID, "ooof")
			record, err := f.Record(t.Context(), f.mine.account, retry.ID)
			succeeds(t, err)
			same(t, *record.Run, r.ID)
			same(t, record.RunRow, 3)
			same(t, strings.Join(f.newest(t, r.ID), ", "), "1 ok, 2 ok, 3 ok, 4 failed")
			// A row that waits for its next attempt has its outcome by the retry of its result.
			f.act(t, r.ID, store.RunRetry, moment(12))
			l := f.leased(t, moment(13))
			call := called(f.failed(f.mine.prism), f.mine.keyID, "fast", 1, 5, "USD")
			_, err = f.SaveRetry(t.Context(), f.mine.account, call, before[3].ID)
			succeeds(t, err)
			f.counts(t, r.ID, "ooof")
			f.saves(t, l, "o", moment(14))
			f.counts(t, r.ID, "ooof")
			same(t, f.found(t, r.ID).Usage.Currency, runs.SeveralCurrencies)
		}},
		{"a row that a later attempt found invalid has the state of the retry of its result", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 2)
			f.saves(t, f.leased(t, moment(10)), "ff", moment(11))
			_, before := f.rowResults(t, r.ID, 10)
			f.act(t, r.ID, store.RunRetry, moment(12))
			f.saves(t, f.leased(t, moment(13)), "ii", moment(14))
			for i, retry := range []prism.Result{f.ok(f.mine.prism), f.failed(f.mine.prism)} {
				_, err := f.SaveRetry(t.Context(), f.mine.account, retry, before[i].ID)
				succeeds(t, err)
			}
			f.counts(t, r.ID, "of")
			same(t, strings.Join(f.newest(t, r.ID), ", "), "1 ok, 2 failed")
		}},
		{"retries of single results and saves of rows at once lose no count", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 16)
			l := f.leased(t, moment(10))
			succeeds(t, f.SaveRows(t.Context(), outcomes(l, "ffffffff"), moment(11)))
			_, before := f.rowResults(t, r.ID, 20)
			retries := make([]prism.Result, len(before))
			for i := range retries {
				retries[i] = f.ok(f.mine.prism)
			}
			for _, err := range together(16, func(i int) error {
				if i < 8 {
					_, err := f.SaveRetry(t.Context(), f.mine.account, retries[i], before[i].ID)
					return err
				}
				return f.SaveRows(t.Context(), outcomes(l, strings.Repeat("-", i)+"o"), moment(12))
			}) {
				succeeds(t, err)
			}
			f.counts(t, r.ID, strings.Repeat("o", 16))
		}},
		{"retries of single results while finished chunks are folded lose no count", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 2, 2, 2, 2)
			for range 4 {
				f.saves(t, f.leased(t, moment(10)), "ff", moment(11))
			}
			_, before := f.rowResults(t, r.ID, 20)
			retries := make([]prism.Result, len(before))
			for i := range retries {
				retries[i] = f.ok(f.mine.prism)
			}
			for _, err := range together(16, func(i int) error {
				if i < 8 {
					_, err := f.SaveRetry(t.Context(), f.mine.account, retries[i], before[i].ID)
					return err
				}
				_, err := f.TendRuns(t.Context(), moment(12))
				return err
			}) {
				succeeds(t, err)
			}
			f.counts(t, r.ID, "oooooooo")
			f.tend(t, moment(13))
			f.counts(t, r.ID, "oooooooo")
		}},
		{"a deleted result leaves its row's state", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 2)
			f.saves(t, f.leased(t, moment(10)), "of", moment(11))
			_, before := f.rowResults(t, r.ID, 10)
			retry := f.ok(f.mine.prism)
			_, err := f.SaveRetry(t.Context(), f.mine.account, retry, before[1].ID)
			succeeds(t, err)
			for _, id := range []prism.ResultID{before[0].ID, retry.ID} {
				succeeds(t, f.DeleteResult(t.Context(), f.mine.account, id, f.by(moment(12))))
			}
			f.counts(t, r.ID, "oo")
			same(t, len(f.newest(t, r.ID)), 0)
		}},
		{"a run pauses when too many of its last 200 rows failed, and is watched anew when it goes on", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 200, 100, 200)
			f.saves(t, f.leased(t, moment(10)), strings.Repeat("f", 100)+strings.Repeat("o", 100), moment(20))
			f.tend(t, moment(21))
			f.has(t, r.ID, prism.RunRunning) // not more than a half
			l := f.leased(t, moment(30))
			succeeds(t, f.SaveRows(t.Context(), outcomes(l, strings.Repeat("f", 100)), moment(40)))
			f.tend(t, moment(41))
			f.has(t, r.ID, prism.RunRunning) // the last 100 of the first chunk were ok
			last := f.leased(t, moment(42))
			succeeds(t, f.SaveRows(t.Context(), outcomes(last, "f"), moment(50)))
			f.tend(t, moment(51))
			paused := f.found(t, r.ID)
			same(t, paused.Reason, "101 of the last 200 rows failed.")
			same(t, paused.Status, prism.RunPausing)
			f.saves(t, l, "", moment(52))
			f.saves(t, last, "", moment(52))
			f.tend(t, moment(53))
			same(t, f.found(t, r.ID).Reason, paused.Reason)
			f.has(t, r.ID, prism.RunPaused)
			same(t, f.act(t, r.ID, store.RunResume, moment(60)).Reason, "")
			last = f.leased(t, moment(61))
			succeeds(t, f.SaveRows(t.Context(), outcomes(last, strings.Repeat("f", 198)), moment(62)))
			f.tend(t, moment(63))
			f.has(t, r.ID, prism.RunRunning)
		}},
		{"a run that pauses is finished when each row has its outcome", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 2)
			l := f.leased(t, moment(10))
			same(t, f.act(t, r.ID, store.RunPause, moment(11)).Status, prism.RunPausing)
			f.saves(t, l, "of", moment(12))
			f.tend(t, moment(13))
			f.has(t, r.ID, prism.RunFinished)
			same(t, *f.found(t, r.ID).FinishedAt, moment(13))
			same(t, f.act(t, r.ID, store.RunRetry, moment(14)).Status, prism.RunQueued)
			// The rows that a retry has yet to find are pending too.
			f.act(t, r.ID, store.RunPause, moment(15))
			f.tend(t, moment(16))
			f.has(t, r.ID, prism.RunPaused)
		}},
		{"a run pauses when its prism is archived or its key is revoked", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 2)
			l := f.leased(t, moment(10))
			at := moment(11)
			_, err := f.SetArchived(t.Context(), f.mine.account, f.mine.prism.ID, &at)
			succeeds(t, err)
			f.tend(t, moment(12))
			same(t, f.found(t, r.ID).Reason, "This prism is archived, so it cannot answer.")
			f.saves(t, l, "", moment(13))
			f.tend(t, moment(14))
			f.has(t, r.ID, prism.RunPaused)
			f.act(t, r.ID, store.RunResume, moment(15))
			same(t, f.lease(t, moment(15)), nil)
			_, err = f.SetArchived(t.Context(), f.mine.account, f.mine.prism.ID, nil)
			succeeds(t, err)
			_, err = f.RevokeKey(t.Context(), f.mine.account, f.mine.keyID, moment(16))
			succeeds(t, err)
			f.stopsAtOnce(t, r.ID, "The key that started this run was revoked.")
		}},
		{"a run pauses when its key expires", func(t *testing.T, f *fixture) {
			f.mine.keyID = f.keyUntil(t, moment(20))
			r := f.run(t, f.mine, moment(5), 2)
			l := f.leased(t, moment(10))
			f.tend(t, moment(19))
			f.has(t, r.ID, prism.RunRunning)
			f.tend(t, moment(20))
			f.has(t, r.ID, prism.RunPausing)
			f.saves(t, l, "o", moment(21))
			f.tend(t, moment(22))
			same(t, f.found(t, r.ID).Reason, "The key that started this run has expired.")
			f.has(t, r.ID, prism.RunPaused)
		}},
		{"rows are counted since a time", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 3)
			l := f.leased(t, moment(10))
			succeeds(t, f.SaveRows(t.Context(), outcomes(l, "o"), moment(1000)))
			succeeds(t, f.SaveRows(t.Context(), outcomes(l, "-fi"), moment(2000)))
			for since, want := range map[time.Time]int64{moment(999): 3, moment(1000): 2, moment(2000): 0} {
				n, err := f.RowsSince(t.Context(), f.mine.account, r.ID, since)
				succeeds(t, err)
				same(t, n, want)
			}
		}},
	}
}

// stopsAtOnce checks that no row of a run is leased any more, whether it is paused or was resumed, and that it pauses for a reason.
func (f *fixture) stopsAtOnce(t *testing.T, id prism.RunID, reason string) {
	t.Helper()
	for range 2 {
		f.act(t, id, store.RunResume, moment(20))
		same(t, f.lease(t, moment(21)), nil)
		f.tend(t, moment(22))
		f.has(t, id, prism.RunPaused)
		same(t, f.found(t, id).Reason, reason)
	}
}
