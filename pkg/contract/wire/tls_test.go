package wire_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/contracttest"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/mtls"
	"github.com/prism-results/prism/pkg/testkit/certs"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
	"github.com/prism-results/prism/pkg/testkit/syncbuffer"
)

// side is one of two services: a folder, what was read from it, and what was logged about it.
type side struct {
	*mtls.Identity
	dir     string
	metrics *prometheus.Registry
	log     *syncbuffer.Buffer
}

func newSide(t *testing.T, files certs.Files) *side {
	t.Helper()
	s := &side{dir: t.TempDir(), metrics: prometheus.NewRegistry(), log: &syncbuffer.Buffer{}}
	s.write(t, files)
	var err error
	if s.Identity, err = (mtls.Settings{Dir: s.dir}).Open(slog.New(slog.NewTextHandler(s.log, nil)), s.metrics); err != nil {
		t.Fatal(err)
	}
	return s
}

// write replaces the files one after the other.
func (s *side) write(t *testing.T, files certs.Files) {
	t.Helper()
	for name, content := range map[string][]byte{"tls.crt": files.Cert, "tls.key": files.Key, "ca.crt": files.CA} {
		write(t, filepath.Join(s.dir, name), string(content))
	}
}

// authorities is how many the side trusts by now.
func (s *side) authorities(t *testing.T) float64 {
	t.Helper()
	return metrictest.Values(t, s.metrics)["prism_internal_tls_authorities"]
}

func newAuthority(t *testing.T) *certs.Authority {
	t.Helper()
	a, err := certs.New()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// issue makes a certificate for an hour, and a list of authorities beside it.
func issue(t *testing.T, from *certs.Authority, host string, trusted ...*certs.Authority) certs.Files {
	t.Helper()
	return issueFor(t, time.Hour, from, host, trusted...)
}

func issueFor(t *testing.T, expires time.Duration, from *certs.Authority, host string, trusted ...*certs.Authority) certs.Files {
	t.Helper()
	f, err := from.Issue(expires, host)
	if err != nil {
		t.Fatal(err)
	}
	f.CA = nil
	for _, a := range trusted {
		f.CA = append(f.CA, a.PEM...)
	}
	return f
}

const loopback = "127.0.0.1"

// serveTLS serves both interfaces to callers with a good certificate until the test ends, and counts the requests.
func serveTLS(t *testing.T, cfg httpkit.Config, mount func(*fiber.App, *slog.Logger)) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	url, ended := serveUntil(ctx, t, cfg, mount)
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return strings.Replace(url, "http://", "https://", 1)
}

