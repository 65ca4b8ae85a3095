package webhooks

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/webhooks/internal/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store keeps webhooks in memory, and leases them as results do. Everything runs in a synctest bubble.
type store struct {
	t *testing.T

	mu       sync.Mutex
	webhooks []*stored
	tokens   uint16
	leases   int
	slow     time.Duration // of a lease
	away     error         // of every call
	lost     bool          // every lease is
	saved    []contract.SaveDeliveries
}

// stored is a webhook with the events that wait.
type stored struct {
	contract.DeliveriesLease
	failed  bool      // the last try
	until   time.Time // of the lease
	leased  time.Time // last
	blocked bool      // by an event that failed
}

// add adds a webhook with so many events.
func (s *store) add(n int) *stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, of := &stored{}, len(s.webhooks)+1
	w.Webhook = prism.WebhookID{UUID: prism.UUID{byte(of >> 8), byte(of)}}
	w.URL, w.Secrets = "https://"+string(rune('a'+len(s.webhooks))), [][]byte{[]byte("secret")}
	for i := range n {
		w.Deliveries = append(w.Deliveries, contract.Delivery{
			ID: prism.DeliveryID{UUID: prism.UUID{byte(of >> 8), byte(of), 14: byte(i >> 8), 15: byte(i)}}, Body: []byte("{}"),
		})
	}
	s.webhooks = append(s.webhooks, w)
	return w
}

func (s *store) LeaseDeliveries(_ context.Context, q contract.LeaseDeliveries) (*contract.DeliveriesLease, error) {
	<-time.After(s.slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases++
	if s.away != nil {
		return nil, s.away
	}
	var next *stored
	for _, w := range s.webhooks {
		if len(w.Deliveries) == 0 || w.blocked || time.Now().Before(w.until) || q.Healthy && w.failed {
			continue
		}
		if next == nil || w.leased.Before(next.leased) {
			next = w
		}
	}
	if next == nil {
		return nil, nil
	}
	s.tokens++
	next.Token, next.until, next.leased = prism.UUID{byte(s.tokens >> 8), byte(s.tokens)}, time.Now().Add(contract.DeliveryLease), time.Now()
	given := next.DeliveriesLease
	given.Deliveries = append([]contract.Delivery(nil), next.Deliveries[:min(len(next.Deliveries), contract.LeasedDeliveries)]...)
	return &given, nil
}

func (s *store) SaveDeliveries(_ context.Context, saved contract.SaveDeliveries) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away != nil {
		return s.away
	}
	for _, w := range s.webhooks {
		if w.Webhook != saved.Webhook {
			continue
		}
		if s.lost || w.Token != saved.Token || !time.Now().Before(w.until) {
			return contract.ErrLeaseLost
		}
		for _, try := range saved.Tries {
			if w.Deliveries[0].ID != try.ID || w.blocked {
				s.t.Errorf("%v was sent before %v", try.ID, w.Deliveries[0].ID)
			}
			w.failed = try.Error != ""
			w.blocked = w.failed
			if !w.failed {
				w.Deliveries = w.Deliveries[1:]
			}
		}
		w.until = time.Time{}
		s.saved = append(s.saved, saved)
		return nil
	}
	return errors.New("no such webhook")
}

func (s *store) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func (s *store) waiting() (n int) {
	s.change(func() {
		for _, w := range s.webhooks {
			n += len(w.Deliveries)
		}
	})
	return n
}

// receivers answers by a function, and counts calls.
type receivers struct {
	do func(ctx context.Context, url string) outbound.Answer

	mu      sync.Mutex
	sent    []string // ids, in their order
	running map[string]int
	most    int // at once at one receiver
}

func (r *receivers) Post(ctx context.Context, url string, header http.Header, _ []byte) outbound.Answer {
	r.mu.Lock()
	r.sent = append(r.sent, header.Get("Webhook-Id"))
	if r.running == nil {
		r.running = map[string]int{}
	}
	r.running[url]++
	r.most = max(r.most, r.running[url])
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.running[url]--
	}()
	return r.do(ctx, url)
}

func (r *receivers) Close() {}

func (r *receivers) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sent)
}

// okAfter answers 200 after a time.
func okAfter(d time.Duration) func(context.Context, string) outbound.Answer {
	return func(context.Context, string) outbound.Answer {
		<-time.After(d)
		return outbound.Answer{Status: 200}
	}
}

func hang(context.Context, string) outbound.Answer {
	<-time.After(contract.DeliveryWait)
	return outbound.Answer{Error: api.TryTimeout}
}

// sender is a sender that runs until stop, which returns how long that takes.
type sender struct {
	*Service
	cancel context.CancelFunc
	ended  chan struct{}
}

func start(t *testing.T, s *store, r *receivers, cfg Config) *sender {
	t.Helper()
	w := &sender{ended: make(chan struct{})}
	var err error
	w.Service, err = New(cfg, Deps{
		Deliveries: s, Metrics: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler), Tracer: noop.NewTracerProvider(),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.out = r
	ctx, cancel := context.WithCancel(t.Context())
	w.cancel = cancel
	go func() {
		defer close(w.ended)
		w.Run(ctx)
	}()
	return w
}

func (w *sender) stop() time.Duration {
	began := time.Now()
	w.cancel()
	<-w.ended
	return time.Since(began)
}

// pass lets the time of the bubble pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// bubble runs a test in a bubble of its own.
func bubble(t *testing.T, test func(t *testing.T, s *store)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, &store{t: t}) })
}
