package runs

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	lockRun = `SELECT id, file_id, name, status, reason, started_at, attempt, retry_from, stopped_at, rows_per_second, concurrency
FROM runs WHERE account_id = $1 AND id = $2`

	setStatus = `UPDATE runs SET status = $3, reason = $4, stopped_at = $5, finished_at = $6 WHERE account_id = $1 AND id = $2`
	keepFile  = `UPDATE files SET expires_at = $3
WHERE account_id = $1 AND id = (SELECT file_id FROM runs WHERE account_id = $1 AND id = $2) AND status = 'ready' AND expires_at < $3`

	// setGoing also sets watched_from, so that rows that were saved before do not pause the run again.
	setGoing = `UPDATE runs SET status = $3, reason = '', stopped_at = NULL, finished_at = NULL, leased_at = $4, watched_from = $4
WHERE account_id = $1 AND id = $2`
	// While retry_from is set, which is the next chunk to be retried, no chunk is folded.
	setRetrying      = `UPDATE runs SET attempt = attempt + 1, watched_from = $3, ` + unfold + ` WHERE account_id = $1 AND id = $2`
	setRetryFrom     = `UPDATE runs SET retry_from = $3 WHERE account_id = $1 AND id = $2`
	selectChunks     = `SELECT chunks FROM runs WHERE account_id = $1 AND id = $2`
	selectPrismOfRun = `SELECT prism_id FROM runs WHERE account_id = $1 AND id = $2`
	setRunLimits     = `UPDATE runs SET rows_per_second = $3, concurrency = $4 WHERE account_id = $1 AND id = $2`

	chunkLeased  = `SELECT EXISTS (SELECT 1 FROM run_chunks WHERE account_id = $1 AND run_id = $2 AND token IS NOT NULL)`
	chunkPending = `SELECT EXISTS (SELECT 1 FROM run_chunks WHERE account_id = $1 AND run_id = $2 AND pending > 0)`
	chunkFailed  = `SELECT EXISTS (SELECT 1 FROM run_chunks WHERE account_id = $1 AND run_id = $2 AND failed > 0)`

	cancelChunks = `UPDATE run_chunks SET states = replace(replace(states, 'p', 'c'), 'q', 'c'), cancelled = cancelled + pending, pending = 0
WHERE account_id = $1 AND run_id = $2 AND number IN (
	SELECT number FROM run_chunks WHERE account_id = $1 AND run_id = $2 AND pending > 0 AND token IS NULL ORDER BY number LIMIT $3
)
RETURNING number`

	// retryChunks lets the worker of a leased chunk finish its attempt first.
	retryChunks = `UPDATE run_chunks SET pending = pending + failed, failed = 0,
	states = replace(states, 'f', CASE WHEN token IS NULL THEN 'p' ELSE 'q' END),
	attempt = attempt + CASE WHEN token IS NULL THEN 1 ELSE 0 END, begun_at = CASE WHEN token IS NULL THEN NULL ELSE begun_at END
WHERE account_id = $1 AND run_id = $2 AND number >= $3 AND number < $4 AND failed > 0`
)

// lockedRun is a run whose row is locked.
type lockedRun struct {
	Run
	attempt   int32
	retryFrom *int32
	stoppedAt *time.Time
}

func readLockedRun(r *sqldb.Row) lockedRun {
	l := lockedRun{Run: Run{
		ID: prism.RunID{UUID: r.UUID()}, File: prism.FileID{UUID: r.UUID()}, Name: r.Text(), Status: prism.RunStatus(r.Text()),
		Reason: r.Text(), StartedAt: r.OptionalTime(),
	}}
	l.attempt = r.Int32()
	if from := r.OptionalInt(); from != nil {
		number := int32(*from) //nolint:gosec // the number of a chunk
		l.retryFrom = &number
	}
	l.stoppedAt = r.OptionalTime()
	l.RowsPerSecond, l.Concurrency = r.Float(), r.Int32()
	return l
}

// runChange is a change of a run, in a transaction that has locked the run's row.
type runChange struct {
	run     sqldb.Run
	account prism.AccountID
	lockedRun
}

// changeRun calls fn in a transaction that has locked the run against other changes.
func (s SQL) changeRun(
	ctx context.Context, operation string, account prism.AccountID, id prism.RunID, fn func(*runChange) error,
) error {
	return s.Transaction(ctx, operation, func(run sqldb.Run) error {
		c := &runChange{run: run, account: account}
		args := []any{account.UUID, id.UUID}
		if err := run(ctx, sqldb.Statement{Text: lockRun + s.Locking(false), Args: args}, sqldb.ReadRow(&c.lockedRun, readLockedRun)); err != nil {
			return err
		}
		return fn(c)
	})
}

// do executes a statement with the account, the run and more as arguments.
func (c *runChange) do(ctx context.Context, text string, read sqldb.Reader, more ...any) error {
	return c.run(ctx, sqldb.Statement{Text: text, Args: append([]any{c.account.UUID, c.ID.UUID}, more...)}, read)
}

