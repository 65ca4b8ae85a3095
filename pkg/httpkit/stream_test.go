package httpkit

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/apierr"
)

// source is a body that tells when it is closed.
type source struct {
	io.Reader
	closed chan struct{}
}

func newSource(r io.Reader) *source { return &source{r, make(chan struct{})} }

func (s *source) Close() error {
	close(s.closed)
	return nil
}

func (s *source) wantClosed(t *testing.T) {
	t.Helper()
	select {
	case <-s.closed:
	case <-time.After(limit):
		t.Error("the body was not closed")
	}
}

func streaming(bodies ...*source) func(*fiber.App) {
	return func(app *fiber.App) {
		echo(app)
		app.Get("/export", func(c *fiber.Ctx) error {
			body := bodies[0]
			bodies = bodies[1:]
			return SendStream(c, "text/csv; charset=utf-8", body)
		})
	}
}

// spec: export-is-streamed
func TestStreamsAreSentInChunks(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("0123456789\r\n", 100_000)
	bodies := []*source{newSource(strings.NewReader(large)), newSource(strings.NewReader("")), newSource(strings.NewReader("x"))}
	r := start(t, Config{}, Deps{}, streaming(bodies...))
	p := r.dial()
	for i, want := range []string{large, "", "x"} {
		got := p.send(get("/export")).reply("GET")
		if got.status != 200 || got.body != want {
			t.Errorf("%d: got %d, %d bytes", i, got.status, len(got.body))
		}
		if got.header.Get("Content-Type") != "text/csv; charset=utf-8" || got.header.Get("Content-Length") != "" {
			t.Errorf("%d: headers %v", i, got.header)
		}
		bodies[i].wantClosed(t)
	}
}

