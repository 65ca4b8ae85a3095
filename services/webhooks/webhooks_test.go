package webhooks

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/webhooks/internal/outbound"
)

// spec: delivery-order
func TestEventsOfAWebhookAreSentOneAfterTheOther(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		hook := s.add(250)
		other := s.add(1)
		r := &receivers{do: okAfter(time.Millisecond)}
		w := start(t, s, r, Config{})
		pass(2 * time.Second)
		if n := s.waiting(); n != 0 || r.count() != 251 || r.most != 1 {
			t.Errorf("%d wait, %d were sent, %d at once", n, r.count(), r.most)
		}
		if n := testutil.ToFloat64(w.metrics.tries.WithLabelValues(delivered)); n != 251 || len(hook.Deliveries)+len(other.Deliveries) != 0 {
			t.Errorf("%v are counted", n)
		}
		if took := w.stop(); took != 0 {
			t.Errorf("an idle sender stopped after %s", took)
		}
	})
}

func TestAnIdleSenderLooksSeldomAndSoon(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		w := start(t, s, &receivers{do: okAfter(0)}, Config{})
		pass(10 * time.Second)
		if s.leases > 120 {
			t.Errorf("%d leases in 10 s", s.leases)
		}
		s.add(1)
		pass(maxIdle)
		if n := s.waiting(); n != 0 {
			t.Error("an event waits longer than a pause")
		}
		w.stop()
	})
}

// spec: delivery-order
func TestAFailedTryEndsItsLease(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		hook := s.add(3)
		n := 0
		r := &receivers{do: func(context.Context, string) outbound.Answer {
			if n++; n == 2 {
				return outbound.Answer{Status: 500, Error: api.TryStatus, Text: new("no")}
			}
			return outbound.Answer{Status: 200}
		}}
		w := start(t, s, r, Config{})
		pass(time.Second)
		if r.count() != 2 || len(s.saved) != 1 || len(s.saved[0].Tries) != 2 || len(hook.Deliveries) != 2 {
			t.Fatalf("%d were sent, and %+v saved", r.count(), s.saved)
		}
		if try := s.saved[0].Tries[1]; try.Status != 500 || try.Error != api.TryStatus || *try.Answer != "no" || try.At.IsZero() {
			t.Errorf("saved %+v", try)
		}
		if n := testutil.ToFloat64(w.metrics.tries.WithLabelValues("status")); n != 1 {
			t.Errorf("%v are counted", n)
		}
		w.stop()
	})
}

// spec: event-body
func TestNoTryBeginsLateInItsLease(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(5)
		r := &receivers{do: okAfter(900 * time.Millisecond)}
		w := start(t, s, r, Config{})
		pass(3 * time.Second)
		if len(s.saved) != 1 || len(s.saved[0].Tries) != 3 { // at 0, 0.9 and 1.8 s
			t.Errorf("saved %+v", s.saved)
		}
		w.stop()
	})
	t.Run("whose answer was slow", func(t *testing.T) {
		bubble(t, func(t *testing.T, s *store) {
			s.slow = contract.DeliveryBegin
			s.add(1)
			r := &receivers{do: okAfter(0)}
			w := start(t, s, r, Config{})
			pass(contract.DeliveryBegin)
			if r.count() != 0 {
				t.Error("an old body was sent")
			}
			s.change(func() { s.slow = 0 })
			pass(5 * time.Second)
			if s.waiting() != 0 {
				t.Error("the lease was not given back")
			}
			w.stop()
		})
	})
}

// spec: slow-receivers
func TestReceiversThatHangDelayNoHealthyOne(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		for range 12 {
			s.add(1).failed = true
		}
		r := &receivers{do: hang}
		w := start(t, s, r, Config{Concurrency: 8})
		pass(time.Second)
		if r.count() != 4 || w.places.taken(anyHealth) != 4 || w.places.taken(healthy) != 0 {
			t.Fatalf("%d receivers that hang are called", r.count())
		}
		r.mu.Lock()
		r.do = okAfter(0)
		r.mu.Unlock()
		s.add(250)
		pass(time.Second)
		if n := s.waiting(); n != 12 {
			t.Errorf("%d wait", n)
		}
		pass(2 * contract.DeliveryWait)
		if r.count() != 250+12 {
			t.Errorf("%d were sent", r.count())
		}
		w.stop()
	})
}