func (c *runChange) is(ctx context.Context, text string) (yes bool, err error) {
	err = c.do(ctx, text, sqldb.ReadRow(&yes, (*sqldb.Row).Bool))
	return yes, err
}

// ActOnRun implements Store.
func (s SQL) ActOnRun(
	ctx context.Context, account prism.AccountID, id prism.RunID, a store.Action, by store.By,
) (Run, error) {
	act := map[store.Action]func(*runChange) (changed bool, err error){
		store.RunPause:  func(c *runChange) (bool, error) { return c.pause(ctx, "", by.At) },
		store.RunResume: func(c *runChange) (bool, error) { return c.resume(ctx, by.At) },
		store.RunCancel: func(c *runChange) (bool, error) { return c.cancel(ctx, by.At) },
		store.RunRetry:  func(c *runChange) (bool, error) { return s.retryRun(ctx, c, by.At) },
	}[a]
	err := s.changeRun(ctx, "act_on_run", account, id, func(c *runChange) error {
		if act == nil {
			return errors.New("store: an unknown action on a run")
		}
		changed, err := act(c)
		if err != nil || !changed {
			return err
		}
		return recordRun(ctx, c.run, account, by, a, c.Run, sqldb.NoDetail{})
	})
	if err != nil {
		return Run{}, err
	}
	return s.ReadRun(ctx, account, id)
}

// PauseRun implements Store.
func (s SQL) PauseRun(
	ctx context.Context, account prism.AccountID, id prism.RunID, reason string, at time.Time,
) error {
	err := s.changeRun(ctx, "pause_run", account, id, func(c *runChange) error {
		_, err := c.pause(ctx, reason, at)
		return err
	})
	if errors.Is(err, store.ErrRunOver) {
		return nil
	}
	return err
}

func (c *runChange) pause(ctx context.Context, reason string, at time.Time) (changed bool, err error) {
	switch c.Status {
	case prism.RunPausing, prism.RunPaused:
		return false, nil
	case prism.RunQueued, prism.RunRunning:
		return true, c.stop(ctx, prism.RunPausing, reason, at)
	default: // it is over, or soon will be
		return false, store.ErrRunOver
	}
}

func (c *runChange) resume(ctx context.Context, at time.Time) (changed bool, err error) {
	switch c.Status {
	case prism.RunQueued, prism.RunRunning:
		return false, nil
	case prism.RunPausing, prism.RunPaused:
		status := prism.RunQueued
		if c.StartedAt != nil {
			status = prism.RunRunning
		}
		return true, c.do(ctx, setGoing, sqldb.NoRow, string(status), at)
	default: // it is over, or soon will be
		return false, store.ErrRunOver
	}
}

func (c *runChange) cancel(ctx context.Context, at time.Time) (changed bool, err error) {
	switch c.Status {
	case prism.RunCancelling, prism.RunCancelled:
		return false, nil
	case prism.RunFinished:
		return false, store.ErrRunOver
	default: // it is not over
		return true, c.stop(ctx, prism.RunCancelling, "", at)
	}
}

// stop makes a run pausing or cancelling, and goes on with finishStop, in case no call is under way.
func (c *runChange) stop(ctx context.Context, status prism.RunStatus, reason string, at time.Time) error {
	if err := c.do(ctx, setStatus, sqldb.NoRow, string(status), reason, at, nil); err != nil {
		return err
	}
	c.Status, c.Reason, c.stoppedAt = status, reason, &at
	_, err := c.finishStop(ctx, at)
	return err
}

// finishStop ends the stop of a run when no chunk is leased. A pausing run becomes paused, or finished if each row has its
// outcome (spec: run-states). A cancelling run gets its waiting rows
// cancelled, PartChunks chunks at a time, and becomes cancelled when none is left.
func (c *runChange) finishStop(ctx context.Context, at time.Time) (changed bool, err error) {
	leased, err := c.is(ctx, chunkLeased)
	if err != nil || leased {
		return false, err
	}
	if c.Status == prism.RunPausing {
		pending, err := c.is(ctx, chunkPending)
		switch {
		case err != nil:
			return false, err
		case !pending && c.retryFrom == nil:
			return true, c.over(ctx, prism.RunFinished, at)
		}
		if err := c.do(ctx, setStatus, sqldb.NoRow, string(prism.RunPaused), c.Reason, nil, nil); err != nil {
			return false, err
		}
		return true, c.tell(ctx, api.RunPaused, at)
	}
	cancelled := 0
	if err := c.do(ctx, cancelChunks, sqldb.CountRows(&cancelled), int64(PartChunks)); err != nil || cancelled == PartChunks {
		return true, err // TendRuns goes on
	}
	if err := c.do(ctx, setRetryFrom, sqldb.NoRow, nil); err != nil {
		return false, err
	}
	return true, c.over(ctx, prism.RunCancelled, at)
}

