package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// server answers each statement with its argument.
type server struct {
	pipelines

	mu      sync.Mutex
	groups  [][]string // the arguments of each batch
	alone   []string
	held    map[string]chan struct{} // what waits before its answer
	failing map[string]error
	panics  map[string]bool
	lent    int // connections
}

func newServer() *server {
	s := &server{held: map[string]chan struct{}{}, failing: map[string]error{}, panics: map[string]bool{}}
	s.pipelines = pipelines{
		most: 2, acquireWait: time.Second, statementWait: 10 * time.Second,
	}
	s.acquire = func(ctx context.Context) (pipe, error) {
		err := s.answer(ctx, "connect")
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
	var group []string
	for _, q := range b.QueuedQueries {
		group = append(group, q.Arguments[0].(string))
	}
	s.groups = append(s.groups, group)
	return &answers{ctx: ctx, server: s, group: group}
}

func (s *server) Release() { s.count(-1) }

func (s *server) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lent += n
}

// answer waits and fails as the test wants it.
func (s *server) answer(ctx context.Context, arg string) error {
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

func (s *server) hold(arg string) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(chan struct{})
	s.held[arg] = held
	return sync.OnceFunc(func() { close(held) })
}

type answers struct {
	pgx.BatchResults // what is not used

	ctx    context.Context
	server *server
	group  []string
}

func (a *answers) QueryRow() pgx.Row {
	arg := a.group[0]
	a.group = a.group[1:]
	return oneRow(func(dest ...any) error {
		*dest[0].(*string) = arg
		return a.server.answer(a.ctx, arg)
	})
}

func (a *answers) Close() error { return a.server.answer(a.ctx, "commit") }

type oneRow func(dest ...any) error

func (r oneRow) Scan(dest ...any) error { return r(dest...) }

// ended is how a call ended.
type ended struct {
	got      string
	err      error
	panicked any
}

// look calls, and returns when everything waits.
func (s *server) look(ctx context.Context, arg string) <-chan ended { return s.call(ctx, arg, &call{}) }

// save is look for a result of the first account whose id and content are arg.
func (s *server) save(ctx context.Context, arg, key string) <-chan ended {
	s.saves = true
	return s.call(ctx, arg, &call{id: prism.UUID([]byte(fmt.Sprintf("%16s", arg))), key: key, bytes: len(arg)})
}

func (s *server) call(ctx context.Context, arg string, c *call) <-chan ended {
	end := make(chan ended, 1)
	go func() {
		var e ended
		defer func() {
			e.panicked = recover()
			end <- e
		}()
		c.args, c.scan = []any{arg}, func(r pgx.Row) error { return r.Scan(&e.got) }
		e.err = s.do(ctx, "look", c, func() error {
			s.mu.Lock()
			s.alone = append(s.alone, arg)
			s.mu.Unlock()
			e.got = arg
			return s.answer(ctx, arg)
		})
	}()
	synctest.Wait()
	return end
}

// busy has both turns taken until release is called.
func (s *server) busy(t *testing.T) (release func()) {
	t.Helper()
	one, two := s.hold("busy 1"), s.hold("busy 2")
	ends := []<-chan ended{s.look(t.Context(), "busy 1"), s.look(t.Context(), "busy 2")}
	return func() {
		one()
		synctest.Wait()
		two()
		for _, end := range ends {
			<-end
		}
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.alone = slices.DeleteFunc(s.alone, func(arg string) bool { return arg == "busy 1" || arg == "busy 2" })
	}
}

// sent compares what was sent, and checks that nothing is left behind.
func (s *server) sent(t *testing.T, groups string, alone string) {
	t.Helper()
	synctest.Wait()
	s.pipelines.mu.Lock()
	if len(s.waiting) != 0 || len(s.turns) != 0 {
		t.Errorf("%d calls wait, %d turns are under way", len(s.waiting), len(s.turns))
	}
	s.pipelines.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.alone)
	if got := fmt.Sprint(s.groups); got != groups {
		t.Errorf("sent together %s, want %s", got, groups)
	}
	if got := fmt.Sprint(s.alone); got != alone {
		t.Errorf("sent alone %s, want %s", got, alone)
	}
	if s.lent != 0 {
		t.Errorf("%d connections were not given back", s.lent)
	}
}

