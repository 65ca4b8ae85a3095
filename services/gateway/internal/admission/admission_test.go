package admission_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
	"github.com/prism-results/prism/services/gateway/internal/admission"
	"github.com/prism-results/prism/services/gateway/internal/execute"
	"github.com/prism-results/prism/services/gateway/internal/quota/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// perSecond is how many unknown keys of an address are looked up in a second.
const perSecond = 20

// results know the keys whose first byte is 1, and take some time to tell.
type results struct {
	contract.Results
	lookUps atomic.Int64
	took    time.Duration

	mu     sync.Mutex
	err    error
	limits []contract.AccountLimits
}

func (r *results) set(err error, limits ...contract.AccountLimits) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err, r.limits = err, limits
}

func (r *results) Account(ctx context.Context, key contract.KeyDigest) (prism.AccountID, error) {
	r.lookUps.Add(1)
	select {
	case <-time.After(r.took):
	case <-ctx.Done():
		return prism.AccountID{}, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		return prism.AccountID{}, r.err
	case key[0] != 1:
		return prism.AccountID{}, apierr.InvalidAPIKey()
	}
	return account(key), nil
}

func (r *results) Limits(context.Context) ([]contract.AccountLimits, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.limits, r.err
}

func account(key contract.KeyDigest) prism.AccountID {
	return prism.AccountID{UUID: prism.UUID{1, 15: key[1]}}
}

func known(n byte) contract.KeyDigest { return contract.KeyDigest{1, n} }

func unknown(n int) contract.KeyDigest { return contract.KeyDigest{2, byte(n), byte(n >> 8)} }

var here, there = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")

// bench is an Admission over results, in a synctest bubble.
type bench struct {
	*admission.Admission
	results *results
	metrics *prometheus.Registry
	log     *bytes.Buffer
}

func newBench() *bench {
	b := &bench{results: &results{took: time.Millisecond}, metrics: prometheus.NewRegistry(), log: new(bytes.Buffer)}
	b.Admission = admission.New(admission.Deps{
		Results: b.results, Accounts: execute.NewAccounts(), Counter: memory.New(time.Now), Now: time.Now, Metrics: b.metrics,
		Log: slog.New(slog.NewTextHandler(b.log, nil)),
	})
	return b
}

// enter makes a request, which leaves at once.
func (b *bench) enter(t *testing.T, key contract.KeyDigest, from netip.Addr) error {
	t.Helper()
	leave, err := b.Enter(t.Context(), key, from)
	if err == nil {
		leave(nil)
	}
	return err
}

// retryAfter is the Retry-After of an error; 0 for none.
func retryAfter(err error) int {
	later, ok := errors.AsType[*apierr.RetryAfterError](err)
	if !ok || !errors.Is(err, apierr.Unavailable()) {
		return 0
	}
	return later.Seconds
}

func run(t *testing.T, cases map[string]func(*testing.T, *bench)) {
	t.Helper()
	for name, check := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { check(t, newBench()) })
		})
	}
}

