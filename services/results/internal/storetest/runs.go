package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/store"
)

// fileOf is a ready file of an account, with a chunk of so many rows for each number.
func (f *fixture) fileOf(t testing.TB, account prism.AccountID, rows ...int32) files.File {
	t.Helper()
	file := files.File{
		ID: prism.FileID{UUID: f.id()}, Name: "rows.csv", Format: prism.FileCSV, Bytes: 1, Status: prism.FileUploading,
		CreatedAt: moment(1), ExpiresAt: moment(1).Add(files.UploadTime),
	}
	var chunks []store.FileChunk
	first := int64(1)
	for i, n := range rows {
		chunks = append(chunks, store.FileChunk{Number: int32(i), FirstRow: first, Rows: n, Bytes: 1, Line: first + 1})
		first += int64(n)
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(f.CreateFile(t.Context(), account, file))
	must(f.SetReading(t.Context(), account, file.ID, moment(2)))
	l, err := f.TakeReading(t.Context(), store.FileOwner{Account: account, ID: file.ID}, f.id(), moment(2), moment(2).Add(time.Hour))
	must(err)
	must(f.RenewReading(t.Context(), l, moment(2).Add(time.Hour), chunks))
	l.File.Status, l.File.Rows, l.File.Chunks, l.File.Layout = prism.FileReady, first-1, int32(len(rows)), []byte(`{}`)
	must(f.EndReading(t.Context(), l, l.File))
	return l.File
}

func (f *fixture) newRun(of tenant, file prism.FileID) runs.Run {
	return runs.Run{
		ID: prism.RunID{UUID: f.id()}, Prism: of.prism.ID, Slug: of.prism.Slug, Version: 1, File: file, Name: "March “2026”",
		Mapping: []byte(`{"fields":[]}`), Key: of.keyID, PauseAt: api.DefaultPauseAt,
	}
}

// keyUntil is a new key of mine that expires.
func (f *fixture) keyUntil(t *testing.T, expires time.Time) prism.KeyID {
	t.Helper()
	k := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, Role: prism.Caller, CreatedAt: moment(0), ExpiresAt: &expires}
	succeeds(t, f.CreateKey(t.Context(), f.mine.account, k, contract.KeyDigest{8, 31: k.ID.UUID[15]}))
	return k.ID
}

