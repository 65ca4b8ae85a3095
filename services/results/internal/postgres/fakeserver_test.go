package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// server is a fake Postgres that responds to each statement with its argument, below the batches that are tested.
type server struct {
	batches

	mu      sync.Mutex
	batched [][]string // the arguments of each batch
	alone   []string
	held    map[string]chan struct{} // arguments whose response waits
	failing map[string]error
	panics  map[string]bool
	lent    int // connections
}

func newServer() *server {
	s := &server{held: map[string]chan struct{}{}, failing: map[string]error{}, panics: map[string]bool{}}
	s.acquireWait, s.statementWait = time.Second, 10*time.Second
	s.acquire = func(ctx context.Context) (connection, error) {
		err := s.respond(ctx, "connect")
		if err == nil {
			s.count(1)
		}
		return s, err
	}
	return s
}

func (s *server) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	s.mu.Lock()
	defer s.mu.Unlock()
	var args []string
	r := &responses{ctx: ctx, server: s}
	for _, q := range b.QueuedQueries {
		var of []string
		switch arg := q.Arguments[0].(type) {
		case string:
			of = []string{arg}
		case array:
			for i := range arg.rows {
				of = append(of, arg.Index(i).(string))
			}
		}
		r.statements, args = append(r.statements, of), append(args, of...)
	}
	s.batched = append(s.batched, args)
	return r
}

func (s *server) Release() { s.count(-1) }

func (s *server) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lent += n
}

// respond waits and fails as the test wants it.
func (s *server) respond(ctx context.Context, arg string) error {
	s.mu.Lock()
	held, failing, panics := s.held[arg], s.failing[arg], s.panics[arg]
	s.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if panics {
		panic(arg)
	}
	return failing
}

// hold makes the response to arg wait until release is called.
func (s *server) hold(arg string) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(chan struct{})
	s.held[arg] = held
	return sync.OnceFunc(func() { close(held) })
}

type responses struct {
	pgx.BatchResults // the methods that are not used

	ctx        context.Context
	server     *server
	statements [][]string // the arguments of each
}

func (r *responses) Query() (pgx.Rows, error) {
	args := r.statements[0]
	r.statements = r.statements[1:]
	return &rows{responses: r, args: args}, nil
}

// rows are those of one statement, which returns its arguments.
type rows struct {
	pgx.Rows // the methods that are not used

	responses *responses
	args      []string
	err       error
}

func (r *rows) Next() bool {
	if len(r.args) > 0 && r.err == nil {
		r.err = r.responses.server.respond(r.responses.ctx, r.args[0])
	}
	if errors.Is(r.err, pgx.ErrNoRows) {
		r.args, r.err = nil, nil
	}
	return len(r.args) > 0 && r.err == nil
}

func (r *rows) Scan(dest ...any) error {
	*dest[0].(*string) = r.args[0]
	r.args = r.args[1:]
	return nil
}

func (r *rows) Err() error { return r.err }
func (r *rows) Close()     {}

func (r *responses) Close() error { return r.server.respond(r.ctx, "commit") }

// outcome is how a call ended.
type outcome struct {
	got      string
	err      error
	panicked any
}

// look starts a look-up, and returns when every goroutine waits.
func (s *server) look(ctx context.Context, arg string) <-chan outcome {
	return s.call(arg, &call{ctx: ctx, statement: "look-up"})
}

// save is look for a result of the zero account whose id and content are arg.
func (s *server) save(ctx context.Context, arg, key string) <-chan outcome {
	id := prism.UUID([]byte(fmt.Sprintf("%16s", arg)))
	return s.call(arg, &call{ctx: ctx, statement: "save", id: id, idempotencyKey: key, bytes: len(arg)})
}

func (s *server) call(arg string, c *call) <-chan outcome {
	synctest.Wait() // a round trip whose calls have their outcomes ends a moment later
	end := make(chan outcome, 1)
	go func() {
		var (
			o   outcome
			got string
		)
		defer func() {
			o.panicked = recover()
			end <- o
		}()
		c.args, c.targets = []any{arg}, []any{&got}
		o.err = s.do("look", c, func() error {
			s.mu.Lock()
			s.alone = append(s.alone, arg)
			s.mu.Unlock()
			got = arg
			return s.respond(c.ctx, arg)
		})
		if o.err == nil {
			o.got = got
		}
	}()
	synctest.Wait()
	return end
}

// busy keeps a round trip under way until release is called.
func (s *server) busy(t *testing.T) (release func()) {
	t.Helper()
	const arg = "busy"
	respond := s.hold(arg)
	o := s.look(t.Context(), arg)
	return func() {
		respond()
		<-o
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.alone = slices.DeleteFunc(s.alone, func(sent string) bool { return sent == arg })
	}
}

// sent compares what was sent, and checks that no call waits and no connection is in use.
func (s *server) sent(t *testing.T, batched string, alone string) {
	t.Helper()
	synctest.Wait()
	s.batches.mu.Lock()
	if len(s.waiting) != 0 || s.underWay != 0 {
		t.Errorf("%d calls wait, %d round trips are under way", len(s.waiting), s.underWay)
	}
	s.batches.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.alone)
	if got := fmt.Sprint(s.batched); got != batched {
		t.Errorf("sent together %s, want %s", got, batched)
	}
	if got := fmt.Sprint(s.alone); got != alone {
		t.Errorf("sent alone %s, want %s", got, alone)
	}
	if s.lent != 0 {
		t.Errorf("%d connections were not released", s.lent)
	}
}

func succeeds(t *testing.T, o <-chan outcome, want string) {
	t.Helper()
	if got := <-o; got.got != want || got.err != nil || got.panicked != nil {
		t.Errorf("got %+v, want %q", got, want)
	}
}

func fails(t *testing.T, o <-chan outcome, want error, unavailable bool) {
	t.Helper()
	if got := <-o; !errors.Is(got.err, want) || errors.Is(got.err, store.ErrUnavailable) != unavailable {
		t.Errorf("got %+v, want %v, unavailable %t", got, want, unavailable)
	}
}

// inBubble runs a test whose time passes only while every goroutine waits.
func inBubble(t *testing.T, test func(t *testing.T, s *server)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, newServer()) })
}
