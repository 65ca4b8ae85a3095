package httpkit

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// accounted has the requests of a server count for the account that they name.
func accounted(s *Server) {
	s.ShareByAccount(func(r *fasthttp.RequestCtx) string { return string(r.Request.Header.Peek("Account")) })
}

func getFor(account, path string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: x\r\nAccount: " + account + "\r\n\r\n"
}

// Clients that read nothing of their export leave the exports, the memory and the connections of other accounts.
//
// spec: export-limits, retry-after-of-a-503
func TestStreamsAreBoundedInTotalAndByAccount(t *testing.T) {
	t.Parallel()
	endless := func() *source { return newSource(readerFunc(func(p []byte) (int, error) { return len(p), nil })) }
	r := prepare(t, Config{MaxStreams: 4, MaxStreamsOfAccount: 3}, Deps{}, func(app *fiber.App) {
		echo(app)
		app.Get("/export", func(c *fiber.Ctx) error { return SendStream(c, "text/csv", endless()) })
	})
	accounted(r.Server)
	r.run()
	opened := func(account string) *peer {
		t.Helper()
		p := r.dial().send(getFor(account, "/export"))
		if head, err := p.r.ReadString('\n'); err != nil || head != "HTTP/1.1 200 OK\r\n" {
			t.Fatalf("%s: got %q, %v", account, head, err)
		}
		return p
	}
	stalled := []*peer{opened("a"), opened("a"), opened("a")}
	wantError(t, r.once(getFor("a", "/export")), 503, unavailableBody)
	stalled = append(stalled, opened("b"))
	wantError(t, r.once(getFor("b", "/export")), 503, unavailableBody)
	wantError(t, r.once(getFor("c", "/export")), 503, unavailableBody)
	wantReply(t, r.once(getFor("a", "/v1/results/x")), 200, `{"id":"x"}`)
	wantSeries(t, r.metrics, "prism_http_streams", `service="test" 4`)
	wantSeries(t, r.metrics, "prism_http_streams_limit", `service="test" 4`)
	wantSeries(t, r.metrics, "prism_http_shed_total", `reason="streams",service="test" 3`)
	_ = stalled[0].Close()
	eventually(t, "a place", func() bool { return r.tracker.streams.count() == 3 })
	opened("c")
	for _, p := range stalled {
		_ = p.Close()
	}
	eventually(t, "one place is left", func() bool { return r.tracker.streams.count() == 1 })
}

// Clients that follow something leave the exports of their account, and the event streams of other accounts.
//
// spec: event-streams, fair-shares, retry-after-of-a-503
func TestEventStreamsHavePlacesOfTheirOwn(t *testing.T) {
	t.Parallel()
	endless := readerFunc(func(p []byte) (int, error) { return copy(p, ": no change\n\n"), nil })
	r := prepare(t, Config{MaxStreamsOfAccount: 1, MaxEventStreams: 4, MaxEventStreamsOfAccount: 3}, Deps{}, func(app *fiber.App) {
		app.Get("/events", func(c *fiber.Ctx) error { return SendEvents(c, newSource(endless)) })
		app.Get("/export", func(c *fiber.Ctx) error { return SendStream(c, "text/csv", newSource(endless)) })
		app.Get("/wait", func(c *fiber.Ctx) error {
			free, err := TakeEventPlace(c)
			if err != nil {
				return err
			}
			defer free()
			return Send(c, 200, "application/json", []byte(`"waited"`))
		})
	})
	accounted(r.Server)
	r.run()
	open := func(account, path string) *peer {
		t.Helper()
		p := r.dial().send(getFor(account, path))
		if head, err := p.r.ReadString('\n'); err != nil || head != "HTTP/1.1 200 OK\r\n" {
			t.Fatalf("%s: got %q, %v", account, head, err)
		}
		return p
	}
	followers := []*peer{open("a", "/events"), open("a", "/events"), open("a", "/events")}
	wantError(t, r.once(getFor("a", "/events")), 503, unavailableBody)
	wantError(t, r.once(getFor("a", "/wait")), 503, unavailableBody)
	wantReply(t, r.once(getFor("b", "/wait")), 200, `"waited"`)
	followers = append(followers, open("b", "/events"), open("b", "/events"), open("c", "/events")) // within their shares
	wantError(t, r.once(getFor("b", "/events")), 503, unavailableBody)
	wantSeries(t, r.metrics, "prism_http_event_streams", `service="test" 6`)
	wantSeries(t, r.metrics, "prism_http_event_streams_limit", `service="test" 4`)
	wantSeries(t, r.metrics, "prism_http_shed_total", `reason="event_streams",service="test" 3`)
	for _, account := range []string{"a", "b", "c"} {
		followers = append(followers, open(account, "/export"))
	}
	for _, p := range followers {
		_ = p.Close()
	}
	eventually(t, "every place", func() bool { return r.tracker.events.count() == 0 && r.tracker.streams.count() == 0 })
}

