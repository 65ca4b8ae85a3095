package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/services/results/internal/store"
)

func TestACallThatFindsNoRoundTripUnderWayIsSentAtOnceAndAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		succeeds(t, s.look(t.Context(), "a"), "a")
		s.busy(t)()
		s.sent(t, "[]", "[a]")
	})
}

func TestCallsThatWaitAtTheSameTimeAreSentTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b, c := s.look(t.Context(), "a"), s.look(t.Context(), "b"), s.look(t.Context(), "c")
		respond := s.hold("b")
		release()
		d, e := s.look(t.Context(), "d"), s.look(t.Context(), "e")
		respond()
		succeeds(t, a, "a")
		succeeds(t, b, "b")
		succeeds(t, c, "c")
		succeeds(t, d, "d")
		succeeds(t, e, "e")
		s.sent(t, "[[a b c] [d e]]", "[]")
	})
}

func TestABatchIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		var outcomes []<-chan outcome
		for range batchCalls + 1 {
			outcomes = append(outcomes, s.look(t.Context(), "a"))
		}
		release()
		for _, o := range outcomes {
			succeeds(t, o, "a")
		}
		if len(s.batched) != 2 || len(s.batched[0]) != batchCalls {
			t.Errorf("%d batches were sent", len(s.batched))
		}
	})
}

// spec: fair-connections
func TestABatchHasTheFirstCallsOfEachAccount(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		var outcomes []<-chan outcome
		for range 2 * batchCalls {
			outcomes = append(outcomes, s.look(fair.With(t.Context(), "many"), "a"))
		}
		b := s.look(fair.With(t.Context(), "few"), "b")
		release()
		for _, o := range outcomes {
			succeeds(t, o, "a")
		}
		succeeds(t, b, "b")
		if !slices.Contains(s.batched[0], "b") {
			t.Error("the call of another account is not in the first batch")
		}
	})
}

func TestNoCallWaitsForASlowRoundTrip(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		started := time.Now()
		a, b := s.look(t.Context(), "a"), s.look(t.Context(), "b")
		succeeds(t, a, "a")
		succeeds(t, b, "b")
		if waited := time.Since(started); waited != slow {
			t.Errorf("the calls waited for %s, want %s", waited, slow)
		}
		succeeds(t, s.look(t.Context(), "c"), "c")
		release()
		s.sent(t, "[[a b]]", "[c]")
	})
}

func TestASlowBatchMakesNoCallWait(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		respond := s.hold("a")
		a := s.look(t.Context(), "a")
		<-time.After(2*slow + 1) // the call of busy and the batch of a are slow
		b, c := s.look(t.Context(), "b"), s.look(t.Context(), "c")
		succeeds(t, b, "b")
		succeeds(t, c, "c")
		release()
		respond()
		succeeds(t, a, "a")
		s.sent(t, "[[a]]", "[b c]")
	})
}

func TestACallThatIsCancelledEndsItselfAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		ctx, cancel := context.WithCancel(t.Context())
		unsent := s.look(ctx, "unsent")
		cancel()
		fails(t, unsent, context.Canceled, true)
		ctx, cancel = context.WithCancel(t.Context())
		a, b := s.look(ctx, "a"), s.look(t.Context(), "b")
		respond := s.hold("a")
		release()
		cancel()
		fails(t, a, context.Canceled, false)
		respond()
		succeeds(t, b, "b")
		s.sent(t, "[[a b]]", "[]")
	})
}

func TestABatchEndsWithTheLastDeadlineOfItsCalls(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		s.hold("a")
		var outcomes []<-chan outcome
		for i, arg := range []string{"a", "b"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i+1)*time.Second)
			defer cancel()
			outcomes = append(outcomes, s.look(ctx, arg))
		}
		started := time.Now()
		release()
		for i, o := range outcomes {
			fails(t, o, context.DeadlineExceeded, false)
			if took := time.Since(started); took != time.Duration(i+1)*time.Second {
				t.Errorf("call %d ended after %s", i, took)
			}
		}
		s.sent(t, "[[a b]]", "[]")
	})
}

func TestACallWaitsForABatchAsLongAsForAConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		connect := s.hold("connect")
		release := s.busy(t)
		started := time.Now()
		a := s.look(t.Context(), "a")
		fails(t, a, context.DeadlineExceeded, true)
		if took := time.Since(started); took != s.acquireWait {
			t.Errorf("it waited for %s", took)
		}
		b := s.look(t.Context(), "b") // it has not waited as long, and goes with the connection that is being made
		release()
		connect()
		succeeds(t, b, "b")
		s.sent(t, "[[b]]", "[]")
	})
}

func TestABatchThatIsNotAnsweredEndsInTime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b := s.look(t.Context(), "a"), s.look(t.Context(), "b")
		s.hold("a")
		release()
		started := time.Now()
		fails(t, a, context.DeadlineExceeded, false)
		fails(t, b, context.DeadlineExceeded, false)
		if took := time.Since(started); took != s.statementWait {
			t.Errorf("it took %s", took)
		}
		s.sent(t, "[[a b]]", "[]")
	})
}