func answered(t *testing.T, end <-chan ended, want string) {
	t.Helper()
	if e := <-end; e.got != want || e.err != nil || e.panicked != nil {
		t.Errorf("got %+v, want %q", e, want)
	}
}

func fails(t *testing.T, end <-chan ended, want error, unavailable bool) {
	t.Helper()
	if e := <-end; !errors.Is(e.err, want) || errors.Is(e.err, store.ErrUnavailable) != unavailable {
		t.Errorf("got %+v, want %v, unavailable %t", e, want, unavailable)
	}
}

// bubble runs a test whose time passes only when everything waits.
func bubble(t *testing.T, test func(t *testing.T, s *server)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, newServer()) })
}

func TestCallsThatFindFewUnderWayGoAtOnceAndAlone(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		answered(t, s.look(t.Context(), "a"), "a")
		s.busy(t)()
		s.sent(t, "[]", "[a]")
	})
}

func TestCallsThatWaitAtTheSameTimeGoTogether(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b, c := s.look(t.Context(), "a"), s.look(t.Context(), "b"), s.look(t.Context(), "c")
		letGo := s.hold("b")
		release()
		answered(t, a, "a") // before those behind it
		d, e := s.look(t.Context(), "d"), s.look(t.Context(), "e")
		answered(t, d, "d") // one turn is free again
		answered(t, e, "e")
		letGo()
		answered(t, b, "b")
		answered(t, c, "c")
		s.sent(t, "[[a b c]]", "[d e]")
	})
}

func TestAGroupIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		var ends []<-chan ended
		for range groupCalls + 1 {
			ends = append(ends, s.look(t.Context(), "a"))
		}
		release()
		for _, end := range ends {
			answered(t, end, "a")
		}
		if len(s.groups) != 2 || len(s.groups[0]) != groupCalls {
			t.Errorf("got %d groups", len(s.groups))
		}
	})
}

func TestARoundTripThatIsSlowMakesNobodyWait(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a := s.look(t.Context(), "a")
		<-time.After(slow + 1)
		b := s.look(t.Context(), "b")
		answered(t, b, "b") // who comes then takes along whoever waits
		answered(t, a, "a")
		c := s.look(t.Context(), "c")
		answered(t, c, "c")
		release()
		s.sent(t, "[[a b]]", "[c]")
	})
}

func TestACallerThatLeavesEndsItsOwnCallAlone(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		ctx, cancel := context.WithCancel(t.Context())
		unsent := s.look(ctx, "unsent")
		cancel()
		fails(t, unsent, context.Canceled, true)
		ctx, cancel = context.WithCancel(t.Context())
		a, b := s.look(ctx, "a"), s.look(t.Context(), "b")
		letGo := s.hold("a")
		release()
		cancel()
		fails(t, a, context.Canceled, false)
		letGo()
		answered(t, b, "b")
		s.sent(t, "[[a b]]", "[]")
	})
}

func TestAGroupEndsWhenAllOfItHaveLeft(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		ctx, cancel := context.WithCancel(t.Context())
		a, b, c := s.look(t.Context(), "a"), s.look(ctx, "b"), s.look(ctx, "c")
		s.hold("b")
		release()
		answered(t, a, "a")
		cancel()
		fails(t, b, context.Canceled, false)
		fails(t, c, context.Canceled, false)
		s.sent(t, "[[a b c]]", "[]")
	})
}

func TestACallWaitsForItsTurnAsLongAsForAConnection(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		begun := time.Now()
		fails(t, s.look(t.Context(), "a"), context.DeadlineExceeded, true)
		if took := time.Since(begun); took != s.acquireWait {
			t.Errorf("it took %s", took)
		}
		release()
		letGo := s.hold("connect")
		release = s.busy(t)
		b := s.look(t.Context(), "b")
		<-time.After(s.acquireWait / 2)
		release()
		c := s.look(t.Context(), "c")
		fails(t, b, context.DeadlineExceeded, true)
		letGo()
		answered(t, c, "c")
		s.sent(t, "[[c]]", "[]")
	})
}

