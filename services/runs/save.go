package runs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/backoff"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
)

const (
	// saveEvery is how long outcomes wait to be saved together (spec: rows-saved-together).
	saveEvery = 100 * time.Millisecond
	// saveTry bounds a try to save.
	saveTry = 5 * time.Second
	// firstSavePause and maxSavePause are the pauses between tries.
	firstSavePause, maxSavePause = 100 * time.Millisecond, 2 * time.Second
)

// work is what a worker's chunks work with.
type work struct {
	leases  contract.Leases
	answers contract.Rows
	log     *slog.Logger
	tracer  trace.Tracer
	pace    *pace
	metrics *metrics
	// more tells that further rows may be able to begin.
	more chan struct{}
}

// reconsider has the worker find out again whether another chunk is wanted.
func (w *work) reconsider() {
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// unsaved are the outcomes of a chunk that are not saved yet. One save is under way at a time.
type unsaved struct {
	*work
	lease    contract.Lease
	lost     bool // the lease is, so nothing is saved
	ready    []contract.RowOutcome
	since    time.Time             // when the first of ready was added
	underWay []contract.RowOutcome // being saved
	saving   bool
	last     bool // the save under way ends the lease
	ends     bool // the lease has ended
	tries    backoff.Backoff
	nextTo   time.Time // of the next try after one that failed
	done     chan error
}

// add adds an outcome.
func (u *unsaved) add(o contract.RowOutcome, now time.Time) {
	if len(u.ready) == 0 {
		u.since = now
	}
	u.ready = append(u.ready, o)
}

// failing tells whether the last try failed. No row begins then, since it may not be saved either.
func (u *unsaved) failing() bool { return u.tries > 0 }

// save begins a save if one is due; finished: all outcomes are there, so that the save ends the lease. Otherwise it returns when
// one will be due, if time alone decides.
func (u *unsaved) save(ctx context.Context, now time.Time, finished bool) (wake time.Time) {
	if u.saving || u.lost || len(u.ready) == 0 && !finished {
		return time.Time{}
	}
	due := u.since.Add(saveEvery)
	if finished {
		due = now
	}
	if due = later(due, u.nextTo); now.Before(due) {
		return due
	}
	n := together(u.ready)
	u.saving, u.last, u.underWay = true, finished && n == len(u.ready), u.ready[:n:n]
	u.ready = append([]contract.RowOutcome(nil), u.ready[n:]...)
	rows := contract.SaveRows{Lease: u.lease, Rows: u.underWay, Done: u.last}
	go func() { u.done <- u.saveRows(ctx, rows) }()
	return time.Time{}
}

// together is how many of the first outcomes are saved in one transaction: as many as have contract.SaveBytes, and at least
// one.
func together(ready []contract.RowOutcome) int {
	size := 0
	for i, o := range ready {
		if size += bytesOf(o); size > contract.SaveBytes && i > 0 {
			return i
		}
	}
	return len(ready)
}

// bytesOf is how large an outcome is in JSON at most, where a byte of a text may take six.
func bytesOf(o contract.RowOutcome) int {
	// A question of what is known of the call, and all else.
	const escaped, question, other = 6, 128, 4 << 10
	n := len(o.Invalid)
	for _, l := range o.Labels {
		n += len(l.Question) + len(l.Value)
	}
	for _, text := range o.InvalidLabels {
		n += len(text)
	}
	if o.Save == nil {
		return escaped*n + other
	}
	questions := 0
	if call := o.Save.Outcome.Call; call != nil {
		questions = len(call.LabelMass) + len(call.Absent) + len(call.Disagreement) + 2*len(call.Rounds)
		for _, a := range call.Absent {
			for _, key := range a.Keys {
				n += len(key) + 1
			}
		}
		if call.Escalation != nil {
			questions += len(call.Escalation.Questions)
		}
	}
	n += len(o.Save.Context) + len(o.Save.Outcome.Error)
	if o.Save.Ref != nil {
		n += len(*o.Save.Ref)
	}
	for _, f := range o.Save.Fields {
		n += len(f.Key) + len(f.Value)
	}
	return escaped*n + 2*len(o.Save.Outcome.Answers) + question*questions + other // answers are Base64
}

// saveRows makes a try to save.
func (w *work) saveRows(ctx context.Context, rows contract.SaveRows) error {
	ctx, cancel := context.WithTimeout(ctx, saveTry)
	defer cancel()
	began := time.Now()
	crash.At(crash.BeforeRows)
	err := w.leases.SaveRows(ctx, rows)
	outcome := failedSave
	switch {
	case err == nil:
		crash.At(crash.AfterRows)
		outcome = savedRows
	case errors.Is(err, contract.ErrLeaseLost):
		outcome = lostLease
	}
	took := time.Since(began)
	w.metrics.saved(outcome, took)
	w.pace.noteSave(took, len(rows.Rows))
	return err
}

// saved takes the end of a save. Outcomes that were not saved are tried again.
func (u *unsaved) saved(ctx context.Context, err error) {
	u.saving = false
	switch {
	case err == nil:
		u.ends, u.tries = u.last, 0
		for _, o := range u.underWay {
			u.metrics.rows.WithLabelValues(outcomeOf(o)).Inc()
		}
	case errors.Is(err, contract.ErrLeaseLost):
		u.ready = nil
		u.lost = true
	default:
		if u.tries == 0 {
			u.log.WarnContext(ctx, "saving rows failed", "run", u.lease.Run, "error", err)
		}
		u.nextTo = time.Now().Add(u.tries.Next(firstSavePause, maxSavePause))
		u.ready = append(u.underWay, u.ready...)
	}
	u.underWay = nil
}

// outcomeOf is the outcome of a row in metrics.
func outcomeOf(o contract.RowOutcome) string {
	switch {
	case o.Save == nil:
		return rowInvalid
	case o.Save.Outcome.Failed():
		return rowFailed
	}
	return rowOK
}