func TestABatchThatGetsNoConnectionIsUnavailable(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b := s.look(t.Context(), "a"), s.look(t.Context(), "b")
		s.failing["connect"] = &pgconn.ConnectError{}
		release()
		for _, o := range []<-chan outcome{a, b} {
			got := <-o
			if _, ok := errors.AsType[*pgconn.ConnectError](got.err); !ok || !errors.Is(got.err, store.ErrUnavailable) {
				t.Errorf("got %v", got.err)
			}
		}
		s.sent(t, "[]", "[]")
	})
}

func TestAnErrorOfAStatementReachesItsOwnCallerAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b, c := s.look(t.Context(), "a"), s.look(t.Context(), "b"), s.look(t.Context(), "c")
		fault := &pgconn.PgError{Code: "22003"}
		s.failing["b"] = fault
		release()
		succeeds(t, a, "a") // sent again
		if got := <-b; !errors.Is(got.err, fault) {
			t.Errorf("got %+v", got)
		}
		succeeds(t, c, "c")
		s.sent(t, "[[a b c]]", "[a b c]")
	})
}

func TestACallThatFindsNoRowDoesNotFailItsBatch(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b := s.call("a", &call{ctx: t.Context(), statement: "another"}), s.look(t.Context(), "b")
		s.failing["a"] = pgx.ErrNoRows
		release()
		fails(t, a, store.ErrNotFound, false)
		succeeds(t, b, "b")
		s.sent(t, "[[a b]]", "[]")
	})
}

func TestTheEndOfAConnectionEndsTheCallsOfItsBatch(t *testing.T) {
	for err, unavailable := range map[error]bool{
		io.ErrUnexpectedEOF: false,
		&pgconn.PgError{Code: adminShutdown, Severity: "FATAL"}:     true,
		&pgconn.PgError{Code: protocolViolation, Severity: "FATAL"}: false,
	} {
		t.Run(fmt.Sprint(err), func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *server) {
				release := s.busy(t)
				a, b, c := s.look(t.Context(), "a"), s.look(t.Context(), "b"), s.look(t.Context(), "c")
				s.failing["b"] = err
				release()
				for _, o := range []<-chan outcome{a, b, c} {
					got := <-o
					if got.err == nil || errors.Is(got.err, store.ErrUnavailable) != unavailable || !unavailable && !isUnknown(got.err) {
						t.Errorf("got %+v", got)
					}
				}
				s.sent(t, "[[a b c]]", "[]")
			})
		})
	}
}

func TestAPanicReachesItsOwnCallerAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b, c := s.look(t.Context(), "a"), s.look(t.Context(), "b"), s.look(t.Context(), "c")
		s.panics["b"] = true
		release()
		succeeds(t, a, "a")
		if got := <-b; got.panicked != "b" {
			t.Errorf("got %+v", got)
		}
		succeeds(t, c, "c")
		succeeds(t, s.look(t.Context(), "d"), "d")
		s.sent(t, "[[a b c]]", "[a b c d]")
	})
}

func TestEachCallOfABatchHasASpanOfItsStatementInItsOwnTrace(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		spans := tracetest.NewSpanRecorder()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		s.tracer = otelpgx.NewTracer(otelpgx.WithTracerProvider(provider))
		release := s.busy(t)
		ctx, parent := provider.Tracer("test").Start(t.Context(), "caller")
		a, b := s.look(ctx, "a"), s.look(t.Context(), "b")
		release()
		succeeds(t, a, "a")
		succeeds(t, b, "b")
		ended := spans.Ended()
		if len(ended) != 1 || ended[0].Parent().SpanID() != parent.SpanContext().SpanID() {
			t.Fatalf("%d spans ended, want one below the caller's", len(ended))
		}
		found := false
		for _, a := range ended[0].Attributes() {
			found = found || a == attribute.String("db.query.text", "look-up")
		}
		if !found {
			t.Errorf("the span has %v", ended[0].Attributes())
		}
		s.sent(t, "[[a b]]", "[]")
	})
}

func TestEachSpanOfABatchThatFailsEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		spans := tracetest.NewSpanRecorder()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
		s.tracer = otelpgx.NewTracer(otelpgx.WithTracerProvider(provider))
		release := s.busy(t)
		ctx, _ := provider.Tracer("test").Start(t.Context(), "caller")
		a, b := s.call("a", &call{ctx: ctx, statement: "another"}), s.look(ctx, "b")
		s.failing["a"] = &pgconn.PgError{Code: serializationFailure}
		release()
		<-a
		succeeds(t, b, "b")
		if n := len(spans.Ended()); n != 2 {
			t.Errorf("%d spans ended, want 2", n)
		}
		s.sent(t, "[[a b]]", "[a b]")
	})
}

func TestTheCallsOfOneStatementAreNeighboursInTheOrderOfTheirArrival(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		other := func(arg string) <-chan outcome { return s.call(arg, &call{ctx: t.Context(), statement: "another"}) }
		d, b, c, a := s.look(t.Context(), "d"), other("b"), s.look(t.Context(), "c"), other("a")
		release()
		succeeds(t, a, "a")
		succeeds(t, b, "b")
		succeeds(t, c, "c")
		succeeds(t, d, "d")
		s.sent(t, "[[b a d c]]", "[]")
	})
}