func TestAGroupThatIsNotAnsweredEndsInTime(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b := s.look(t.Context(), "a"), s.look(t.Context(), "b")
		s.hold("a")
		release()
		begun := time.Now()
		fails(t, a, context.DeadlineExceeded, false)
		fails(t, b, context.DeadlineExceeded, false)
		if took := time.Since(begun); took != s.statementWait {
			t.Errorf("it took %s", took)
		}
		s.sent(t, "[[a b]]", "[]")
	})
}

func TestAGroupThatGetsNoConnectionIsUnavailable(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b := s.look(t.Context(), "a"), s.look(t.Context(), "b")
		s.failing["connect"] = &pgconn.ConnectError{}
		release()
		for _, end := range []<-chan ended{a, b} {
			e := <-end
			if _, ok := errors.AsType[*pgconn.ConnectError](e.err); !ok || !errors.Is(e.err, store.ErrUnavailable) {
				t.Errorf("got %v", e.err)
			}
		}
		s.sent(t, "[]", "[]")
	})
}

func TestAnErrorOfAStatementReachesItsOwnCallerAlone(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b, c := s.look(t.Context(), "a"), s.look(t.Context(), "b"), s.look(t.Context(), "c")
		fault := &pgconn.PgError{Code: "22003"}
		s.failing["b"] = fault
		release()
		answered(t, a, "a")
		if e := <-b; !errors.Is(e.err, fault) {
			t.Errorf("got %+v", e)
		}
		answered(t, c, "c")
		s.sent(t, "[[a b c]]", "[b c]")
	})
}

func TestACallThatFindsNothingIsNoFailureOfItsGroup(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b := s.look(t.Context(), "a"), s.look(t.Context(), "b")
		s.failing["a"] = pgx.ErrNoRows
		release()
		fails(t, a, store.ErrNotFound, false)
		answered(t, b, "b")
		s.sent(t, "[[a b]]", "[]")
	})
}

func TestAConnectionThatEndsEndsTheCallsOfItsGroup(t *testing.T) {
	for err, unavailable := range map[error]bool{
		io.ErrUnexpectedEOF: false,
		&pgconn.PgError{Code: adminShutdown, Severity: "FATAL"}:     true,
		&pgconn.PgError{Code: protocolViolation, Severity: "FATAL"}: false,
	} {
		t.Run(fmt.Sprint(err), func(t *testing.T) {
			bubble(t, func(t *testing.T, s *server) {
				release := s.busy(t)
				a, b, c := s.look(t.Context(), "a"), s.look(t.Context(), "b"), s.look(t.Context(), "c")
				s.failing["b"] = err
				release()
				answered(t, a, "a")
				for _, end := range []<-chan ended{b, c} {
					e := <-end
					if e.err == nil || errors.Is(e.err, store.ErrUnavailable) != unavailable || !unavailable && !lost(e.err) {
						t.Errorf("got %+v", e)
					}
				}
				s.sent(t, "[[a b c]]", "[]")
			})
		})
	}
}

func TestAPanicIsItsOwnCallersAlone(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b, c := s.look(t.Context(), "a"), s.look(t.Context(), "b"), s.look(t.Context(), "c")
		s.panics["b"] = true
		release()
		answered(t, a, "a")
		if e := <-b; e.panicked != "b" {
			t.Errorf("got %+v", e)
		}
		answered(t, c, "c")
		answered(t, s.look(t.Context(), "d"), "d")
		s.sent(t, "[[a b c]]", "[b c d]")
	})
}

func TestACallThatIsTracedGoesAlone(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		ctx, span := sdktrace.NewTracerProvider().Tracer("test").Start(t.Context(), "caller")
		answered(t, s.look(ctx, "a"), "a")
		span.End()
		release()
		s.sent(t, "[]", "[a]")
	})
}

