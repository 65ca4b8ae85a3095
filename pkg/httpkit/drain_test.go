package httpkit

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
)

// gate is a route that blocks until it is let go.
type gate struct {
	entered chan context.Context
	open    chan struct{}
}

func newGate() *gate {
	return &gate{entered: make(chan context.Context, 16), open: make(chan struct{})}
}

func (g *gate) route(app *fiber.App) {
	echo(app)
	app.Get("/gate", func(c *fiber.Ctx) error {
		g.entered <- c.UserContext()
		<-g.open
		return Send(c, 200, "text/plain", []byte("done"))
	})
}

func (g *gate) wait(t *testing.T) context.Context {
	t.Helper()
	select {
	case ctx := <-g.entered:
		return ctx
	case <-time.After(limit):
		t.Fatal("the request did not arrive")
		return nil
	}
}

// spec: stopping
func TestAStoppingServerFinishesWhatItTookAndRefusesTheRest(t *testing.T) {
	t.Parallel()
	g := newGate()
	r := start(t, Config{}, Deps{}, g.route)
	busy, kept, slow := r.dial(), r.dial(), r.dial()
	wantReply(t, kept.send(get("/v1/results/a")).reply("GET"), 200, `{"id":"a"}`)
	slow.send("GET /v1/results/a HTTP/1.1\r\nHo")
	busy.send(get("/gate"))
	ctx := g.wait(t)
	if err := r.Ready(context.Background()); err != nil {
		t.Errorf("not ready while serving: %v", err)
	}

	r.stop()
	if r.Ready(context.Background()) == nil {
		t.Error("ready after being told to stop")
	}
	eventually(t, "refusing", r.tracker.refusing.Load)
	for name, p := range map[string]*peer{"a new connection": r.dial(), "a kept one": kept} {
		got := p.send(get("/v1/results/b")).reply("GET")
		wantError(t, got, 503, unavailableBody)
		if !got.close {
			t.Errorf("%s: not closed", name)
		}
		p.end()
	}
	if ctx.Err() != nil {
		t.Error("the context of a request in flight has ended")
	}
	close(g.open)
	got := busy.reply("GET")
	wantReply(t, got, 200, "done")
	if !got.close {
		t.Error("the last answer does not say that the connection closes")
	}
	_ = busy.Close()
	slow.end() // it sent half a header, and was not taken
	if err := r.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if c, err := net.Dial("tcp", r.addr); err == nil {
		_ = c.Close()
		t.Error("still listening")
	}
}

// spec: drain-delay
func TestDrainDelayServesOnAndAsksToLeave(t *testing.T) {
	t.Parallel()
	r := prepare(t, Config{DrainDelay: time.Hour}, Deps{}, echo)
	delay := make(chan time.Time)
	asked := make(chan struct{})
	r.deps.After = func(d time.Duration) <-chan time.Time {
		if d == time.Hour {
			close(asked)
			return delay
		}
		return time.After(d)
	}
	r.run()
	p := r.dial()
	if p.send(get("/v1/results/a")).reply("GET").close {
		t.Error("closed while serving")
	}
	r.stop()
	<-asked
	got := p.send(get("/v1/results/b")).reply("GET")
	wantReply(t, got, 200, `{"id":"b"}`)
	if !got.close {
		t.Error("a leaving server keeps the connection")
	}
	p.end()
	if r.Ready(context.Background()) == nil {
		t.Error("ready while leaving")
	}
	close(delay)
	if err := r.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestDrainLimitBoundsTheWait(t *testing.T) {
	t.Parallel()
	g := newGate()
	r := start(t, Config{DrainLimit: 10 * time.Millisecond}, Deps{}, g.route)
	r.dial().send(get("/gate"))
	ctx := g.wait(t)
	r.stop()
	select {
	case <-ctx.Done(): // the handler is told that nobody waits any more
	case <-time.After(limit):
		t.Error("the handler's context did not end")
	}
	close(g.open)
	if err := r.wait(); err == nil || !strings.Contains(err.Error(), "1 requests were not done") {
		t.Errorf("Run: %v", err)
	}
}

func TestAStuckHandlerDoesNotHoldRun(t *testing.T) {
	t.Parallel()
	g := newGate()
	r := start(t, Config{DrainLimit: 10 * time.Millisecond}, Deps{}, g.route)
	p := r.dial().send(get("/gate"))
	g.wait(t)
	r.stop()
	if err := r.wait(); err == nil {
		t.Error("Run says that all went well")
	}
	_, _ = io.ReadAll(p.Conn) // cut
	close(g.open)
}

func TestStoppingBeforeServing(t *testing.T) {
	t.Parallel()
	for range 20 {
		r := prepare(t, Config{}, Deps{}, echo)
		if r.Ready(context.Background()) == nil {
			t.Error("ready before Run")
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := r.Run(ctx, ln); err != nil {
			t.Errorf("Run: %v", err)
		}
		if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the listener is open: %v", err)
		}
	}
}

// fasthttp returns nil for it; a server that ends by itself is a fault.
func TestAListenerThatSomebodyClosedIsAFault(t *testing.T) {
	t.Parallel()
	r := prepare(t, Config{}, Deps{}, echo)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	if err := r.Run(context.Background(), ln); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Run: %v", err)
	}
}

