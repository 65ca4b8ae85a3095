package e2e

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/certs"
	"github.com/prism-results/prism/pkg/testkit/launch"
)

// TestMutualTLS holds what callers and operators see of TLS between the services.
func TestMutualTLS(t *testing.T) {
	only(t, encrypted, func(t *testing.T, s *stack) {
		// spec: internal-tls
		t.Run("every kind of call goes over TLS", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			id := s.main.create(t, prism, text("over TLS", "idempotency_key", "k")).ok(t).ID
			again := s.main.create(t, prism, text("over TLS", "idempotency_key", "k")).ok(t).ID
			if again != id {
				t.Errorf("the repeat is %s, want %s", again, id)
			}
			failed, _ := s.main.refused(t, prism)
			s.main.post(t, "/v1/results/"+failed.ID+"/retry", "").wantStatus(t, 502)
			r := s.main.get(t, "/v1/prisms/"+prism+"/results?format=csv")
			r.wantStatus(t, 200)
			if !strings.Contains(string(r.body), id) {
				t.Errorf("the export has no row of %s: %s", id, r.body)
			}
		})
		// spec: internal-tls, internal-tls-modes
		t.Run("no service that is called answers in plain HTTP, and each names the setting", func(t *testing.T) {
			t.Parallel()
			for name, token := range map[string]string{
				"prism-results": launch.ResultsToken, "prism-model-proxy": launch.ModelsToken, "prism-console": launch.ConsoleToken,
			} {
				part := s.part(t, name)
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, part.URL()+"/internal/save", strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Authorization", "Bearer "+token)
				resp, err := s.http.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusRequestTimeout || !resp.Close {
					t.Errorf("%s: got %d", name, resp.StatusCode)
				}
				soon(t, part.Process(), "the log names the setting", func() bool {
					return strings.Contains(part.Process().Stderr(), "PRISM_INTERNAL_TLS_MODE=permissive")
				})
			}
		})
		// spec: internal-tls-rotation
		t.Run("certificates and their authority are replaced under load without a failed call", func(t *testing.T) {
			t.Parallel()
			own := s.private(t, nil)
			own.replaceAuthority(t)
		})
	})
}

// replaceAuthority goes through the three steps of docs/operations.md while reads and creates are made and the console is used.
func (s *stack) replaceAuthority(t *testing.T) {
	t.Helper()
	prism := s.main.triage(t)
	id := s.main.create(t, prism, text("before")).ok(t).ID
	signedIn, _ := s.signIn(t, s.main.account)
	ctx, stop := context.WithCancel(t.Context())
	var calls atomic.Int64
	var load sync.WaitGroup
	for range 4 {
		page := *signedIn
		load.Go(func() {
			for ctx.Err() == nil {
				if status, _, body := page.ask(t, "GET", "/console/session", ""); status != 200 {
					t.Errorf("the session: %d %s", status, body)
				}
				s.main.get(t, "/v1/results/"+id).wantStatus(t, 200)
				s.main.create(t, prism, text("under load")).ok(t)
				calls.Add(1)
			}
		})
	}
	defer func() {
		stop()
		load.Wait()
		if calls.Load() == 0 {
			t.Error("there was no load")
		}
	}()

	old, next := s.authorities(t), newAuthority(t)
	write := func(change func(certs.Files) certs.Files) {
		for _, folder := range []string{"gateway", "results", "model-proxy", "runs", "console", "webhooks"} {
			files, err := next.Issue(4*time.Hour, folder, "127.0.0.1")
			if err != nil {
				t.Fatal(err)
			}
			if err := change(files).Write(filepath.Join(s.options.TLS, folder)); err != nil {
				t.Fatal(err)
			}
		}
	}
	reported := func(what, metric string, want func(float64) bool) {
		t.Helper()
		for _, part := range s.parts {
			soon(t, part.Process(), part.Name+" reports "+what, func() bool {
				value, err := part.Metric(t.Context(), metric)
				return err == nil && want(value)
			})
		}
	}
	const expiry, authorities = "prism_internal_tls_expiry_seconds", "prism_internal_tls_authorities"
	both := append(old, next.PEM...)
	write(func(certs.Files) certs.Files { return certs.Files{CA: both} })
	reported("both authorities", authorities, func(n float64) bool { return n == 2 })
	write(func(f certs.Files) certs.Files { f.CA = both; return f })
	reported("a certificate of the new authority", expiry, func(left float64) bool { return left > 3*3600 })
	write(func(f certs.Files) certs.Files { return f })
	reported("the new authority alone", authorities, func(n float64) bool { return n == 1 })
}

// authorities is the content of ca.crt.
func (s *stack) authorities(t *testing.T) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(s.options.TLS, "gateway", "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func newAuthority(t *testing.T) *certs.Authority {
	t.Helper()
	a, err := certs.New()
	if err != nil {
		t.Fatal(err)
	}
	return a
}