// run is a new run of an account, at a time, of a file with such chunks.
func (f *fixture) run(t testing.TB, of tenant, at time.Time, rows ...int32) runs.Run {
	t.Helper()
	r, err := f.CreateRun(t.Context(), of.account, f.newRun(of, f.fileOf(t, of.account, rows...).ID), f.by(at))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// found reads a run of mine, whose rows must each have one state.
func (f *fixture) found(t *testing.T, id prism.RunID) runs.Run {
	t.Helper()
	r, err := f.ReadRun(t.Context(), f.mine.account, id)
	succeeds(t, err)
	return r
}

// counts fails the test unless the rows of a run have these states.
func (f *fixture) counts(t *testing.T, id prism.RunID, states string) {
	t.Helper()
	r := f.found(t, id)
	chunks, err := f.RunChunks(t.Context(), f.mine.account, id, 0, 1000)
	succeeds(t, err)
	var got []byte
	for _, c := range chunks {
		got = append(got, c.States...)
	}
	same(t, string(got), states)
	of := func(letter string) int64 { return int64(strings.Count(states, letter)) }
	same(t, []int64{r.OK, r.Failed, r.Invalid, r.Cancelled, r.Pending()}, []int64{of("o"), of("f"), of("i"), of("c"), of("p")})
}

func (f *fixture) has(t *testing.T, id prism.RunID, want prism.RunStatus) {
	t.Helper()
	if r := f.found(t, id); r.Status != want {
		t.Errorf("the run is %s, want %s", r.Status, want)
	}
}

func (f *fixture) act(t *testing.T, id prism.RunID, a store.Action, at time.Time) runs.Run {
	t.Helper()
	r, err := f.ActOnRun(t.Context(), f.mine.account, id, a, f.by(at))
	succeeds(t, err)
	return r
}

func (f *fixture) tend(t *testing.T, at time.Time) {
	t.Helper()
	_, err := f.TendRuns(t.Context(), at)
	succeeds(t, err)
}

// lease leases a chunk for a minute.
func (f *fixture) lease(t *testing.T, at time.Time) *runs.LeasedChunk {
	t.Helper()
	l, err := f.LeaseChunk(t.Context(), f.id(), at, at.Add(contract.LeaseTime))
	succeeds(t, err)
	return l
}

// leased is a lease that there must be.
func (f *fixture) leased(t *testing.T, at time.Time) *runs.LeasedChunk {
	t.Helper()
	l := f.lease(t, at)
	if l == nil {
		t.Fatal("no chunk was leased")
	}
	return l
}

// outcomes are what a worker saves of the rows of a lease: a letter for each pending row in order, or "-" for none.
func outcomes(l *runs.LeasedChunk, letters string) contract.SaveRows {
	s := contract.SaveRows{Lease: l.Lease}
	for i, state := range l.Chunk.States {
		if state != runs.RowPendingState || letters == "" {
			continue
		}
		letter := letters[0]
		letters = letters[1:]
		row := l.Chunk.FirstRow + int64(i)
		switch letter {
		case '-':
		case runs.RowInvalidState:
			s.Rows = append(s.Rows, contract.RowOutcome{Row: row, Invalid: "Missing fields: “text”"})
		default:
			s.Rows = append(s.Rows, contract.RowOutcome{Row: row, Save: saveOf(l, row, letter == runs.RowOKState)})
		}
	}
	return s
}

func saveOf(l *runs.LeasedChunk, row int64, ok bool) *contract.Save {
	save := &contract.Save{
		Account: l.Account, ID: prism.RowResultID(l.BegunAt, l.Lease.Run, row, l.Chunk.Attempt), Prism: l.Run.Prism, Version: l.Run.Version,
		Context: "a call", Fields: []prism.FieldValue{{Key: "zulu", Value: "help!"}}, Key: l.Run.Key,
		Outcome: contract.Outcome{Answers: []byte(`{"urgent":{"type":"yes_no","probability":0.9}}`), TookMS: 12},
	}
	if !ok {
		save.Outcome = contract.Outcome{Error: "The model did not answer within 15 seconds."}
	}
	tokens, cost := 10*row, int64(700_000_000_000)
	save.Outcome.Call = &prism.ModelCall{Name: "fast", Tries: 1, Usage: prism.Usage{InputTokens: &tokens, Cost: &cost, Currency: "EUR"}}
	if of, found := l.Failed[row]; found {
		save.RetryOf = &of
	}
	return save
}

// saves stores the outcomes of a lease, and ends it.
func (f *fixture) saves(t *testing.T, l *runs.LeasedChunk, letters string, at time.Time) {
	t.Helper()
	s := outcomes(l, letters)
	s.Done = true
	succeeds(t, f.SaveRows(t.Context(), s, at))
}

// spec: run-states, run-counts, run-idempotency
func runTests() []test {
	return []test{
		// spec: runs-not-over
		{"an account has five hundred runs that are not over, whoever asks at the same time", func(t *testing.T, f *fixture) {
			finished := f.run(t, f.mine, moment(5), 1)
			f.saves(t, f.leased(t, moment(6)), "f", moment(7))
			f.tend(t, moment(7))
			f.has(t, finished.ID, prism.RunFinished)
			retry := func() error {
				_, err := f.ActOnRun(t.Context(), f.mine.account, finished.ID, store.RunRetry, f.by(moment(9)))
				return err
			}
			file := f.fileOf(t, f.mine.account, 1)
			create := func() error {
				_, err := f.CreateRun(t.Context(), f.mine.account, f.newRun(f.mine, file.ID), f.by(moment(8)))
				return err
			}
			paused := f.run(t, f.mine, moment(8), 1)
			f.act(t, paused.ID, store.RunPause, moment(8))
			for range 496 {
				succeeds(t, create())
			}
			created := 0
			for _, err := range together(racers, func(int) error { return create() }) {
				if err == nil {
					created++
				} else {
					failsWith(t, err, store.ErrTooManyRuns)
				}
			}
			same(t, created, 3)
			f.run(t, f.theirs, moment(8), 1)
			failsWith(t, retry(), store.ErrTooManyRuns)
			f.act(t, paused.ID, store.RunResume, moment(9))
			f.act(t, paused.ID, store.RunCancel, moment(9))
			succeeds(t, retry())
			failsWith(t, create(), store.ErrTooManyRuns)
		}},
		{"a run is found as it was made, by its account alone", func(t *testing.T, f *fixture) {
			n := f.newRun(f.mine, f.fileOf(t, f.mine.account, 2, 1).ID)
			n.RowsPerSecond, n.Concurrency, n.PauseAt = 0.125, 7, 1
			r, err := f.CreateRun(t.Context(), f.mine.account, n, f.by(moment(5)))
			succeeds(t, err)
			n.Status, n.Rows, n.Chunks, n.CreatedAt = prism.RunQueued, 3, 2, moment(5)
			same(t, r, n)
			same(t, f.found(t, r.ID), n)
			f.counts(t, r.ID, "ppp")
			_, err = f.ReadRun(t.Context(), f.theirs.account, r.ID)
			failsWith(t, err, store.ErrNotFound)
			again, err := f.CreateRun(t.Context(), f.mine.account, n, f.by(moment(6)))
			succeeds(t, err)
			same(t, again, n)
		}},
		{"a run needs a ready file of its account", func(t *testing.T, f *fixture) {
			theirs := f.fileOf(t, f.theirs.account, 1).ID
			_, err := f.CreateRun(t.Context(), f.mine.account, f.newRun(f.mine, theirs), f.by(moment(5)))
			failsWith(t, err, store.ErrNotFound)
			_, err = f.CreateRun(t.Context(), f.mine.account, f.newRun(f.mine, f.upload(t).ID), f.by(moment(5)))
			failsWith(t, err, store.ErrFileState)
		}},
		{"an idempotency key makes one run of an account, at once too", func(t *testing.T, f *fixture) {
			file, made := f.fileOf(t, f.mine.account, 2).ID, make([]runs.Run, 4)
			for i, err := range together(len(made), func(i int) (err error) {
				n := f.newRun(f.mine, file)
				n.IdempotencyKey = "nightly"
				made[i], err = f.CreateRun(t.Context(), f.mine.account, n, f.by(moment(5)))
				return err
			}) {
				succeeds(t, err)
				same(t, made[i], made[0])
			}
			runs, _, err := f.ListRuns(t.Context(), f.mine.account, runs.Filter{}, store.Page{Limit: 9})
			succeeds(t, err)
			same(t, len(runs), 1)
			keyed, err := f.RunOfKey(t.Context(), f.mine.account, "nightly")
			succeeds(t, err)
			same(t, keyed, made[0])
			_, err = f.RunOfKey(t.Context(), f.theirs.account, "nightly")
			failsWith(t, err, store.ErrNotFound)
		}},
		{"runs are listed newest first, by prism and by status", func(t *testing.T, f *fixture) {
			first, second := f.run(t, f.mine, moment(5), 1), f.run(t, f.mine, moment(6), 1, 2)
			f.run(t, f.theirs, moment(6), 1)
			second = f.act(t, second.ID, store.RunPause, moment(7))
			list := func(filter runs.Filter, page store.Page) []runs.Run {
				runs, _, err := f.ListRuns(t.Context(), f.mine.account, filter, page)
				succeeds(t, err)
				return runs
			}
			same(t, list(runs.Filter{}, store.Page{Limit: 9}), []runs.Run{second, first})
			same(t, list(runs.Filter{}, store.Page{Limit: 9, After: second.ID.UUID}), []runs.Run{first})
			same(t, list(runs.Filter{Status: prism.RunPaused}, store.Page{Limit: 9}), []runs.Run{second})
			same(t, list(runs.Filter{Prism: f.mine.prism.ID}, store.Page{Limit: 1}), []runs.Run{second})
			same(t, len(list(runs.Filter{Prism: f.addPrism(t, f.mine, "other").ID}, store.Page{Limit: 9})), 0)
		}},
		{"a run that nobody works on pauses, goes on and is cancelled at once, and twice is once", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 2, 1)
			for range 2 {
				same(t, f.act(t, r.ID, store.RunPause, moment(6)).Status, prism.RunPaused)
			}
			same(t, f.lease(t, moment(7)), nil)
			for range 2 {
				same(t, f.act(t, r.ID, store.RunResume, moment(8)).Status, prism.RunQueued)
			}
			for range 2 {
				cancelled := f.act(t, r.ID, store.RunCancel, moment(9))
				same(t, cancelled.Status, prism.RunCancelled)
				same(t, *cancelled.FinishedAt, moment(9))
			}
			f.counts(t, r.ID, "ccc")
			for _, a := range []store.Action{store.RunPause, store.RunResume, store.RunRetry} {
				_, err := f.ActOnRun(t.Context(), f.mine.account, r.ID, a, f.by(moment(9)))
				failsWith(t, err, store.ErrRunOver)
			}
			var actions []store.Action
			entries, _, err := f.ListAudit(t.Context(), f.mine.account, audit.Filter{}, store.Page{Limit: 4})
			succeeds(t, err)
			for _, e := range entries {
				actions = append(actions, e.Action)
				same(t, e.Object, store.Object{Kind: store.RunObject, ID: r.ID.UUID, Name: r.Name})
			}
			slices.Sort(actions)
			same(t, actions, []store.Action{store.RunCancel, store.RunCreate, store.RunPause, store.RunResume})
		}},
		{"a run pauses with a reason if it is not over, and goes on without it", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 2, 1)
			failsWith(t, f.PauseRun(t.Context(), f.theirs.account, r.ID, "Why.", moment(6)), store.ErrNotFound)
			for range 2 {
				succeeds(t, f.PauseRun(t.Context(), f.mine.account, r.ID, "Why.", moment(6)))
				f.has(t, r.ID, prism.RunPaused)
				same(t, f.found(t, r.ID).Reason, "Why.")
			}
			same(t, f.act(t, r.ID, store.RunResume, moment(8)).Reason, "")
			f.act(t, r.ID, store.RunCancel, moment(9))
			succeeds(t, f.PauseRun(t.Context(), f.mine.account, r.ID, "Why.", moment(10)))
			f.has(t, r.ID, prism.RunCancelled)
		}},
		{"a run waits for the calls under way to pause or to be cancelled, for 16 seconds", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 2, 1)
			l := f.leased(t, moment(10))
			f.has(t, r.ID, prism.RunRunning)
			same(t, f.act(t, r.ID, store.RunPause, moment(20)).Status, prism.RunPausing)
			states, err := f.RenewLeases(t.Context(), []contract.Lease{l.Lease}, moment(30), moment(30).Add(contract.LeaseTime))
			succeeds(t, err)
			same(t, states[0].Stop, true)
			f.tend(t, moment(40))
			f.has(t, r.ID, prism.RunPausing)
			f.saves(t, l, "o-", moment(50)) // those under way are saved
			f.tend(t, moment(60))
			f.has(t, r.ID, prism.RunPaused)
			f.counts(t, r.ID, "opp")
			f.act(t, r.ID, store.RunResume, moment(70))
			f.has(t, r.ID, prism.RunRunning)
			l = f.leased(t, moment(80))
			same(t, f.act(t, r.ID, store.RunCancel, moment(90)).Status, prism.RunCancelling)
			f.tend(t, moment(90).Add(runs.StopWait-time.Millisecond))
			f.has(t, r.ID, prism.RunCancelling)
			f.counts(t, r.ID, "opp")
			f.tend(t, moment(90).Add(runs.StopWait))
			f.has(t, r.ID, prism.RunCancelled)
			f.counts(t, r.ID, "occ")
			failsWith(t, f.SaveRows(t.Context(), outcomes(l, "oo"), moment(100).Add(runs.StopWait)), contract.ErrLeaseLost)
		}},
		{"a run is finished when each of its rows has its outcome", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 2, 1)
			f.saves(t, f.leased(t, moment(10)), "oi", moment(11))
			l := f.leased(t, moment(12))
			succeeds(t, f.SaveRows(t.Context(), outcomes(l, "f"), moment(13)))
			f.tend(t, moment(14))
			f.has(t, r.ID, prism.RunRunning) // the lease has not ended
			f.saves(t, l, "", moment(15))
			f.tend(t, moment(16))
			finished := f.found(t, r.ID)
			same(t, finished.Status, prism.RunFinished)
			same(t, []time.Time{*finished.StartedAt, *finished.FinishedAt}, []time.Time{moment(10), moment(16)})
			for _, a := range []store.Action{store.RunPause, store.RunResume, store.RunCancel} {
				_, err := f.ActOnRun(t.Context(), f.mine.account, r.ID, a, f.by(moment(17)))
				failsWith(t, err, store.ErrRunOver)
			}
			_, err := f.SetRunLimits(t.Context(), f.mine.account, r.ID, api.RunLimits{}, f.by(moment(17)))
			failsWith(t, err, store.ErrRunOver)
		}},
		{"a file is kept while a run that is not over uses it", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 1)
			late := moment(1).Add(files.KeepTime + time.Hour)
			expired := func() int {
				files, err := f.ExpiredFiles(t.Context(), late, 9)
				succeeds(t, err)
				return len(files)
			}
			failsWith(t, f.DeleteFile(t.Context(), f.mine.account, r.File, f.by(moment(6))), store.ErrFileUsed)
			failsWith(t, f.ReadAgain(t.Context(), f.mine.account, r.File, []byte("{}"), moment(6)), store.ErrFileUsed)
			same(t, expired(), 0)
			f.saves(t, f.leased(t, moment(7)), "f", moment(7))
			f.tend(t, moment(8))
			late = moment(8).Add(files.KeepTime - time.Millisecond)
			same(t, expired(), 0) // it is kept 30 days from the end of the run
			late = moment(8).Add(files.KeepTime)
			same(t, expired(), 1)
			succeeds(t, f.DeleteFile(t.Context(), f.mine.account, r.File, f.by(moment(9))))
			_, err := f.ActOnRun(t.Context(), f.mine.account, r.ID, store.RunRetry, f.by(moment(9)))
			failsWith(t, err, store.ErrFileState)
		}},
		{"actions and limits find no run of another account", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 1)
			_, err := f.ActOnRun(t.Context(), f.theirs.account, r.ID, store.RunCancel, f.by(moment(6)))
			limited := func() error {
				_, err := f.SetRunLimits(t.Context(), f.theirs.account, r.ID, api.RunLimits{}, f.by(moment(6)))
				return err
			}
			if !errors.Is(err, store.ErrNotFound) || !errors.Is(limited(), store.ErrNotFound) {
				t.Errorf("got errors %v and %v, want %v", err, limited(), store.ErrNotFound)
			}
		}},
	}
}