// Accounts whose clients stall do not keep another account from its exports.
//
// spec: export-limits, fair-shares
func TestAStalledStreamMakesRoomForAnAccountWithLess(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	now := func() time.Time { return time.Unix(clock.Load(), 0) }
	r := prepare(t, Config{MaxStreams: 4, MaxStreamsOfAccount: 3}, Deps{Now: now}, func(app *fiber.App) {
		app.Get("/export", func(c *fiber.Ctx) error {
			return SendStream(c, "text/csv", newSource(readerFunc(func(p []byte) (int, error) { return len(p), nil })))
		})
	})
	accounted(r.Server)
	r.run()
	clock.Store(1000)
	open := func(account string) (*peer, string) {
		p := r.dial().send(getFor(account, "/export"))
		head, err := p.r.ReadString('\n')
		if err != nil {
			t.Fatalf("%s: %v", account, err)
		}
		return p, head
	}
	var stalled []*peer
	for _, account := range []string{"a", "a", "a", "b"} {
		p, head := open(account)
		if head != "HTTP/1.1 200 OK\r\n" {
			t.Fatalf("%s: got %q", account, head)
		}
		stalled = append(stalled, p)
	}
	wantError(t, r.once(getFor("c", "/export")), 503, unavailableBody)
	eventually(t, "a place", func() bool { // when the buffers of the kernel are full
		clock.Add(int64(streamPatience / time.Second))
		_, head := open("c")
		return head == "HTTP/1.1 200 OK\r\n"
	})
	if n := r.tracker.streams.count(); n != 4 {
		t.Errorf("%d streams", n)
	}
	for _, account := range []string{"a", "b", "c"} { // none holds two less than another
		wantError(t, r.once(getFor(account, "/export")), 503, unavailableBody)
	}
	cut := 0
	for _, p := range stalled[:3] {
		_ = p.SetReadDeadline(time.Now().Add(limit))
		if _, err := io.CopyN(io.Discard, p.r, 64*mebibyte); err != nil {
			cut++
		}
		_ = p.Close()
	}
	if cut != 1 {
		t.Errorf("%d streams were cut", cut)
	}
}

// A stream gives its place back however it ends.
//
// spec: export-limits
func TestAStreamGivesItsPlaceBack(t *testing.T) {
	t.Parallel()
	r := start(t, Config{MaxStreams: 1}, Deps{}, func(app *fiber.App) {
		app.Get("/whole", func(c *fiber.Ctx) error { return SendStream(c, "text/csv", newSource(strings.NewReader("a,b"))) })
		app.Get("/fails", func(c *fiber.Ctx) error { return SendStream(c, "text/csv", newSource(failing{io.ErrNoProgress})) })
		app.Get("/breaks", func(c *fiber.Ctx) error { return SendStream(c, "text/csv", newSource(&lastGasp{})) })
		app.Get("/errs", func(c *fiber.Ctx) error {
			_ = SendStream(c, "text/csv", newSource(strings.NewReader("a,b")))
			return io.ErrNoProgress
		})
	})
	for _, request := range []string{
		get("/whole"), get("/fails"), get("/errs"), get("/breaks"),
		"HEAD /whole HTTP/1.1\r\nHost: x\r\n\r\n", "GET /whole HTTP/1.0\r\n\r\n",
	} {
		p := r.dial().send(request)
		_, _ = p.r.Peek(1)
		_ = p.Close()
		eventually(t, "the place is free after "+request, func() bool {
			return r.tracker.streams.count() == 0 && r.tracker.answers.Taken() == 0
		})
	}
}

