package wire_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/httpkit"
)

// asking is a model of one function.
type asking func(context.Context, contract.Ask) (contract.Outcome, error)

func (f asking) Ask(ctx context.Context, a contract.Ask) (contract.Outcome, error) { return f(ctx, a) }

// connectModels serves a model until the test ends, and connects to it.
func connectModels(t *testing.T, cfg httpkit.Config, m contract.Models) patient {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	url, ended := serveUntil(ctx, t, cfg, func(app *fiber.App, log *slog.Logger) { wire.MountModels(app, m, token, log) })
	c := dialModels(t, url)
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

// patient is a model whose callers wait for as long as a machine of any load takes.
type patient struct{ *wire.Models }

func (p patient) Ask(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Minute)
		defer cancel()
	}
	return p.Models.Ask(ctx, a)
}

func dialModels(t *testing.T, url string) patient {
	t.Helper()
	c, err := wire.NewModels(wire.ClientConfig{URL: url, Token: token}, wire.ClientDeps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return patient{c}
}

func echo(_ context.Context, a contract.Ask) (contract.Outcome, error) {
	return contract.Outcome{Error: a.Context}, nil
}

func TestEachCallGetsItsOwnAnswer(t *testing.T) {
	t.Parallel()
	c := connectModels(t, httpkit.Config{}, asking(echo))
	var group sync.WaitGroup
	for i := range 300 {
		group.Go(func() {
			// Of all sizes: some fill a write of their own, most share one.
			said := strconv.Itoa(i) + strings.Repeat(" text", i*i/100)
			got, err := c.Ask(t.Context(), contract.Ask{Context: said})
			if err != nil || got.Error != said {
				t.Errorf("call %d: %d bytes %.20q, %v", i, len(got.Error), got.Error, err)
			}
		})
	}
	group.Wait()
}

func TestManyCallsWaitOnFewConnections(t *testing.T) {
	t.Parallel()
	const calls = 100
	var arrived sync.WaitGroup
	arrived.Add(calls)
	release := make(chan struct{})
	url := serve(t, func(app *fiber.App, log *slog.Logger) {
		wire.MountModels(app, asking(func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
			if a.Context == "" {
				return echo(ctx, a)
			}
			arrived.Done()
			<-release
			return echo(ctx, a)
		}), token, log)
	})
	proxy := newCounter(t, strings.TrimPrefix(url, "http://"))
	c := dialModels(t, "http://"+proxy.ln.Addr().String())
	var group sync.WaitGroup
	for range calls {
		group.Go(func() {
			if _, err := c.Ask(t.Context(), contract.Ask{Context: "wait"}); err != nil {
				t.Error(err)
			}
		})
	}
	arrived.Wait()
	if _, err := c.Ask(t.Context(), contract.Ask{}); err != nil {
		t.Errorf("a call beside those that wait: %v", err)
	}
	close(release)
	group.Wait()
	if n := proxy.count(); n > 8 {
		t.Errorf("%d calls at once took %d connections", calls, n)
	}
}

// counter passes connections on and counts them.
type counter struct {
	ln net.Listener
	mu sync.Mutex
	n  int
}

func newCounter(t *testing.T, addr string) *counter {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{ln: ln}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			c.mu.Lock()
			c.n++
			c.mu.Unlock()
			out, err := net.Dial("tcp", addr)
			if err != nil {
				_ = in.Close()
				continue
			}
			pass := func(to, from net.Conn) {
				_, _ = io.Copy(to, from)
				_ = to.Close()
			}
			group.Go(func() { pass(out, in) })
			group.Go(func() { pass(in, out) })
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		group.Wait()
	})
	return c
}

func (c *counter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func TestACallThatNobodyWaitsForHoldsNoOther(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	c := connectModels(t, httpkit.Config{}, asking(func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
		if a.Context == "hang" {
			<-release
		}
		return echo(ctx, a)
	}))
	for range 10 { // more than there are connections
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		_, err := c.Ask(ctx, contract.Ask{Context: "hang"})
		cancel()
		if err == nil {
			t.Error("an answer came from a model that hangs")
		}
		if got, err := c.Ask(t.Context(), contract.Ask{Context: "next"}); err != nil || got.Error != "next" {
			t.Errorf("the next call: %+v, %v", got, err)
		}
	}
}

func TestAServiceThatSaysNothingTakesNoMoreCalls(t *testing.T) {
	t.Parallel()
	taken := make(chan net.Conn, 100)
	c := dialModels(t, serveRaw(t, func(conn net.Conn) {
		if err := greet(conn, manners["links"]); err == nil {
			taken <- conn
		}
	}))
	for calls := 0; calls < 20 || len(taken) < 4; calls++ { // a call of a busy machine may end before it is sent
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := c.Ask(ctx, contract.Ask{})
		cancel()
		if err == nil {
			t.Fatal("nobody answered, and yet there is an answer")
		}
	}
	// Each has had a call in vain and was given up: its end is read.
	for range 4 {
		conn := <-taken
		if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Errorf("the connection was not closed: %v", err)
		}
		_ = conn.Close()
	}
}

func TestACallInFlightOutlivesTheStopOfItsService(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	url, ended := serveUntil(ctx, t, httpkit.Config{}, func(app *fiber.App, log *slog.Logger) {
		wire.MountModels(app, asking(func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
			close(arrived)
			<-release
			return echo(ctx, a)
		}), token, log)
	})
	c := dialModels(t, url)
	answered := make(chan error, 1)
	go func() {
		_, err := c.Ask(t.Context(), contract.Ask{Context: "x"})
		answered <- err
	}()
	<-arrived
	stop()
	// It drains: new calls are refused, and know that nothing was taken.
	for {
		if _, err := c.Ask(t.Context(), contract.Ask{}); errors.Is(err, contract.ErrUnavailable) {
			break
		} else if err != nil {
			t.Fatalf("a new call: %v", err)
		}
	}
	close(release)
	if err := <-answered; err != nil {
		t.Errorf("the call in flight: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the stop: %v", err)
	}
}

