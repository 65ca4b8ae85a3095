package credential_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/prism-results/prism/pkg/credential"
)

// server gives tokens that end.
type server struct {
	fetches atomic.Int64
	life    time.Duration
	takes   time.Duration
	count   *credential.Count
	down    atomic.Bool
}

func (s *server) fetch(ctx context.Context) (credential.Ending[string], error) {
	n := s.fetches.Add(1)
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return credential.Ending[string]{}, ctx.Err()
	}
	if s.down.Load() {
		return credential.Ending[string]{}, errors.New("the server is down")
	}
	return credential.Ending[string]{Value: strconv.FormatInt(n, 10), End: time.Now().Add(s.life)}, nil
}

func (s *server) tokens() credential.Tokens {
	return credential.NewTokens(s.fetch, s.count, slog.New(slog.DiscardHandler))
}

// spec: tokens-are-renewed
func TestTokensAreRenewedBeforeTheyEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{life: 20 * time.Second, takes: time.Second}
		tokens := s.tokens()
		began := time.Now()
		for time.Since(began) < 5*time.Minute {
			asked := time.Now()
			token, err := tokens.Get(t.Context())
			if err != nil || !time.Now().Before(token.End) {
				t.Fatalf("got %v, %v", token, err)
			}
			if waited := time.Since(asked); waited > 0 && s.fetches.Load() > 1 {
				t.Fatalf("a caller waited for %v", waited)
			}
			<-time.After(100 * time.Millisecond)
		}
		if n := s.fetches.Load(); n < 18 || n > 20 { // every 16 s
			t.Errorf("%d fetches", n)
		}
		<-time.After(time.Hour)
		idle := s.fetches.Load()
		<-time.After(time.Hour)
		if s.fetches.Load() != idle {
			t.Error("tokens are renewed that nobody uses")
		}
		if _, err := tokens.Get(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// spec: tokens-are-renewed
func TestCallersShareAFetch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{life: time.Hour, takes: time.Second}
		tokens := s.tokens()
		if tokens.Secret() != "" {
			t.Error("there is a token before one was fetched")
		}
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				if token, err := tokens.Get(t.Context()); err != nil || token.Value != "1" {
					t.Errorf("got %v, %v", token, err)
				}
			})
		}
		callers.Wait()
		want(t, tokens, "1")
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := (&server{life: time.Hour, takes: time.Second}).tokens().Get(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		<-time.After(time.Second)
	})
}

// spec: tokens-are-renewed
func TestATokenIsUsedToItsEndWhileItCannotBeRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		s := &server{life: time.Minute, count: credential.NewRenewals(registry, "postgres", "azure", "aws").Count("azure")}
		counts := func(renewed, failed int64) {
			t.Helper()
			want := fmt.Sprintf(`# HELP prism_credential_renewals_total Tokens and keys of the workload's own identity that were fetched, by whether that succeeded.
# TYPE prism_credential_renewals_total counter
prism_credential_renewals_total{identity="aws",outcome="failed",purpose="postgres"} 0
prism_credential_renewals_total{identity="aws",outcome="renewed",purpose="postgres"} 0
prism_credential_renewals_total{identity="azure",outcome="failed",purpose="postgres"} %d
prism_credential_renewals_total{identity="azure",outcome="renewed",purpose="postgres"} %d
`, failed, renewed)
			if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
				t.Error(err)
			}
		}
		counts(0, 0)
		tokens := s.tokens()
		first, err := tokens.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.down.Store(true)
		for time.Now().Before(first.End) {
			if token, err := tokens.Get(t.Context()); err != nil || token != first {
				t.Fatalf("got %v, %v", token, err)
			}
			<-time.After(time.Second)
		}
		if n := s.fetches.Load(); n < 3 || n > 30 {
			t.Errorf("%d fetches while the server was down", n)
		}
		synctest.Wait()
		counts(1, s.fetches.Load()-1)
		if _, err := tokens.Get(t.Context()); err == nil || err.Error() != "no credentials: the server is down" {
			t.Errorf("got %v", err)
		}
		want(t, tokens, "")
		s.down.Store(false)
		<-time.After(time.Second)
		if token, err := tokens.Get(t.Context()); err != nil || token == first {
			t.Errorf("got %v, %v", token, err)
		}
		counts(2, s.fetches.Load()-2)
	})
}

// spec: tokens-are-renewed
func TestATokenThatIsRefusedIsRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{life: time.Hour}
		tokens := s.tokens()
		if _, err := tokens.Get(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			tokens.Refused("1")
			tokens.Refused("another")
			<-time.After(10 * time.Millisecond)
		}
		synctest.Wait()
		want(t, tokens, "2")
		if n := s.fetches.Load(); n != 2 {
			t.Errorf("%d fetches", n)
		}
	})
}