// spec: response-budget
func TestAStreamCountsWhatItHolds(t *testing.T) {
	t.Parallel()
	more := make(chan struct{})
	rest := readerFunc(func([]byte) (int, error) { <-more; return 0, io.EOF })
	r := start(t, Config{MaxResponseBytes: 1}, Deps{}, func(app *fiber.App) {
		app.Get("/export", func(c *fiber.Ctx) error {
			return SendStream(c, "text/csv", &holding{newSource(io.MultiReader(strings.NewReader("a,b"), rest)), 3 * mebibyte})
		})
		app.Get("/large", func(c *fiber.Ctx) error { return SendOwn(c, 200, "text/plain", make([]byte, 2*uncounted), false) })
	})
	p := r.dial().send(get("/export"))
	eventually(t, "as many bytes as the body holds", func() bool { return r.tracker.answers.Taken() == 3*mebibyte })
	wantError(t, r.once(get("/export")), 503, unavailableBody)
	wantError(t, r.once(get("/large")), 503, unavailableBody)
	wantSeries(t, r.metrics, "prism_http_shed_total", `reason="responses",service="test" 2`)
	close(more)
	wantReply(t, p.reply("GET"), 200, "a,b")
	eventually(t, "nothing", func() bool { return r.tracker.answers.Taken() == 0 })
	if got := r.once(get("/large")); got.status != 200 {
		t.Errorf("a response alone does not fit: %d", got.status)
	}
}

// holding is a body that holds bytes.
type holding struct {
	*source
	bytes int
}

func (h *holding) HeldBytes() int { return h.bytes }

// Large responses that nobody reads are bounded in total, and shared by the accounts.
//
// spec: response-budget, fair-shares
func TestLargeResponsesBeyondTheBoundAreShed(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("x"), mebibyte)
	g := newGate()
	r := prepare(t, Config{MaxResponseBytes: 4 * mebibyte}, Deps{}, func(app *fiber.App) {
		echo(app)
		held := func(c *fiber.Ctx, tookEffect bool) error {
			err := SendOwn(c, 200, "text/plain", large, tookEffect)
			if err == nil {
				g.entered <- c.UserContext()
				<-g.open
			}
			return err
		}
		app.Get("/large", func(c *fiber.Ctx) error { return held(c, false) })
		app.Post("/large", func(c *fiber.Ctx) error {
			if _, err := ReadBody(c); err != nil {
				return err
			}
			return held(c, true)
		})
	})
	accounted(r.Server)
	r.run()
	var taken []*peer
	for _, account := range []string{"a", "a", "a", "a", "b", "b"} {
		taken = append(taken, r.dial().send(getFor(account, "/large")))
		g.wait(t)
	}
	for _, account := range []string{"a", "b"} {
		wantError(t, r.once(getFor(account, "/large")), 503, unavailableBody)
	}
	taken = append(taken, r.dial().send("POST /large HTTP/1.1\r\nHost: x\r\nAccount: a\r\nContent-Length: 0\r\n\r\n"))
	g.wait(t) // what has taken effect is never refused
	wantReply(t, r.once(getFor("a", "/v1/results/x")), 200, `{"id":"x"}`)
	wantSeries(t, r.metrics, "prism_http_shed_total", `reason="responses",service="test" 2`)
	wantSeries(t, r.metrics, "prism_http_response_bytes", fmt.Sprintf(`service="test" %v`, float64(7*(mebibyte-uncounted))))
	wantSeries(t, r.metrics, "prism_http_response_bytes_limit", fmt.Sprintf(`service="test" %v`, float64(4*mebibyte)))
	close(g.open)
	for _, p := range taken {
		if got := p.reply("GET"); got.status != 200 || len(got.body) != mebibyte {
			t.Errorf("got %d, %d bytes", got.status, len(got.body))
		}
		_ = p.Close()
	}
	eventually(t, "nothing held", func() bool { return r.tracker.answers.Taken() == 0 })
}

// Clients that take nothing of their response do not hold a stopping server for WriteTimeout.
//
// spec: stalled-readers, stopping
func TestAStoppingServerCutsClientsThatTakeNothing(t *testing.T) {
	t.Parallel()
	large := make([]byte, 64*mebibyte)
	cfg := Config{WriteTimeout: time.Hour, DrainLimit: time.Hour, StopStall: 20 * time.Millisecond}
	r := start(t, cfg, Deps{}, func(app *fiber.App) {
		app.Get("/export", func(c *fiber.Ctx) error {
			return SendStream(c, "text/csv", newSource(readerFunc(func(p []byte) (int, error) { return len(p), nil })))
		})
		app.Get("/large", func(c *fiber.Ctx) error { return Send(c, 200, "text/plain", large) })
	})
	for _, request := range []string{get("/export"), "GET /export HTTP/1.0\r\n\r\n", get("/large")} {
		if _, err := r.dial().send(request).r.Peek(1); err != nil {
			t.Fatal(err)
		}
	}
	r.stop()
	if err := r.wait(); err != nil {
		t.Error(err)
	}
}