// spec: internal-tls
func TestResultsAndModelsOverTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	service, caller := newSide(t, issue(t, a, loopback, a)), newSide(t, issue(t, a, "gateway", a))
	contracttest.Results(t, func(t *testing.T, r contract.Results) contract.Results {
		url := serveTLS(t, httpkit.Config{TLS: service.Identity}, func(app *fiber.App, log *slog.Logger) { wire.MountResults(app, r, tokens(token), log) })
		c, err := wire.NewResults(wire.ClientConfig{URL: url, TLS: caller.Identity, Tokens: tokens(token)}, wire.ClientDeps{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	})
	contracttest.Models(t, func(t *testing.T, m contract.Models) contract.Models {
		url := serveTLS(t, httpkit.Config{TLS: service.Identity}, func(app *fiber.App, log *slog.Logger) { wire.MountModels(app, m, tokens(token), log) })
		return dialTLS(t, url, caller)
	})
}

func dialTLS(t *testing.T, url string, caller *side) patient {
	t.Helper()
	c, err := wire.NewModels(wire.ClientConfig{URL: url, TLS: caller.Identity, Tokens: tokens(token)}, wire.ClientDeps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return patient{c}
}

// A save that nobody took may be made again; the gateway tells its caller so by the 503.
//
// spec: internal-tls
func TestServicesThatDoNotAgreeOnTLSTakeNothing(t *testing.T) {
	t.Parallel()
	a, stranger := newAuthority(t), newAuthority(t)
	good := issue(t, a, loopback, a)
	for name, c := range map[string]struct {
		service, caller       certs.Files
		serviceLog, callerLog string
	}{
		"the caller does not know the service's authority": {
			issue(t, stranger, loopback, a), good, "", "certificate signed by unknown authority",
		},
		"the service does not know the caller's authority": {
			good, issue(t, stranger, "gateway", a), "certificate signed by unknown authority", "unknown certificate authority",
		},
		"the service's certificate has expired":      {issueFor(t, -time.Second, a, loopback, a), good, "", "certificate has expired"},
		"the caller's certificate has expired":       {good, issueFor(t, -time.Second, a, "gateway", a), "certificate has expired", "expired certificate"},
		"the certificate is that of another service": {issue(t, a, "model-proxy", a), good, "", "doesn't contain any IP SANs"},
		"the service speaks plain HTTP":              {certs.Files{}, good, "", "the service speaks plain HTTP: set PRISM_INTERNAL_TLS_DIR there"},
		"the caller speaks plain HTTP":               {good, certs.Files{}, "refused a call in plain HTTP: give the caller an https:// address", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			cfg, service, caller := httpkit.Config{}, &side{log: &syncbuffer.Buffer{}}, &side{log: &syncbuffer.Buffer{}}
			if c.service.Cert != nil {
				service = newSide(t, c.service)
				cfg.TLS = service.Identity
			}
			url := serveTLS(t, cfg, func(app *fiber.App, log *slog.Logger) {
				app.Use(func(c *fiber.Ctx) error { requests.Add(1); return c.Next() })
				wire.MountResults(app, calm{}, tokens(token), log)
			})
			if c.caller.Cert != nil {
				caller = newSide(t, c.caller)
			} else {
				url = strings.Replace(url, "https://", "http://", 1)
			}
			client, err := wire.NewResults(wire.ClientConfig{URL: url, TLS: caller.Identity, Tokens: tokens(token)}, wire.ClientDeps{})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // on a machine of any load
			defer cancel()
			for range 3 {
				if _, err := client.Save(ctx, contract.Save{}); !errors.Is(err, contract.ErrUnavailable) {
					t.Errorf("save: %v", err)
				}
			}
			if _, err := contract.Open(ctx, client, contract.KeyDigest{}, api.ExportResults, api.ExportResultsRequest{}); !errors.Is(err, contract.ErrUnavailable) {
				t.Errorf("export: %v", err)
			}
			if n := requests.Load(); n != 0 {
				t.Errorf("%d requests were taken", n)
			}
			for name, logs := range map[string][2]string{"service": {c.serviceLog, service.log.String()}, "caller": {c.callerLog, caller.log.String()}} {
				if !strings.Contains(logs[1], logs[0]) || logs[0] != "" && !strings.Contains(logs[1], "PRISM_INTERNAL_TLS_DIR") {
					t.Errorf("the %s logged %q, want %q", name, logs[1], logs[0])
				}
			}
		})
	}
}

func TestAnEncryptedAddressNeedsAnIdentity(t *testing.T) {
	t.Parallel()
	if _, err := wire.NewModels(wire.ClientConfig{URL: "https://model-proxy:8082"}, wire.ClientDeps{}); err == nil || !strings.Contains(err.Error(), "PRISM_INTERNAL_TLS_DIR") {
		t.Errorf("got %v", err)
	}
}

func TestALostResponseOverTLSIsAFault(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	service, caller := newSide(t, issue(t, a, loopback, a)), newSide(t, issue(t, a, "gateway", a))
	var requests atomic.Int64
	url := serveRaw(t, func(conn net.Conn) {
		secure := tls.Server(conn, service.Server())
		if read(bufio.NewReader(secure)) == nil {
			requests.Add(1)
		}
		_ = secure.Close()
	})
	c, err := wire.NewResults(wire.ClientConfig{
		URL: strings.Replace(url, "http://", "https://", 1), TLS: caller.Identity, Tokens: tokens(token),
	}, wire.ClientDeps{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Save(t.Context(), contract.Save{}); err == nil || errors.Is(err, contract.ErrUnavailable) || requests.Load() != 1 {
		t.Errorf("got %v after %d requests, want a fault: nobody knows whether it was saved", err, requests.Load())
	}
}

// The files of both sides change while calls are made on new connections: both trust the new authority beside the old one, then
// each has a certificate of the new one, then the old one ends.
//
// spec: internal-tls-rotation, rotation-without-restart
func TestCertificatesAndTheirAuthorityAreReplacedUnderLoad(t *testing.T) {
	t.Parallel()
	a, b := newAuthority(t), newAuthority(t)
	service, caller := newSide(t, issue(t, a, loopback, a)), newSide(t, issue(t, a, "gateway", a))
	url := serveTLS(t, httpkit.Config{TLS: service.Identity}, func(app *fiber.App, log *slog.Logger) {
		wire.MountModels(app, calm{}, tokens(token), log)
	})
	c := dialTLS(t, url, caller)
	accepted := func(files certs.Files) func() bool {
		probe := newSide(t, files)
		return func() bool {
			c.Close() // so that the load makes new connections
			p := dialTLS(t, url, probe)
			defer p.Close()
			_, err := p.Ask(t.Context(), contract.Ask{})
			return err == nil
		}
	}
	l := startLoad(t, c)
	defer l.end()
	l.until("calls", accepted(issue(t, a, "gateway", a)))

	service.write(t, issue(t, a, loopback, a, b))
	caller.write(t, issue(t, a, "gateway", a, b))
	l.until("both trust both authorities", func() bool {
		c.Close()
		return service.authorities(t) == 2 && caller.authorities(t) == 2
	})

	next := issue(t, b, loopback, a, b)
	write(t, filepath.Join(service.dir, "tls.crt"), string(next.Cert)) // the key does not match yet
	l.until("a warning", func() bool {
		c.Close()
		return service.authorities(t) == 2 && strings.Contains(service.log.String(), "the previous ones stay in use")
	})
	service.write(t, next)
	l.until("the service has a new certificate", accepted(issue(t, b, "gateway", b)))
	caller.write(t, issue(t, b, "gateway", b))
	l.until("the caller trusts the new authority alone", func() bool { c.Close(); return caller.authorities(t) == 1 })
	service.write(t, issue(t, b, loopback, b))
	old := accepted(issue(t, a, "gateway", b))
	l.until("the old authority is refused", func() bool { return !old() })
}

// While services are switched to TLS, and back, each of the two has callers of both kinds.
//
// spec: internal-tls-modes
func TestAPermissiveServiceServesBothKindsOfCallers(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	service, caller := newSide(t, issue(t, a, loopback, a)), newSide(t, issue(t, a, "gateway", a))
	url := serveTLS(t, httpkit.Config{TLS: service.Identity, PlainToo: true}, func(app *fiber.App, log *slog.Logger) {
		wire.MountModels(app, calm{}, tokens(token), log)
	})
	for name, c := range map[string]contract.Models{
		"TLS": dialTLS(t, url, caller), "plain HTTP": dialModels(t, strings.Replace(url, "https://", "http://", 1)),
	} {
		for range 2 {
			if _, err := c.Ask(t.Context(), contract.Ask{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
