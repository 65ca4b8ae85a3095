package runs

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/backoff"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
)

// The pauses after which a row that was not taken, or a lease that failed, is tried again.
const firstPause, maxPause = 100 * time.Millisecond, 5 * time.Second

const (
	// trusted is how long after its renewal a lease is good enough to begin rows: a call and a save still fit (spec: worker-leases).
	trusted = contract.LeaseTime - 20*time.Second
	// maxHold bounds the wait for limits of the account: they may be changed meanwhile (spec: row-waits).
	maxHold = 5 * time.Second
	// callsEnd and savesEnd are how long a stop waits for calls under way, and then for saves (spec: worker-stop).
	callsEnd, savesEnd = 16 * time.Second, 10 * time.Second
)

// state is what a chunk with rows left waits for.
type state int32

const (
	waiting   state = iota // for a place
	limited                // for the limits of its lease, or for the end of a pause
	overLimit              // for the limits of its account
	ending                 // no further row begins
)

// chunk is a leased chunk. All but left, state and the channels belongs to the goroutine of run.
type chunk struct {
	*contract.Chunk
	*work
	left  atomic.Int32 // rows that have not begun
	state atomic.Int32

	limits  contract.RowLimits
	leaseAt time.Time // of the last renewal
	stopped bool      // begins no row
	giveUp  time.Time // the end of a stop; zero: none

	rows        []int // that have not begun, as places in Rows, last first
	running     int
	ticket      *ticket
	nextAt      time.Time // when the pace of the lease allows a row
	heldTo      time.Time // no row begins before, as one was not taken
	heldWait    backoff.Backoff
	overAccount bool // by the limits of the account

	unsaved unsaved

	renewals chan renewal // of the lease
	rowEnds  chan rowEnd  // has room for all rows
}

// renewal is what results says of a lease, and when it was asked.
type renewal struct {
	contract.LeaseState
	at time.Time
}

// rowEnd is how a row ended.
type rowEnd struct {
	row     int
	outcome contract.RowOutcome
	err     error
}

func newChunk(w *work, leased *contract.Chunk, at time.Time) *chunk {
	if leased.Facts.Version.Hash == (prism.DefinitionHash{}) {
		leased.Facts.Version.Hash, _ = contract.HashDefinition(leased.Facts.Version.Definition)
	}
	c := &chunk{
		Chunk: leased, work: w, limits: leased.RowLimits, leaseAt: at, nextAt: at,
		rows: make([]int, len(leased.Rows)), unsaved: unsaved{work: w, lease: leased.Lease, done: make(chan error, 1)},
		renewals: make(chan renewal, 1), rowEnds: make(chan rowEnd, len(leased.Rows)),
	}
	for i := range c.rows {
		c.rows[i] = len(c.rows) - 1 - i
	}
	c.left.Store(int32(len(c.rows))) //nolint:gosec // a chunk has few rows
	if c.limits != (contract.RowLimits{}) {
		c.state.Store(int32(limited)) // until it proves to be fast
	}
	return c
}

// remaining is how many rows have not begun, and what they wait for.
func (c *chunk) remaining() (left int, s state) { return int(c.left.Load()), state(c.state.Load()) }

// renewed tells the chunk what became of its lease. Only the newest renewal counts.
func (c *chunk) renewed(r renewal) {
	select {
	case <-c.renewals:
	default:
	}
	c.renewals <- r
}

// run answers the rows until all are saved, the lease is lost, or the stop takes too long.
func (c *chunk) run(ctx context.Context, stopping <-chan struct{}) {
	ctx, span := c.tracer.Start(fair.With(ctx, c.Account.String()), "answer rows", trace.WithNewRoot())
	defer span.End()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := time.Now()
		next, wake := c.mayBegin(now)
		c.publish(next)
		var granted chan struct{}
		if next == waiting {
			if c.ticket == nil {
				c.ticket = c.pace.ask(c.Facts.Version.Model)
			}
			granted = c.ticket.granted
		} else {
			c.withdraw()
		}
		finished := c.running == 0 && (c.stopped || len(c.rows) == 0)
		if finished && (c.unsaved.lost || c.unsaved.ends) || !c.giveUp.IsZero() && !now.Before(c.giveUp) {
			c.withdraw()
			return
		}
		wake = earliest(wake, c.giveUp, c.unsaved.save(ctx, now, finished))
		if wake.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(wake.Sub(now))
		}
		select {
		case <-granted:
			select {
			case <-stopping: // both at once: nothing begins
			default:
				c.begin(ctx)
			}
		case e := <-c.rowEnds:
			c.take(ctx, e)
		case r := <-c.renewals:
			c.renew(r)
		case err := <-c.unsaved.done:
			c.unsaved.saved(ctx, err)
			c.stopped = c.stopped || c.unsaved.lost
		case <-timer.C:
		case <-stopping:
			stopping, c.stopped, c.giveUp = nil, true, time.Now().Add(callsEnd+savesEnd)
		}
	}
}

