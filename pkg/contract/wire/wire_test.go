package wire_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/contracttest"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/httpkit"
)

const token = "the-token"

// tokens is a list without the checks of a setting.
func tokens(list ...string) *wire.Tokens {
	t, err := wire.ResultsTokens{List: list}.Open(slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err) // there is no file
	}
	return t
}

// serve runs an internal service on loopback and returns its address.
func serve(t testing.TB, mount func(*fiber.App, *slog.Logger)) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	url, ended := serveUntil(ctx, t, httpkit.Config{}, mount)
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return url
}

// dial makes a client that shows a token and closes with the test.
func dial[C interface{ Close() }](t *testing.T, url, token string, connect func(wire.ClientConfig, wire.ClientDeps) (C, error)) C {
	t.Helper()
	c, err := connect(wire.ClientConfig{URL: url, Tokens: tokens(token)}, wire.ClientDeps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// serveUntil is serve until ctx ends. How it ended comes in the channel.
func serveUntil(ctx context.Context, t testing.TB, cfg httpkit.Config, mount func(*fiber.App, *slog.Logger)) (string, <-chan error) {
	t.Helper()
	return serveWith(ctx, t, cfg, httpkit.Deps{}, mount)
}

func serveWith(
	ctx context.Context, t testing.TB, cfg httpkit.Config, deps httpkit.Deps, mount func(*fiber.App, *slog.Logger),
) (string, <-chan error) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	cfg.Name, cfg.BodyLimit, cfg.ClosingNotice = "test", wire.BodyLimit, true
	deps.Log = log
	server := httpkit.New(cfg, deps)
	mount(server.App(), log)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, ln) }()
	return "http://" + ln.Addr().String(), ended
}

func connectResults(t *testing.T, r contract.Results) contract.Results {
	t.Helper()
	url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountResults(app, r, tokens(token), log) })
	c := resultsAt(t, url)
	return c
}

func TestResultsInProcess(t *testing.T) {
	t.Parallel()
	contracttest.Results(t, func(_ *testing.T, r contract.Results) contract.Results { return r })
}

func TestResultsOverTheWire(t *testing.T) {
	t.Parallel()
	contracttest.Results(t, connectResults)
}

func TestModelsInProcess(t *testing.T) {
	t.Parallel()
	contracttest.Models(t, func(_ *testing.T, m contract.Models) contract.Models { return m })
}

func TestModelsOverTheWire(t *testing.T) {
	t.Parallel()
	contracttest.Models(t, func(t *testing.T, m contract.Models) contract.Models {
		url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountModels(app, m, tokens(token), log) })
		return dial(t, url, token, wire.NewModels)
	})
}

// noResults would panic if a call reached it.
type noResults struct{ contract.Results }

func TestEveryPathAsksForTheToken(t *testing.T) {
	t.Parallel()
	url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountResults(app, noResults{}, tokens(token), log) })
	for _, path := range []string{"/internal/save", "/internal/operations/readResult", "/internal/unknown", "/", "/metrics"} {
		for _, shown := range []string{"", "Bearer ", "Bearer the-toke", "Bearer the-token2", "Basic the-token", "the-token"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, bytes.NewReader([]byte("{}")))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Authorization", shown)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s with %q responded %d", path, shown, resp.StatusCode)
			}
		}
	}
}

func TestAServiceThatIsNotThereTookNothing(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + ln.Addr().String()
	_ = ln.Close()
	c, err := wire.NewResults(wire.ClientConfig{URL: url, Tokens: tokens(token)}, wire.ClientDeps{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := contract.Do(t.Context(), c, contract.KeyDigest{}, api.ReadResult, api.ResultInFormat{}); !errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("read: %v", err)
	}
	if _, err := contract.Open(t.Context(), c, contract.KeyDigest{}, api.ExportResults, api.ExportResultsRequest{}); !errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("export: %v", err)
	}
}

// serveRaw hands each connection to a goroutine of its own, until the test ends.
func serveRaw(t *testing.T, handle func(net.Conn)) (url string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go handle(conn)
		}
	}()
	return "http://" + ln.Addr().String()
}

func TestALostResponseIsAFault(t *testing.T) {
	t.Parallel()
	url := serveRaw(t, func(conn net.Conn) {
		_ = read(bufio.NewReader(conn))
		_ = conn.Close()
	})
	c, err := wire.NewResults(wire.ClientConfig{URL: url, Tokens: tokens(token)}, wire.ClientDeps{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Save(t.Context(), contract.Save{}); err == nil || errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("got %v, want a fault: nobody knows whether it was saved", err)
	}
}

func TestAddressesOfServicesAreChecked(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "127.0.0.1:1", "ftp://x", "https://x", "http://", "http://x/path", "https://x/path"} {
		if _, err := wire.NewModels(wire.ClientConfig{URL: url}, wire.ClientDeps{}); err == nil {
			t.Errorf("%q was taken", url)
		}
	}
}

func TestAServiceThatWentAwayWhileTheConnectionWasIdleTookNothing(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	service, caller := newSide(t, issue(t, a, loopback, a)), newSide(t, issue(t, a, "gateway", a))
	for name, c := range map[string]struct {
		config httpkit.Config
		dial   func(url string) wire.Models
	}{
		"in plain text": {httpkit.Config{}, func(url string) wire.Models { return dialModels(t, url) }},
		"over TLS": {httpkit.Config{TLS: service.Identity}, func(url string) wire.Models {
			return dialTLS(t, strings.Replace(url, "http://", "https://", 1), caller)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			url, stopped := serveUntil(ctx, t, c.config, func(app *fiber.App, log *slog.Logger) {
				wire.MountModels(app, calm{}, tokens(token), log)
			})
			models := c.dial(url)
			if _, err := models.Ask(t.Context(), contract.Ask{}); err != nil {
				t.Fatal(err)
			}
			stop()
			if err := <-stopped; err != nil {
				t.Fatal(err)
			}
			if _, err := models.Ask(t.Context(), contract.Ask{}); !errors.Is(err, contract.ErrUnavailable) {
				t.Errorf("got %v, want that the model was not called", err)
			}
		})
	}
}

func TestAServiceWithAnotherTokenTookNothing(t *testing.T) {
	t.Parallel()
	url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountResults(app, noResults{}, tokens(token), log) })
	c, err := wire.NewResults(wire.ClientConfig{URL: url, Tokens: tokens("another")}, wire.ClientDeps{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Save(t.Context(), contract.Save{}); !errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("got %v, want that nothing was taken", err)
	}
}

func TestAMethodThatIsUnavailableIsCalledOnce(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	c := connectModels(t, httpkit.Config{}, asking(func(context.Context, contract.Ask) (contract.Outcome, error) {
		calls.Add(1)
		return contract.Outcome{}, contract.ErrUnavailable
	}))
	if _, err := c.Ask(t.Context(), contract.Ask{}); !errors.Is(err, contract.ErrUnavailable) || calls.Load() != 1 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

// spec: retry-after-of-a-503
func TestAMethodThatIsUnavailableTellsWhenToCallAgain(t *testing.T) {
	t.Parallel()
	url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountResults(app, calm{}, tokens(token), log) })
	for path, want := range map[string]int{"/internal/renew-leases": 200, "/internal/operations/readRecord": 503} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if after := res.Header.Get("Retry-After"); res.StatusCode != want || (after == "1") != (want == 503) {
			t.Errorf("%s: got %d with Retry-After %q", path, res.StatusCode, after)
		}
	}
}