func TestAServerRunsOnce(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	wantReply(t, r.once(get("/v1/results/a")), 200, `{"id":"a"}`)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if r.Run(context.Background(), ln) == nil {
		t.Error("it ran twice")
	}
}

func TestIdleConnectionsDoNotHoldTheStop(t *testing.T) {
	t.Parallel()
	r := start(t, Config{IdleTimeout: time.Hour, ReadTimeout: time.Hour}, Deps{}, echo)
	idle, fresh, half := r.dial(), r.dial(), r.dial()
	idle.send(get("/v1/results/a")).reply("GET")
	half.send(post(asJSON, "{}")[:60])
	eventually(t, "three connections", func() bool { return r.connections() == 3 })
	r.stop()
	if err := r.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
	idle.end()
	fresh.end()
	_, _ = io.ReadAll(half.Conn)
}

func (r *running) connections() int {
	r.tracker.mu.Lock()
	defer r.tracker.mu.Unlock()
	return len(r.tracker.conns)
}

func TestAStreamInFlightIsFinished(t *testing.T) {
	t.Parallel()
	pr, pw := io.Pipe()
	r := start(t, Config{}, Deps{}, func(app *fiber.App) {
		app.Get("/export", func(c *fiber.Ctx) error { return SendStream(c, "text/csv", pr) })
	})
	p := r.dial().send(get("/export"))
	_, _ = io.WriteString(pw, "first;")
	if got, err := p.r.ReadString(';'); err != nil || !strings.HasSuffix(got, "first;") {
		t.Fatalf("got %q, %v", got, err)
	}
	r.stop()
	eventually(t, "refusing", r.tracker.refusing.Load)
	_, _ = io.WriteString(pw, "last")
	_ = pw.Close()
	rest, err := io.ReadAll(p.r)
	if err != nil || !strings.HasSuffix(string(rest), "last\r\n0\r\n\r\n") {
		t.Errorf("got %q, %v", rest, err)
	}
	if err := r.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// spec: overload
func TestRequestsBeyondTheBoundAreShed(t *testing.T) {
	t.Parallel()
	g := newGate()
	r := start(t, Config{MaxInFlight: 2}, Deps{}, g.route)
	var taken []*peer
	for range 2 {
		taken = append(taken, r.dial().send(get("/gate")))
		g.wait(t)
	}
	p := r.dial()
	for range 3 { // on one connection: shedding does not cost the caller his connection
		got := p.send(get("/v1/results/a")).reply("GET")
		wantError(t, got, 503, unavailableBody)
	}
	close(g.open)
	for _, p := range taken {
		wantReply(t, p.reply("GET"), 200, "done")
	}
	eventually(t, "room again", func() bool { return r.tracker.inFlight.Load() == 0 })
	wantReply(t, p.send(get("/v1/results/a")).reply("GET"), 200, `{"id":"a"}`)
}

func TestConnectionsBeyondTheBoundAreShed(t *testing.T) {
	t.Parallel()
	r := start(t, Config{MaxConnections: 1}, Deps{Now: newClock().now}, echo)
	first := r.dial()
	wantReply(t, first.send(get("/v1/results/a")).reply("GET"), 200, `{"id":"a"}`)
	second := r.dial()
	got := second.send(get("/v1/results/a")).reply("GET")
	wantError(t, got, 503, unavailableBody)
	second.end()
	_ = second.Close()
	_ = first.Close()
	eventually(t, "room again", func() bool { return r.connections() == 0 })
	wantReply(t, r.once(get("/v1/results/b")), 200, `{"id":"b"}`)
}

// Many clients while the server stops: each request gets a whole answer or none, never half of one.
func TestStoppingUnderLoad(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	var clients sync.WaitGroup
	warm := make(chan struct{}, 8)
	for range 8 {
		clients.Go(func() {
			c, err := net.Dial("tcp", r.addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			_ = c.SetDeadline(time.Now().Add(limit))
			in := bufio.NewReader(c)
			for n := 0; ; n++ {
				if n == 50 {
					warm <- struct{}{}
				}
				if _, err := io.WriteString(c, get("/v1/results/a")); err != nil {
					return
				}
				status, err := in.ReadString('\n')
				if err != nil {
					if status != "" {
						t.Errorf("half an answer: %q", status)
					}
					return
				}
				if !strings.Contains(status, " 200 ") && !strings.Contains(status, " 503 ") {
					t.Errorf("got %q", status)
				}
				size := 0
				for line := ""; line != "\r\n"; {
					if line, err = in.ReadString('\n'); err != nil {
						t.Errorf("half a header: %v", err)
						return
					}
					if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
						for _, d := range strings.TrimSpace(v) {
							size = size*10 + int(d-'0')
						}
					}
				}
				if _, err := io.ReadFull(in, make([]byte, size)); err != nil {
					t.Errorf("half a body: %v", err)
					return
				}
			}
		})
	}
	for range 8 {
		<-warm
	}
	r.stop()
	if err := r.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
	clients.Wait()
}

func TestAClosingNoticeAnswersARequestThatCrossesIt(t *testing.T) {
	t.Parallel()
	r := start(t, Config{ClosingNotice: true}, Deps{}, echo)
	kept, fresh, half := r.dial(), r.dial(), r.dial()
	kept.send(get("/v1/results/a")).reply("GET")
	half.send(post(asJSON, "{}")[:60])
	eventually(t, "three connections", func() bool { return r.connections() == 3 })
	r.stop()
	for name, p := range map[string]*peer{"a kept connection": kept, "a fresh one": fresh, "half a request": half} {
		if _, err := p.r.Peek(1); err != nil {
			t.Fatalf("%s: no notice: %v", name, err)
		}
		if name != "half a request" {
			p.send(get("/v1/results/b")) // it arrives behind the notice
		}
		got := p.reply("GET")
		wantError(t, got, 408, malformedBody)
		if !got.close {
			t.Errorf("%s: not closed", name)
		}
		p.end()
		_ = p.Close()
	}
	if err := r.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestAClientThatKeepsItsConnectionsDoesNotHoldTheStopBehindTheNotice(t *testing.T) {
	t.Parallel()
	r := start(t, Config{ClosingNotice: true}, Deps{}, echo)
	kept := r.dial()
	kept.send(get("/v1/results/a")).reply("GET")
	r.stop()
	if err := r.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
}