// mayBegin is what the next row waits for, and when that is over if time alone ends it.
func (c *chunk) mayBegin(now time.Time) (next state, wake time.Time) {
	switch {
	case c.stopped || len(c.rows) == 0:
		return ending, time.Time{}
	case now.Before(c.heldTo):
		if c.overAccount {
			return overLimit, c.heldTo
		}
		return limited, c.heldTo
	case c.unsaved.failing(), now.Sub(c.leaseAt) >= trusted, c.limits.Concurrency > 0 && c.running >= int(c.limits.Concurrency):
		return limited, time.Time{}
	case c.limits.RowsPerSecond > 0 && now.Before(c.nextAt):
		return limited, c.nextAt
	}
	return waiting, c.leaseAt.Add(trusted)
}

// publish has the worker lease more if this chunk needs less.
func (c *chunk) publish(s state) {
	left := int32(len(c.rows)) //nolint:gosec // a chunk has few rows
	before, was := c.left.Swap(left), c.state.Swap(int32(s))
	if before != left || was != int32(s) {
		c.reconsider()
	}
}

func (c *chunk) withdraw() {
	if c.ticket != nil {
		c.pace.withdraw(c.ticket)
		c.ticket = nil
	}
}

// begin has the next row answered, which has a place.
func (c *chunk) begin(ctx context.Context) {
	began, row, place := time.Now(), c.rows[len(c.rows)-1], c.ticket
	c.rows, c.ticket = c.rows[:len(c.rows)-1], nil
	c.running++
	if c.limits.RowsPerSecond > 0 {
		c.nextAt = later(c.nextAt, began.Add(-lateness)).Add(c.interval())
	}
	go func() {
		e := rowEnd{row: row}
		e.outcome, e.err = c.answer(ctx, c.Rows[row])
		if s := e.outcome.Save; s != nil {
			c.pace.noteAnswer(time.Since(began)-time.Duration(s.Outcome.TookMS)*time.Millisecond, s.Outcome.CallsCome)
		}
		c.pace.ended(place, began, howEnded(e.outcome, e.err))
		c.rowEnds <- e
	}()
}

// answer answers a row, whose labels are saved with its result (spec: run-labels). It returns a panic as an error, since a panic
// would end the process. The value of the panic is not logged, since it may hold a cell.
func (c *chunk) answer(ctx context.Context, row contract.ChunkRow) (outcome contract.RowOutcome, err error) {
	defer func() {
		if r := recover(); r != nil {
			c.log.ErrorContext(ctx, "answering a row panicked", "run", c.Run, "row", row.Row, "type", fmt.Sprintf("%T", r),
				"stack", string(debug.Stack()))
			err = errors.New("runs: answering a row panicked")
		}
	}()
	outcome, err = c.answers.AnswerRow(ctx, c.Facts, row)
	outcome.RowLabels = row.RowLabels
	return outcome, err
}

// howEnded returns what the end of a row says about its model.
func howEnded(o contract.RowOutcome, err error) modelSignal {
	_, over := errors.AsType[*apierr.RetryAfterError](err)
	switch {
	case over: // a limit of the account
		return notAsked
	case errors.Is(err, contract.ErrUnavailable), errors.Is(err, apierr.Unavailable()):
		return overloaded
	case err != nil || o.Save == nil:
		return notAsked
	case o.Save.Outcome.Overloaded:
		return overloaded
	}
	return answered
}

// take takes the end of a row. A row without an outcome begins again after a pause (spec: row-waits).
func (c *chunk) take(ctx context.Context, e rowEnd) {
	c.running--
	now := time.Now()
	if e.err == nil {
		c.unsaved.add(e.outcome, now)
		c.heldWait = 0
		return
	}
	c.metrics.rows.WithLabelValues(rowWaited).Inc()
	c.rows = append(c.rows, e.row)
	over, isOver := errors.AsType[*apierr.RetryAfterError](e.err)
	switch {
	case isOver:
		c.overAccount = true
		c.heldTo = later(c.heldTo, now.Add(min(time.Duration(over.Seconds)*time.Second, maxHold)))
	case !now.Before(c.heldTo): // rows that failed together are one pause
		if c.heldWait == 0 {
			c.log.WarnContext(ctx, "a row was not taken", "run", c.Run, "row", c.Rows[e.row].Row, "error", e.err)
		}
		c.overAccount = false
		c.heldTo = now.Add(c.heldWait.Next(firstPause, maxPause))
	}
}

// renew takes what became of the lease (spec: worker-pauses, run-pace).
func (c *chunk) renew(r renewal) {
	if r.Stop {
		c.stopped = true
		return
	}
	c.leaseAt = later(c.leaseAt, r.at)
	if r.RowLimits != c.limits {
		c.limits = r.RowLimits
		if c.limits.RowsPerSecond > 0 {
			c.nextAt = earliest(c.nextAt, time.Now().Add(c.interval()))
		}
	}
}

// maxInterval bounds the time between rows, which is more than a Duration can hold for a very small limit.
const maxInterval = 365 * 24 * time.Hour

// interval is the time between rows.
func (c *chunk) interval() time.Duration {
	return time.Duration(min(float64(time.Second)/c.limits.RowsPerSecond, float64(maxInterval)))
}
