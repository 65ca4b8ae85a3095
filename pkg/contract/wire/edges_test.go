package wire_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/httpkit"
)

// Distinct tokens as settings allow them.
const (
	tokenA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	tokenB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	tokenC = "cccccccccccccccccccccccccccccccc"
)

// spec: token-for-each-edge, token-lists
func TestACallNeedsATokenThatBothSidesHave(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		caller, service []string
		ok              bool
		refusals        int64
	}{
		"the service has one more":                       {[]string{tokenA}, []string{tokenB, tokenA}, true, 0},
		"the caller has a newer one first":               {[]string{tokenB, tokenA}, []string{tokenA}, true, 1},
		"the token of another service":                   {[]string{tokenA}, []string{tokenB, tokenC}, false, 1},
		"no token of the caller's list is the service's": {[]string{tokenA, tokenC}, []string{tokenB}, false, 2},
		"a caller without tokens":                        {nil, []string{tokenB}, false, 0},
		"a service without tokens":                       {[]string{tokenA}, nil, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var model, requests atomic.Int64
			url := serve(t, func(app *fiber.App, log *slog.Logger) {
				app.Use(func(c *fiber.Ctx) error { requests.Add(1); return c.Next() })
				wire.MountModels(app, asking(func(context.Context, contract.Ask) (contract.Outcome, error) {
					model.Add(1)
					return contract.Outcome{}, nil
				}), tokens(row.service...), log)
			})
			c, err := wire.NewModels(wire.ClientConfig{URL: url, Tokens: tokens(row.caller...)}, wire.ClientDeps{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.Ask(t.Context(), contract.Ask{})
			if (err == nil) != row.ok || err != nil && !errors.Is(err, contract.ErrUnavailable) {
				t.Errorf("got %v", err)
			}
			if refusals := requests.Load() - model.Load(); refusals != row.refusals || (model.Load() == 1) != row.ok {
				t.Errorf("%d model calls, %d refusals", model.Load(), refusals)
			}
		})
	}
}

// spec: token-length
func TestFilesOfTokensAreChecked(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"":                     "must have a token",
		"short\n":              "must be tokens of 32 or more",
		tokenA + "\nshort\n":   "must be tokens of 32 or more",
		tokenA + " " + tokenB:  "must be tokens of 32 or more",
		tokenA + "\n" + tokenB: "",
	} {
		file := filepath.Join(t.TempDir(), "tokens")
		write(t, file, content)
		_, err := wire.ModelsTokens{File: file}.Open(slog.New(slog.DiscardHandler))
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "PRISM_MODEL_PROXY_TOKEN_FILE: ")) {
			t.Errorf("%q: %v", content, err)
		}
	}
	if _, err := (wire.ModelsTokens{File: "/nowhere"}).Open(nil); err == nil || !strings.Contains(err.Error(), "PRISM_MODEL_PROXY_TOKEN_FILE: /nowhere: no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	next := file + ".next" // replaced as a whole, as Kubernetes does
	if err := os.WriteFile(next, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, file); err != nil {
		t.Fatal(err)
	}
}

// load calls a model without pause from several goroutines until it is stopped, and reports each call that fails.
type load struct {
	t     *testing.T
	calls atomic.Int64
	stop  context.CancelFunc
	wg    sync.WaitGroup
}

func startLoad(t *testing.T, c wire.Models) *load {
	ctx, stop := context.WithCancel(context.Background())
	l := &load{t: t, stop: stop}
	for range 4 {
		l.wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := c.Ask(context.WithoutCancel(ctx), contract.Ask{}); err != nil {
					t.Errorf("a call failed: %v", err)
					return
				}
				l.calls.Add(1)
			}
		})
	}
	return l
}

// until lets calls go on until a condition holds, and for some calls more.
func (l *load) until(what string, holds func() bool) {
	l.t.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for done := int64(-1); done < 0 || l.calls.Load() < done+100; {
		if done < 0 && holds() {
			done = l.calls.Load()
		}
		select {
		case <-tick.C:
		case <-deadline:
			l.t.Fatalf("%s did not happen", what)
		}
	}
}

func (l *load) end() {
	l.stop()
	l.wg.Wait()
}

// Both sides read their files again, in either order.
// spec: rotation-without-restart
func TestTokensAreRotatedUnderLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	callerFile, serviceFile := filepath.Join(dir, "caller"), filepath.Join(dir, "service")
	write(t, callerFile, tokenA)
	write(t, serviceFile, tokenA)
	open := func(file string) *wire.Tokens {
		found, err := wire.ModelsTokens{File: file}.Open(slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	accepted := open(serviceFile)
	var shown atomic.Value
	url, ended := serveUntil(t.Context(), t, httpkit.Config{}, func(app *fiber.App, log *slog.Logger) {
		app.Use(func(c *fiber.Ctx) error {
			if header := c.Request().Header.Peek("Authorization"); accepted.Accepts(header) {
				shown.Store(string(header))
			}
			return c.Next()
		})
		wire.MountModels(app, calm{}, accepted, log)
	})
	_ = ended
	c, err := wire.NewModels(wire.ClientConfig{URL: url, Tokens: open(callerFile)}, wire.ClientDeps{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := startLoad(t, c)
	defer l.end()
	l.until("the old token", func() bool { return shown.Load() == "Bearer "+tokenA })
	write(t, callerFile, tokenB+"\n"+tokenA+"\n") // the caller first: the service refuses the new token, and gets the old one
	write(t, serviceFile, tokenB+"\n"+tokenA+"\n")
	l.until("the new token", func() bool { return shown.Load() == "Bearer "+tokenB })
	write(t, serviceFile, tokenB)
	l.until("the end of the old token", func() bool { return !accepted.Accepts([]byte("Bearer " + tokenA)) })
	write(t, callerFile, "too short") // not usable, so the last list stays
	l.until("more calls", func() bool { return true })
	if !accepted.Accepts([]byte("Bearer " + tokenB)) {
		t.Error("the new token is refused")
	}
}