func TestNoSaveIsAnsweredBeforeItsGroupIsCommitted(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b := s.save(t.Context(), "a", ""), s.save(t.Context(), "b", "")
		commit := s.hold("commit")
		release()
		if len(a) != 0 || len(b) != 0 {
			t.Error("a save is answered that may be undone")
		}
		commit()
		answered(t, a, "a")
		answered(t, b, "b")
		s.sent(t, "[[a b]]", "[]")
	})
}

func TestSavesThatTouchOneRowAreInNoOneGroup(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		var ends []<-chan ended
		for _, c := range []struct{ arg, key string }{{"d", "k"}, {"c", "k"}, {"a", ""}, {"a", ""}, {"b", "j"}} {
			ends = append(ends, s.save(t.Context(), c.arg, c.key))
		}
		theirs := s.call(t.Context(), "e", &call{account: prism.UUID{1}, key: "k"})
		commit := s.hold("commit")
		release()
		commit()
		for i, want := range []string{"d", "c", "a", "a", "b"} {
			answered(t, ends[i], want)
		}
		answered(t, theirs, "e")
		s.sent(t, "[[a b d e] [a c]]", "[]") // in the order of accounts, keys and ids
	})
}

func TestAGroupOfSavesEndsWithTheOneThatMakesItLarge(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a := s.save(t.Context(), "a", "")
		b := s.call(t.Context(), "b", &call{id: prism.UUID{1}, bytes: groupBytes})
		c := s.save(t.Context(), "c", "")
		commit := s.hold("commit")
		release()
		commit()
		answered(t, a, "a")
		answered(t, b, "b")
		answered(t, c, "c")
		if got := fmt.Sprint(s.groups); got != "[[b a] [c]]" {
			t.Errorf("sent %s", got)
		}
	})
}

func TestWhenOneSaveFailsTheOthersAreSentAgain(t *testing.T) {
	for _, where := range []string{"b", "commit"} {
		t.Run(where, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *server) {
				release := s.busy(t)
				a, b, c := s.save(t.Context(), "a", ""), s.save(t.Context(), "b", ""), s.save(t.Context(), "c", "")
				s.failing[where] = &pgconn.PgError{Code: serializationFailure}
				release()
				answered(t, a, "a")
				if e := <-b; (e.err != nil) != (where == "b") {
					t.Errorf("got %+v", e)
				}
				answered(t, c, "c")
				s.sent(t, "[[a b c]]", "[a b c]")
			})
		})
	}
}

func TestSavesWhoseEndNobodyKnowsSaySo(t *testing.T) {
	for _, where := range []string{"b", "commit"} {
		t.Run(where, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *server) {
				release := s.busy(t)
				a, b := s.save(t.Context(), "a", ""), s.save(t.Context(), "b", "")
				s.failing[where] = io.ErrUnexpectedEOF
				release()
				fails(t, a, io.ErrUnexpectedEOF, false)
				fails(t, b, io.ErrUnexpectedEOF, false)
				s.sent(t, "[[a b]]", "[]")
			})
		})
	}
}

func TestWhatASaveFindsIsNoFailureOfItsGroup(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b := s.save(t.Context(), "a", "j"), s.save(t.Context(), "b", "k")
		c, d := s.save(t.Context(), "c", "l"), s.save(t.Context(), "d", "m")
		s.failing["a"], s.failing["b"] = contract.ErrKeyTaken, pgx.ErrNoRows
		s.failing["c"] = errRaced // the next snapshot has what it lost to
		commit := s.hold("commit")
		release()
		s.mu.Lock()
		delete(s.failing, "c")
		s.mu.Unlock()
		commit()
		fails(t, a, contract.ErrKeyTaken, false)
		fails(t, b, store.ErrNotFound, false)
		answered(t, c, "c")
		answered(t, d, "d")
		s.sent(t, "[[a b c d]]", "[c]")
	})
}
