package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// A round trip costs both sides more than the statement of the hot path that it carries: system calls on the socket, and
// somebody to wake. So calls that come at the same time share one. Nobody is made to wait for others to come: while few
// round trips are under way a call is sent at once and alone; one that finds more of them waits for the next to end, and
// then goes with all that waited with it. How many a group has follows from how busy Prism is.
const (
	// lookupTurns is how many round trips with look-ups make the next one wait. With 2, Postgres answers one group while
	// results decodes another. Each more made groups smaller, and a read 4 to 7% dearer: 157 µs of processor time in all
	// processes with 1, 168 with 2, 174 with 3, 187 with 4, and 253 when each look-up went alone.
	lookupTurns = 2
	// groupCalls bounds a group, for a call waits for all before it. What each costs hardly falls any more beyond 16.
	groupCalls = 32
	// saveTurns is likewise for saves, which wait for the disk. 1 saved 5 to 10% of a create's processor time more, but
	// has a save that comes alone wait for the one before it.
	saveTurns = 2
	// groupBytes is when a group of saves is large enough.
	groupBytes = 1 << 20
	// slow is when a round trip does not make others wait any more. Postgres may read from its disk for each statement, or
	// may be gone: then many connections help, as many as the pool has.
	slow = 10 * time.Millisecond
)

// call is a statement that finds one row or none.
type call struct {
	statement string
	args      []any
	// scan reads the row, in a goroutine of any caller. An error of it is the driver's, pgx.ErrNoRows or isOurs.
	scan func(pgx.Row) error

	// What tells saves apart.
	account, id prism.UUID
	key         string // the idempotency key, or none
	bytes       int    // of the arguments

	group *group // since it was sent; guarded by pipelines.mu
	over  atomic.Bool
	done  chan error // has room for the one answer
}

// contends tells whether two saves touch the same row, so that one of them depends on how the other one ends.
func (c *call) contends(with *call) bool {
	return c.account == with.account && (c.id == with.id || c.key != "" && c.key == with.key)
}

// before is an order in which no two groups wait for each other.
func (c *call) before(with *call) int {
	return cmp.Or(bytes.Compare(c.account[:], with.account[:]), cmp.Compare(c.key, with.key), bytes.Compare(c.id[:], with.id[:]))
}

// group is calls of one round trip.
type group struct {
	calls  []*call
	open   atomic.Int32 // those that have no answer and whose callers wait for one
	cancel context.CancelFunc
}

// pipe is *pgxpool.Conn.
type pipe interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	Release()
}

// pipelines sends calls that come at the same time as one pipeline, with one Sync at its end: PgBouncer lends it one
// connection, and Postgres runs it as one transaction.
type pipelines struct {
	acquire       func(context.Context) (pipe, error)
	acquireWait   time.Duration
	statementWait time.Duration
	most          int  // turns
	saves         bool // no answer is given before all are committed

	mu      sync.Mutex
	turns   []*turn // those under way that are not slow; at least one when calls wait
	waiting []*call // not yet sent
}

// turn is round trips that follow each other.
type turn struct {
	sent time.Time // zero while it has no connection
}

// errAlone tells a caller that its group has failed for a reason that need not be its own, and has done nothing.
var errAlone = errors.New("postgres: to be sent again, alone")

// unsentError is why a call was never sent.
type unsentError struct{ error }

func (e unsentError) Unwrap() error { return e.error }

// do runs alone at once, or sends c with others. It is answered by then, or unsent, or lost: what alone would return.
func (p *pipelines) do(ctx context.Context, operation string, c *call, alone func() error) error {
	if trace.SpanFromContext(ctx).IsRecording() {
		return alone() // its span is to show its statement
	}
	if t := p.begin(ctx, c); t != nil {
		defer func() {
			if p.goesOn(t) {
				go p.serve(context.WithoutCancel(ctx), t)
			}
		}()
		return alone()
	}
	err := p.wait(ctx, c)
	if errors.Is(err, errAlone) || errors.Is(err, errRaced) {
		return alone()
	}
	if unsent, ok := errors.AsType[unsentError](err); ok {
		return unavailable(operation, unsent.error)
	}
	return translate(operation, err)
}

// begin takes a turn for c, or has it wait for one.
func (p *pipelines) begin(ctx context.Context, c *call) *turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if len(p.turns) == p.most {
		p.turns = slices.DeleteFunc(p.turns, func(t *turn) bool { return !t.sent.IsZero() && now.Sub(t.sent) > slow })
	}
	var t *turn
	if len(p.turns) < p.most {
		t = &turn{sent: now}
		p.turns = append(p.turns, t)
		if len(p.waiting) == 0 {
			return t
		}
	}
	c.done = make(chan error, 1)
	p.waiting = append(p.waiting, c)
	if t != nil {
		t.sent = time.Time{}
		go p.serve(context.WithoutCancel(ctx), t)
	}
	return nil
}