// spec: unknown-keys
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	run(t, map[string]func(*testing.T, *bench){
		"beyond 20 a second from one address are refused without a look-up": func(t *testing.T, b *bench) {
			b.results.took = 0
			for range 3 {
				b.results.lookUps.Store(0)
				for n := range 3 * perSecond {
					err := b.enter(t, unknown(n), here)
					if n < perSecond && !errors.Is(err, apierr.InvalidAPIKey()) || n >= perSecond && retryAfter(err) != 1 {
						t.Fatalf("key %d: %v", n, err)
					}
				}
				if n := b.results.lookUps.Load(); n != perSecond {
					t.Errorf("%d look-ups", n)
				}
				if err := b.enter(t, unknown(0), there); !errors.Is(err, apierr.InvalidAPIKey()) {
					t.Errorf("another address: %v", err)
				}
				<-time.After(time.Second)
			}
			if n := metrictest.Value(t, b.metrics, "prism_limit_refusals_total unknown_keys"); n != 3*2*perSecond {
				t.Errorf("%v refusals are counted", n)
			}
		},
		"that come at once are looked up as often": func(t *testing.T, b *bench) {
			var invalid, refused atomic.Int64
			var group sync.WaitGroup
			for n := range 50 * perSecond {
				group.Go(func() {
					switch err := b.enter(t, unknown(n), here); {
					case errors.Is(err, apierr.InvalidAPIKey()):
						invalid.Add(1)
					case retryAfter(err) == 1:
						refused.Add(1)
					}
				})
			}
			group.Wait()
			if invalid.Load() != perSecond || refused.Load() != 49*perSecond || b.results.lookUps.Load() != perSecond {
				t.Errorf("%d look-ups: %d invalid, %d refused", b.results.lookUps.Load(), invalid.Load(), refused.Load())
			}
		},
		"leave a key that the gateway knows alone": func(t *testing.T, b *bench) {
			if err := b.enter(t, known(1), here); err != nil {
				t.Fatal(err)
			}
			for n := range perSecond {
				_ = b.enter(t, unknown(n), here)
			}
			if err := b.enter(t, known(1), here); err != nil {
				t.Errorf("a key that was seen: %v", err)
			}
			if err := b.enter(t, known(2), here); retryAfter(err) != 1 {
				t.Errorf("a key that was not seen: %v", err)
			}
			if err := b.enter(t, known(2), there); err != nil {
				t.Errorf("a key that was not seen, from another address: %v", err)
			}
		},
	})
}

func TestKnownKeys(t *testing.T) {
	t.Parallel()
	run(t, map[string]func(*testing.T, *bench){
		"are looked up once": func(t *testing.T, b *bench) {
			for range 3 {
				if err := b.enter(t, known(1), here); err != nil {
					t.Error(err)
				}
			}
			if n := b.results.lookUps.Load(); n != 1 {
				t.Errorf("%d look-ups", n)
			}
		},
		"are never refused for their number": func(t *testing.T, b *bench) {
			var group sync.WaitGroup
			for n := range 200 {
				for range 5 {
					group.Go(func() {
						if err := b.enter(t, known(byte(n)), here); err != nil {
							t.Error(err)
						}
					})
				}
			}
			group.Wait()
		},
		// spec: key-revocation, account-limits
		"that are refused later no longer count for their account": func(t *testing.T, b *bench) {
			leave, err := b.Enter(t.Context(), known(1), here)
			if err != nil {
				t.Fatal(err)
			}
			leave(errors.Join(errors.New("revoked"), apierr.InvalidAPIKey()))
			b.results.set(apierr.InvalidAPIKey())
			for range perSecond {
				if err := b.enter(t, known(1), here); !errors.Is(err, apierr.InvalidAPIKey()) {
					t.Errorf("got %v", err)
				}
			}
			if err := b.enter(t, known(1), here); retryAfter(err) != 1 {
				t.Errorf("got %v", err)
			}
		},
		"are not refused for faults of results": func(t *testing.T, b *bench) {
			b.results.took = 0
			for _, fault := range []error{contract.ErrUnavailable, errors.New("a bug")} {
				b.results.set(fault)
				for range 2 * perSecond {
					if err := b.enter(t, known(1), here); !errors.Is(err, fault) {
						t.Fatalf("got %v", err)
					}
				}
			}
			b.results.set(nil)
			if err := b.enter(t, known(1), here); err != nil {
				t.Error(err)
			}
		},
		"wait for results no longer than a look-up": func(t *testing.T, b *bench) {
			b.results.took = time.Hour
			var group sync.WaitGroup
			for n := range 2 * perSecond {
				group.Go(func() {
					began := time.Now()
					err := b.enter(t, known(byte(n)), here)
					if !errors.Is(err, contract.ErrUnavailable) && retryAfter(err) != 1 {
						t.Errorf("got %v", err)
					}
					if took := time.Since(began); took > contract.ResultsWait {
						t.Errorf("took %s", took)
					}
				})
			}
			group.Wait()
		},
	})
}
