package httpkit

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/telemetry"
	"github.com/prism-results/prism/pkg/testkit/syncbuffer"
)

const (
	malformedBody   = `{"error":{"code":"bad_request","message":"Malformed request"}}`
	notFoundBody    = `{"error":{"code":"not_found","message":"Route not found"}}`
	internalBody    = `{"error":{"code":"internal_error","message":"Internal server error"}}`
	unavailableBody = `{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}`
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// fasthttp's housekeeping: one sleeps up to ten seconds after its server has ended, the other runs for good.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
	)
}

// prefetched is how many bytes of a body fasthttp would read before the handler runs.
const prefetched = 8 << 10

// limit bounds what a test waits for. It is not a pause.
const limit = time.Minute

type running struct {
	*Server
	t       *testing.T
	addr    string
	log     *syncbuffer.Buffer
	metrics *prometheus.Registry
	stop    context.CancelFunc
	ended   <-chan error
}

func start(t *testing.T, cfg Config, deps Deps, routes func(*fiber.App)) *running {
	t.Helper()
	r := prepare(t, cfg, deps, routes)
	r.run()
	return r
}

func prepare(t *testing.T, cfg Config, deps Deps, routes func(*fiber.App)) *running {
	t.Helper()
	r := &running{t: t, log: &syncbuffer.Buffer{}, metrics: prometheus.NewRegistry()}
	if cfg.Name == "" {
		cfg.Name = "test"
	}
	deps.Log, deps.Metrics = telemetry.Logger(r.log, slog.LevelDebug), r.metrics
	r.Server = New(cfg, deps)
	if routes != nil {
		routes(r.App())
	}
	return r
}

func (r *running) run() {
	r.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.addr = ln.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx, ln) }()
	r.stop, r.ended = stop, ended
	r.t.Cleanup(func() {
		stop()
		<-r.ended
	})
}

// wait is Run's result. It can be asked for once; the cleanup then has nothing to wait for.
func (r *running) wait() error {
	r.t.Helper()
	select {
	case err := <-r.ended:
		gone := make(chan error)
		close(gone)
		r.ended = gone
		return err
	case <-time.After(limit):
		r.t.Fatal("Run did not return")
		return nil
	}
}

// echo answers what it read: the kind and the size, or the path parameter.
func echo(app *fiber.App) {
	app.Get("/v1/results/:id", func(c *fiber.Ctx) error {
		return Send(c, 200, JSONType, []byte(`{"id":"`+Param(c, "id")+`"}`))
	})
	app.Post("/v1/results/:id/retry", func(c *fiber.Ctx) error {
		b, err := ReadBody(c)
		if err != nil {
			return err
		}
		kind := map[Kind]string{Absent: "absent", JSON: "json", Text: "text"}[b.Kind]
		return Send(c, 200, "text/plain", append([]byte(kind+" "), b.Bytes...))
	})
	app.Post("/unread", func(c *fiber.Ctx) error { return Send(c, 200, "text/plain", []byte("unread")) })
	app.Get("/fails", func(*fiber.Ctx) error { return errors.New("a fault inside") })
	app.Get("/panics", func(*fiber.Ctx) error { panic("a bug inside") })
	app.Get("/denied", func(*fiber.Ctx) error { return apierr.InvalidAPIKey() })
}

// peer is a raw connection.
type peer struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func (r *running) dial() *peer {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(limit))
	r.t.Cleanup(func() { _ = c.Close() })
	return &peer{t: r.t, Conn: c, r: bufio.NewReader(c)}
}

func (p *peer) send(s string) *peer {
	p.t.Helper()
	if _, err := io.WriteString(p.Conn, s); err != nil {
		p.t.Fatalf("send: %v", err)
	}
	return p
}

type reply struct {
	status int
	header http.Header
	body   string
	close  bool
}

// reply reads one response to a request with the method.
func (p *peer) reply(method string) reply {
	p.t.Helper()
	res, err := http.ReadResponse(p.r, &http.Request{Method: method})
	if err != nil {
		p.t.Fatalf("read a response: %v", err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatalf("read a body: %v", err)
	}
	_ = res.Body.Close()
	return reply{res.StatusCode, res.Header, string(body), res.Close}
}

// end asserts that nothing more comes and the server closes.
func (p *peer) end() {
	p.t.Helper()
	rest, err := io.ReadAll(p.r)
	if len(rest) > 0 {
		p.t.Fatalf("a second response: %q", rest)
	}
	if err != nil {
		p.t.Fatalf("the connection did not end cleanly: %v", err)
	}
}

// once sends one request on a connection of its own.
func (r *running) once(raw string) reply {
	r.t.Helper()
	p := r.dial()
	method, _, _ := strings.Cut(raw, " ")
	got := p.send(raw).reply(method)
	_ = p.Close()
	return got
}

func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n" }

func wantReply(t *testing.T, got reply, status int, body string) {
	t.Helper()
	if got.status != status || got.body != body {
		t.Errorf("got %d %q, want %d %q", got.status, got.body, status, body)
	}
	if got.header.Get("X-Request-Id") == "" {
		t.Error("no X-Request-Id")
	}
	wantSafe(t, got.header)
}

// wantSafe asserts the headers that every response has.
//
// spec: nosniff, no-store
func wantSafe(t *testing.T, h http.Header) {
	t.Helper()
	if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", h)
	}
}

func wantError(t *testing.T, got reply, status int, body string) {
	t.Helper()
	wantReply(t, got, status, body)
	if ct := got.header.Get("Content-Type"); ct != JSONType {
		t.Errorf("content type %q", ct)
	}
	// spec: retry-after-of-a-503
	if after := got.header.Get("Retry-After"); (after == "1") != (status == 503) {
		t.Errorf("Retry-After %q", after)
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	end := time.After(limit)
	for !is() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("never: %s", what)
		}
	}
}