// spec: slow-receivers, delivery-order
func TestOneDeadReceiverOfAThousandDelaysNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		var dead *stored
		for i := range 1000 {
			if w := s.add(3); i == 500 {
				dead = w
			}
		}
		r := &receivers{do: func(ctx context.Context, url string) outbound.Answer {
			if url == dead.URL {
				return hang(ctx, url)
			}
			return okAfter(10*time.Millisecond)(ctx, url)
		}}
		w := start(t, s, r, Config{Concurrency: 8})
		pass(contract.DeliveryWait - time.Second) // before its first try is over
		if n := s.waiting(); n != 3 || len(dead.Deliveries) != 3 || r.count() != 999*3+1 || r.most != 1 {
			t.Errorf("%d wait, %d of them for the one, %d were sent, %d at once", n, len(dead.Deliveries), r.count(), r.most)
		}
		if n := w.places.taken(anyHealth) + w.places.taken(healthy); n != 1 {
			t.Errorf("%d places are taken", n)
		}
		w.stop()
	})
}

func TestOneePlaceTakesEveryWebhook(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1).failed = true
		s.add(1)
		w := start(t, s, &receivers{do: okAfter(0)}, Config{Concurrency: 1})
		pass(time.Second)
		if n := s.waiting(); n != 0 {
			t.Errorf("%d wait", n)
		}
		w.stop()
	})
}

// spec: delivery-once-saved
func TestTriesAreSavedWhenResultsAreBack(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1)
		r := &receivers{do: func(context.Context, string) outbound.Answer {
			s.change(func() { s.away = errors.New("away") })
			return outbound.Answer{Status: 200}
		}}
		w := start(t, s, r, Config{})
		pass(20 * time.Second)
		if err := w.Ready(t.Context()); err == nil || s.waiting() != 1 {
			t.Error("a sender without results is ready")
		}
		s.change(func() { s.away = nil })
		pass(6 * time.Second)
		if err := w.Ready(t.Context()); err != nil || s.waiting() != 0 || r.count() != 1 {
			t.Errorf("%v: %d wait, %d were sent", err, s.waiting(), r.count())
		}
		w.stop()
	})
}

func TestTriesOfALostLeaseAreDropped(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1)
		s.lost = true
		r := &receivers{do: okAfter(0)}
		w := start(t, s, r, Config{})
		pass(time.Second)
		if w.places.taken(anyHealth) != 0 || testutil.CollectAndCount(w.metrics.saves) != 3 {
			t.Error("a lost lease takes a place")
		}
		s.change(func() { s.lost, s.away = false, errors.New("away") })
		pass(contract.DeliveryLease + time.Minute) // a lease that ends while results is away
		s.change(func() { s.away = nil })
		pass(10 * time.Second)
		if s.waiting() != 0 || r.count() != 2 {
			t.Errorf("%d wait, %d were sent", s.waiting(), r.count())
		}
		w.stop()
	})
}

// spec: sender-stop
func TestAStopEndsTheTryUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		hook := s.add(3)
		r := &receivers{do: okAfter(time.Second)}
		w := start(t, s, r, Config{})
		pass(500 * time.Millisecond)
		if took := w.stop(); took != 500*time.Millisecond || r.count() != 1 || len(hook.Deliveries) != 2 || hook.until.After(time.Now()) {
			t.Errorf("stopped after %s: %d were sent, %d wait, leased until %s", took, r.count(), len(hook.Deliveries), hook.until)
		}
	})
}

// spec: sender-stop
func TestAStopGivesBackWhatItIsLeasing(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		hook := s.add(3)
		s.slow = time.Second
		r := &receivers{do: okAfter(0)}
		w := start(t, s, r, Config{})
		pass(500 * time.Millisecond)
		if took := w.stop(); took != 500*time.Millisecond || s.leases == 0 || r.count() != 0 || hook.until.After(time.Now()) {
			t.Errorf("stopped after %s: %d leases, %d were sent, leased until %s", took, s.leases, r.count(), hook.until)
		}
	})
}

// spec: sender-stop
func TestAStopWaitsForSavesToItsBound(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1)
		r := &receivers{do: func(context.Context, string) outbound.Answer {
			s.change(func() { s.away = errors.New("away") })
			return outbound.Answer{Status: 200}
		}}
		w := start(t, s, r, Config{})
		pass(time.Second)
		if took := w.stop(); took < savesEnd-maxSavePause || took > savesEnd {
			t.Errorf("stopped after %s", took)
		}
	})
}

func TestAPanicIsAFailedTry(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		hook := s.add(1)
		w := start(t, s, &receivers{do: func(context.Context, string) outbound.Answer { panic("x") }}, Config{})
		pass(time.Second)
		if !hook.failed || w.places.taken(anyHealth) != 0 {
			t.Error("a panic is not saved")
		}
		w.stop()
	})
}

func TestWrongConcurrencyIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{Concurrency: -1}, Deps{}); err == nil {
		t.Error("-1 was taken")
	}
}