// over ends the run. Its file is kept from then on as long as one that is new (spec: file-expiry).
func (c *runChange) over(ctx context.Context, status prism.RunStatus, at time.Time) error {
	if err := c.do(ctx, setStatus, sqldb.NoRow, string(status), "", nil, at); err != nil {
		return err
	}
	if err := c.do(ctx, keepFile, sqldb.NoRow, at.Add(files.KeepTime)); err != nil {
		return err
	}
	return c.tell(ctx, map[prism.RunStatus]api.EventType{prism.RunFinished: api.RunFinished, prism.RunCancelled: api.RunCancelled}[status], at)
}

// tell tells what happened to the run (spec: event-types).
func (c *runChange) tell(ctx context.Context, happened api.EventType, at time.Time) error {
	e := store.NewEvent{Type: happened, At: at, Subject: c.ID.UUID}
	if err := c.do(ctx, selectPrismOfRun, sqldb.ReadRow(&e.Prism.UUID, (*sqldb.Row).UUID)); err != nil {
		return err
	}
	return sqldb.Tell(ctx, c.run, c.account, e)
}

// retryRun has the failed rows sent again. A finished run becomes queued; a paused one stays paused.
func (s SQL) retryRun(ctx context.Context, c *runChange, at time.Time) (retried bool, err error) {
	if c.Status == prism.RunCancelling || c.Status == prism.RunCancelled {
		return false, store.ErrRunOver
	}
	if c.retryFrom != nil {
		return false, nil // the last retry is still being prepared
	}
	failed, err := c.is(ctx, chunkFailed)
	if err != nil {
		return false, err
	}
	if !failed {
		pending, err := c.is(ctx, chunkPending)
		if err == nil && (!pending || c.attempt == 1) {
			err = store.ErrNoFailedRows
		}
		return false, err // nil for a repeat, whose rows are pending already
	}
	if c.Status == prism.RunFinished {
		if err := roomForRun(ctx, c.run, c.account); err != nil {
			return false, err
		}
		// As in CreateRun: either the file is deleted already, or it stays from now on.
		lock := sqldb.Statement{Text: lockReadyFile + s.Locking(false), Args: []any{c.account.UUID, c.File.UUID}}
		if err := c.run(ctx, lock, sqldb.SomeRow); errors.Is(err, store.ErrNotFound) {
			return false, store.ErrFileState
		} else if err != nil {
			return false, err
		}
		if err := c.do(ctx, setGoing, sqldb.NoRow, string(prism.RunQueued), at); err != nil {
			return false, err
		}
	}
	if err := c.do(ctx, setRetrying, sqldb.NoRow, at); err != nil {
		return false, err
	}
	var first int32
	c.retryFrom = &first
	return true, c.retryPart(ctx)
}

// retryPart makes the failed rows of the next chunks pending, in their next attempt. TendRuns goes on.
func (c *runChange) retryPart(ctx context.Context) error {
	from := *c.retryFrom
	if err := c.do(ctx, retryChunks, sqldb.NoRow, from, from+PartChunks); err != nil {
		return err
	}
	var chunks int64
	if err := c.do(ctx, selectChunks, sqldb.ReadRow(&chunks, (*sqldb.Row).Int)); err != nil {
		return err
	}
	next := from + PartChunks
	if int64(next) >= chunks {
		return c.do(ctx, setRetryFrom, sqldb.NoRow, nil)
	}
	return c.do(ctx, setRetryFrom, sqldb.NoRow, next)
}

type runLimitsDetail struct {
	RowsPerSecond float64 `json:"rows_per_second"`
	Concurrency   int32   `json:"concurrency"`
}

// SetRunLimits implements Store.
func (s SQL) SetRunLimits(
	ctx context.Context, account prism.AccountID, id prism.RunID, l api.RunLimits, by store.By,
) (Run, error) {
	err := s.changeRun(ctx, "set_run_limits", account, id, func(c *runChange) error {
		switch c.Status {
		case prism.RunCancelling, prism.RunCancelled, prism.RunFinished:
			return store.ErrRunOver
		default: // it has or may have rows to come, which the limits are for
		}
		limits := runLimitsDetail{c.RowsPerSecond, c.Concurrency}
		was := limits
		if l.RowsPerSecond != nil {
			limits.RowsPerSecond = *l.RowsPerSecond
		}
		if l.Concurrency != nil {
			limits.Concurrency = int32(*l.Concurrency) //nolint:gosec // at most 10,000
		}
		if limits == was {
			return nil
		}
		if err := c.do(ctx, setRunLimits, sqldb.NoRow, limits.RowsPerSecond, limits.Concurrency); err != nil {
			return err
		}
		return recordRun(ctx, c.run, account, by, store.RunLimits, c.Run, limits)
	})
	if err != nil {
		return Run{}, err
	}
	return s.ReadRun(ctx, account, id)
}