// What comes to a service as it ends was not taken, and says so.
func TestNoCallIsLostToAStop(t *testing.T) {
	t.Parallel()
	for range 20 {
		ctx, stop := context.WithCancel(t.Context())
		url, ended := serveUntil(ctx, t, httpkit.Config{}, func(app *fiber.App, log *slog.Logger) {
			wire.MountModels(app, asking(echo), token, log)
		})
		c := dialModels(t, url)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for {
					if _, err := c.Ask(t.Context(), contract.Ask{}); errors.Is(err, contract.ErrUnavailable) {
						return
					} else if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		if _, err := c.Ask(t.Context(), contract.Ask{}); err != nil {
			t.Error(err)
		}
		stop()
		group.Wait()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		c.Close()
	}
}

func TestAServiceThatLeavesStillAnswers(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	url, ended := serveUntil(ctx, t, httpkit.Config{DrainDelay: time.Second}, func(app *fiber.App, log *slog.Logger) {
		wire.MountModels(app, asking(echo), token, log)
	})
	c := dialModels(t, url)
	if _, err := c.Ask(t.Context(), contract.Ask{Context: "before"}); err != nil {
		t.Fatal(err)
	}
	stop()
	refused := false
	for !refused {
		_, err := c.Ask(t.Context(), contract.Ask{Context: "while it leaves"})
		refused = errors.Is(err, contract.ErrUnavailable)
		if err != nil && !refused {
			t.Fatal(err)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestACallBeyondTheBoundIsRefused(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	c := connectModels(t, httpkit.Config{MaxInFlight: 1, MaxBodyBytes: wire.BodyLimit},
		asking(func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
			if a.Context == "first" {
				arrived <- struct{}{}
				<-release
			}
			return echo(ctx, a)
		}))
	first := make(chan error, 1)
	go func() {
		_, err := c.Ask(t.Context(), contract.Ask{Context: "first"})
		first <- err
	}()
	<-arrived
	if _, err := c.Ask(t.Context(), contract.Ask{Context: "second"}); !errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("got %v, want that nothing was taken", err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	for { // its place is free again once its answer is out
		if _, err := c.Ask(t.Context(), contract.Ask{Context: "third"}); err == nil {
			return
		} else if !errors.Is(err, contract.ErrUnavailable) {
			t.Fatal(err)
		}
	}
}

func TestAPanicCostsItsCallAlone(t *testing.T) {
	t.Parallel()
	c := connectModels(t, httpkit.Config{}, asking(func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
		if a.Context == "panic" {
			panic("on purpose")
		}
		return echo(ctx, a)
	}))
	if _, err := c.Ask(t.Context(), contract.Ask{Context: "panic"}); err == nil || errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("got %v, want a fault", err)
	}
	if got, err := c.Ask(t.Context(), contract.Ask{Context: "next"}); err != nil || got.Error != "next" {
		t.Errorf("the next call: %+v, %v", got, err)
	}
}

func TestAConnectionThatBreaksTheProtocolIsClosed(t *testing.T) {
	t.Parallel()
	url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountResults(app, calm{}, token, log) })
	for name, sent := range map[string]string{
		"no frame":              "POST /internal/read HTTP/1.1\r\n\r\n",
		"an answer":             "\x02\x00\x00\x00\x01\x00\x03\x00\x00\x00\x00\x00\xc8\x00",
		"a body over the limit": "\x01\x00\x00\x00\x01\x00\x00\xff\xff\xff\xff",
		"a head cut short":      "\x01\x00\x00\x00\x01\x00\x05\x00\x00\x00\x00\x00\x00\x00\x01\x00",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_, err = io.WriteString(conn, "GET /internal/calls HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: prism-calls\r\n"+
				"Authorization: Bearer "+token+"\r\n\r\n"+sent)
			if err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(conn)
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			if resp.StatusCode != http.StatusSwitchingProtocols {
				t.Fatalf("status %d", resp.StatusCode)
			}
			const end = "\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
			if b, _ := io.ReadAll(in); string(b) != end {
				t.Errorf("it was answered %q, want that no call was taken", b)
			}
		})
	}
}

func TestWithoutAnUpgradeThereIsNoSuchRoute(t *testing.T) {
	t.Parallel()
	url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountResults(app, calm{}, token, log) })
	addr := strings.TrimPrefix(url, "http://")
	for _, further := range []string{"", "Connection: Upgrade\r\nUpgrade: websocket\r\n"} {
		if status, _ := exchange(t, addr, "GET", "/internal/calls", further+"Authorization: Bearer "+token+"\r\n"); status != http.StatusNotFound {
			t.Errorf("%q: %d", further, status)
		}
	}
}

func TestClosingWaitsForNoServiceThatHangs(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	c := dialModels(t, "http://"+ln.Addr().String())
	asked := make(chan error, 1)
	go func() {
		_, err := c.Ask(t.Context(), contract.Ask{})
		asked <- err
	}()
	conn, err := ln.Accept() // and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	c.Close()
	if err := <-asked; !errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("got %v, want that nothing was sent", err)
	}
}

func TestClosedClientsTakeNoCalls(t *testing.T) {
	t.Parallel()
	c := connectModels(t, httpkit.Config{}, asking(echo))
	if _, err := c.Ask(t.Context(), contract.Ask{Context: "x"}); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := c.Ask(t.Context(), contract.Ask{Context: "x"}); !errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("got %v, want that nothing was sent", err)
	}
}