// goesOn ends a round trip. It tells whether the turn has another one to make.
func (p *pipelines) goesOn(t *turn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.turns, t)
	if i >= 0 && len(p.waiting) == 0 {
		p.turns = slices.Delete(p.turns, i, i+1)
		return false
	}
	t.sent = time.Time{}
	return i >= 0 // another one has taken the place of a slow one
}

// wait is for c's answer.
func (p *pipelines) wait(ctx context.Context, c *call) error {
	patience := time.NewTimer(p.acquireWait)
	defer patience.Stop()
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		return p.leave(ctx, c)
	case <-patience.C:
		if p.withdrawn(c) {
			return unsentError{context.DeadlineExceeded}
		}
	}
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		return p.leave(ctx, c)
	}
}

// leave gives c up. When it was sent, the last one to leave ends its group.
func (p *pipelines) leave(ctx context.Context, c *call) error {
	if p.withdrawn(c) {
		return unsentError{ctx.Err()}
	}
	if c.group.without(c) {
		c.group.cancel()
	}
	return ctx.Err()
}

// withdrawn takes c back unless it is too late.
func (p *pipelines) withdrawn(c *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.waiting, c)
	if i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
	return i >= 0
}

// serve makes round trips until no call waits.
func (p *pipelines) serve(ctx context.Context, t *turn) {
	for more := true; more; more = p.goesOn(t) {
		p.roundTrip(ctx, t)
	}
}

func (p *pipelines) roundTrip(ctx context.Context, t *turn) {
	conn, err := p.connection(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return // whoever waited as long has left
	}
	ctx, cancel := context.WithTimeout(ctx, p.statementWait)
	defer cancel()
	g := p.take(t, cancel)
	if err != nil {
		g.end(unsentError{err})
		return
	}
	defer conn.Release() // closes it when a panic or an end of ctx has left it in the middle of an answer
	if len(g.calls) == 0 {
		return
	}
	defer func() {
		if recover() != nil {
			g.end(errAlone) // so that whoever brought it about meets it, and nobody else
		}
	}()
	p.send(ctx, conn, g)
}

func (p *pipelines) connection(ctx context.Context) (pipe, error) {
	ctx, cancel := context.WithTimeout(ctx, p.acquireWait)
	defer cancel()
	return p.acquire(ctx)
}

// take is the next group, which only its connection's end keeps from being sent now.
func (p *pipelines) take(t *turn, cancel context.CancelFunc) *group {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.sent = time.Now()
	g := &group{cancel: cancel}
	size := 0
	p.waiting = slices.DeleteFunc(p.waiting, func(c *call) bool {
		if len(g.calls) == groupCalls || size > groupBytes || p.saves && slices.ContainsFunc(g.calls, c.contends) {
			return false // it goes with the next
		}
		g.calls, size = append(g.calls, c), size+c.bytes
		return true
	})
	if p.saves {
		slices.SortFunc(g.calls, (*call).before)
	}
	for _, c := range g.calls {
		c.group = g
	}
	g.open.Store(int32(len(g.calls))) //nolint:gosec // groupCalls at most
	return g
}

// send answers each look-up as soon as its row is there, and saves when they are committed.
//
// Under READ COMMITTED each statement of the transaction has a snapshot of its own, taken when Postgres comes to it. So it
// sees what was committed before its call, as it would alone; and what the group has saved before it, which contends with
// nothing in it. Under a stricter level all have the first one's snapshot, which is younger than each call, too.
func (p *pipelines) send(ctx context.Context, conn pipe, g *group) {
	batch := &pgx.Batch{QueuedQueries: make([]*pgx.QueuedQuery, 0, len(g.calls))}
	for _, c := range g.calls {
		batch.Queue(c.statement, c.args...)
	}
	results := conn.SendBatch(ctx, batch)
	if p.saves {
		crash.At(crash.InCommit)
	}
	var found []error // nil or what is no failure of the group
	for _, c := range g.calls {
		err := c.scan(results.QueryRow())
		if err != nil && !errors.Is(err, pgx.ErrNoRows) && !isOurs(err) {
			_ = results.Close()
			g.end(verdict(err)) // an error may be that of any statement before it
			return
		}
		if p.saves {
			found = append(found, err)
		} else {
			g.answer(err)
		}
	}
	if err := results.Close(); err != nil {
		g.end(verdict(err))
		return
	}
	for _, err := range found {
		g.answer(err)
	}
}

// answer answers the first call that has no answer.
func (g *group) answer(err error) {
	g.without(g.calls[0])
	g.calls[0].done <- err
	g.calls = g.calls[1:]
}

// without tells whether c is the last for which something was under way, when it is answered or its caller leaves.
func (g *group) without(c *call) bool { return !c.over.Swap(true) && g.open.Add(-1) == 0 }

// end answers all calls that have no answer.
func (g *group) end(err error) {
	for len(g.calls) > 0 {
		g.answer(err)
	}
}

// verdict is what an error of a group means to each of its calls. When the connection has ended, that has ended all alike.
// Anything else may be one statement's own, and the transaction of the group is undone.
func verdict(err error) error {
	if known := translate("", err); lost(known) || errors.Is(known, store.ErrUnavailable) {
		return err
	}
	return errAlone
}