// spec: http-1-0
func TestAStreamToHTTP10EndsWithItsConnection(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("0123456789\r\n", 100_000)
	broken := newSource(io.MultiReader(strings.NewReader(large), failing{errors.New("the store fell")}))
	panics := newSource(io.MultiReader(strings.NewReader(large), readerFunc(func([]byte) (int, error) { panic("a bug") })))
	whole, none := newSource(strings.NewReader(large)), newSource(strings.NewReader(""))
	r := start(t, Config{}, Deps{}, streaming(whole, none, newSource(strings.NewReader(large)), broken, panics))
	for _, want := range []string{large, ""} {
		p := r.dial().send("GET /export HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
		got := p.reply("GET")
		if got.status != 200 || got.body != want || !got.close || got.header.Get("Transfer-Encoding") != "" {
			t.Errorf("got %d, %d bytes, close %v, headers %v", got.status, len(got.body), got.close, got.header)
		}
		if got.header.Get("Content-Type") != "text/csv; charset=utf-8" || got.header.Get("X-Request-Id") == "" || got.header.Get("Content-Length") != "" {
			t.Errorf("headers %v", got.header)
		}
		wantSafe(t, got.header)
	}
	whole.wantClosed(t)
	none.wantClosed(t)
	if got := r.dial().send("HEAD /export HTTP/1.0\r\n\r\n").reply("HEAD"); got.status != 200 || got.body != "" {
		t.Errorf("HEAD: got %d %q", got.status, got.body)
	}
	for _, body := range []*source{broken, panics} {
		raw, err := io.ReadAll(r.dial().send("GET /export HTTP/1.0\r\n\r\n").r)
		if err == nil {
			t.Errorf("%d bytes of a broken stream end like a whole one", len(raw))
		}
		body.wantClosed(t)
	}
	eventually(t, "no request in flight", func() bool { return r.tracker.inFlight.Load() == 0 })
	for _, want := range []string{"stream broke off: the store fell", "stream broke off: panic: string"} {
		eventually(t, want, func() bool { return strings.Contains(r.log.String(), want) })
	}
}

func TestAStoppingServerFinishesAStreamToHTTP10(t *testing.T) {
	t.Parallel()
	more := make(chan struct{})
	body := newSource(io.MultiReader(strings.NewReader("a,b\r\n"), readerFunc(func([]byte) (int, error) { <-more; return 0, io.EOF })))
	r := start(t, Config{}, Deps{}, streaming(body))
	p := r.dial().send("GET /export HTTP/1.0\r\n\r\n")
	if _, err := p.r.Peek(1); err != nil {
		t.Fatal(err)
	}
	r.stop()
	eventually(t, "stopping", r.tracker.refusing.Load)
	close(more)
	if got := p.reply("GET"); got.body != "a,b\r\n" {
		t.Errorf("got %q", got.body)
	}
	if err := r.wait(); err != nil {
		t.Error(err)
	}
}

func TestAStreamThatFailsIsNotTakenForAWhole(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("0123456789\r\n", 1000)
	bodies := []*source{
		newSource(io.MultiReader(strings.NewReader("a,b\r\n"), failing{errors.New("the store fell")})),
		newSource(io.MultiReader(strings.NewReader(large), failing{errors.New("the store fell")})),
		newSource(&lastGasp{}),
	}
	r := start(t, Config{}, Deps{}, streaming(bodies...))
	for i := range bodies {
		p := r.dial().send(get("/export"))
		res, err := http.ReadResponse(p.r, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(res.Body)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d: the body ended with %v", i, err)
		}
		_ = res.Body.Close()
		bodies[i].wantClosed(t)
	}
	eventually(t, "three lines in the log", func() bool {
		return strings.Count(r.log.String(), "stream broke off: the store fell") == 3
	})
}

// failing is a reader that only fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// lastGasp returns its bytes and its error in one read.
type lastGasp struct{}

func (*lastGasp) Read(p []byte) (int, error) { return copy(p, "a,b\r\n"), errors.New("the store fell") }

func TestAStreamThatFailsAtOnceIsAnError(t *testing.T) {
	t.Parallel()
	bodies := []*source{newSource(failing{errors.New("the store fell")}), newSource(failing{apierr.PrismNotFound()})}
	r := start(t, Config{}, Deps{}, streaming(bodies...))
	wantError(t, r.once(get("/export")), 500, internalBody)
	wantError(t, r.once(get("/export")), 404, `{"error":{"code":"not_found","message":"Prism not found"}}`)
	bodies[0].wantClosed(t)
	bodies[1].wantClosed(t)
}

func TestAStreamIsNotMadeForHead(t *testing.T) {
	t.Parallel()
	bodies := []*source{newSource(strings.NewReader("a,b\r\n")), newSource(strings.NewReader("a,b\r\n"))}
	r := start(t, Config{}, Deps{}, streaming(bodies...))
	p := r.dial()
	got := p.send("HEAD /export HTTP/1.1\r\nHost: x\r\n\r\n").reply("HEAD")
	if got.status != 200 || got.header.Get("Content-Type") != "text/csv; charset=utf-8" || got.header.Get("Content-Length") != "" {
		t.Errorf("got %d %v", got.status, got.header)
	}
	bodies[0].wantClosed(t)
	if got := p.send(get("/export")).reply("GET"); got.body != "a,b\r\n" {
		t.Errorf("the next answer is %q", got.body)
	}
}

func TestAClientThatLeavesEndsTheStream(t *testing.T) {
	t.Parallel()
	endless := newSource(readerFunc(func(p []byte) (int, error) { return len(p), nil }))
	r := start(t, Config{}, Deps{}, streaming(endless))
	p := r.dial().send(get("/export"))
	if _, err := io.ReadFull(p.r, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	_ = p.Close()
	endless.wantClosed(t)
	eventually(t, "no request in flight", func() bool { return r.tracker.inFlight.Load() == 0 })
	if !strings.Contains(r.log.String(), "stream broke off: the client left") {
		t.Error("the log does not say so")
	}
}

// spec: stalled-readers
func TestAClientThatStopsReadingEndsTheStream(t *testing.T) {
	t.Parallel()
	endless := newSource(readerFunc(func(p []byte) (int, error) { return len(p), nil }))
	r := start(t, Config{WriteTimeout: 20 * time.Millisecond}, Deps{}, streaming(endless))
	r.dial().send(get("/export"))
	endless.wantClosed(t)
}

// WriteTimeout is about progress: a response may take much longer as a whole.
func TestASlowStreamOutlivesTheWriteTimeout(t *testing.T) {
	t.Parallel()
	const pause = 20 * time.Millisecond
	began := time.Now()
	ticks := time.NewTicker(pause)
	defer ticks.Stop()
	left := 20
	slow := newSource(readerFunc(func(p []byte) (int, error) {
		if left == 0 {
			return 0, io.EOF
		}
		left--
		<-ticks.C
		return copy(p, "row\n"), nil
	}))
	r := start(t, Config{WriteTimeout: 10 * pause}, Deps{}, streaming(slow))
	got := r.once(get("/export"))
	if got.body != strings.Repeat("row\n", 20) {
		t.Errorf("got %q", got.body)
	}
	if took := time.Since(began); took < 10*pause {
		t.Errorf("it took %s only, which shows nothing", took)
	}
}

func TestAPanicInAStreamBreaksTheConnection(t *testing.T) {
	t.Parallel()
	body := newSource(io.MultiReader(strings.NewReader("a,b\r\n"), readerFunc(func([]byte) (int, error) { panic("a bug") })))
	r := start(t, Config{}, Deps{}, streaming(body))
	p := r.dial().send(get("/export"))
	raw, _ := io.ReadAll(p.r)
	if strings.HasSuffix(string(raw), "0\r\n\r\n") {
		t.Error("a clean end")
	}
	body.wantClosed(t)
	wantReply(t, r.once(get("/v1/results/a")), 200, `{"id":"a"}`)
}

func TestAHandlerThatFailsAfterItsStreamAnswersTheError(t *testing.T) {
	t.Parallel()
	body := newSource(strings.NewReader("a,b\r\n"))
	r := start(t, Config{}, Deps{}, func(app *fiber.App) {
		app.Get("/export", func(c *fiber.Ctx) error {
			_ = SendStream(c, "text/csv", body)
			return apierr.PrismNotFound()
		})
	})
	wantError(t, r.once(get("/export")), 404, `{"error":{"code":"not_found","message":"Prism not found"}}`)
	body.wantClosed(t)
}
