package httpkit

import (
	"bufio"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/apierr"
)

// A client that does not read a long list of problems keeps its memory, so other such lists get the 503.
//
// spec: overload
func TestLongErrorsBeyondTheBoundAreShed(t *testing.T) {
	t.Parallel()
	refusal := apierr.Invalid(apierr.Problem{Path: "p", Text: strings.Repeat("x", 32*mebibyte)}) // more than sockets buffer
	body := string(ErrorBody(refusal))
	r := start(t, Config{MaxResponseBytes: 4 * mebibyte}, Deps{}, func(app *fiber.App) {
		echo(app)
		app.Get("/problems", func(*fiber.Ctx) error { return refusal })
	})
	stalled := r.dial().send(get("/problems"))
	eventually(t, "a list that is sent, although it is beyond the bound alone", func() bool { return r.tracker.answers.Taken() > 0 })
	wantError(t, r.once(get("/problems")), 503, unavailableBody)
	wantReply(t, r.once(get("/v1/results/a")), 200, `{"id":"a"}`)
	wantError(t, r.once(get("/denied")), 401, `{"error":{"code":"unauthorized","message":"Invalid API key"}}`)
	wantSeries(t, r.metrics, "prism_http_shed_total", `reason="responses",service="test" 1`)

	wantError(t, stalled.reply("GET"), 400, body)
	_ = stalled.Close()
	eventually(t, "nothing held", func() bool { return r.tracker.answers.Taken() == 0 })
	wantError(t, r.once(get("/problems")), 400, body)
}

// spec: overload
func TestLargeBodiesAreCheckedAFewAtATime(t *testing.T) {
	t.Parallel()
	g := newGate()
	var now, most atomic.Int64
	r := start(t, Config{MaxBodyBytes: 8 * mebibyte}, Deps{}, func(app *fiber.App) {
		app.Post("/v1/results/:id/retry", func(c *fiber.Ctx) error {
			b, err := ReadBody(c)
			if err != nil {
				return err
			}
			done := CheckLarge(c, len(b.Bytes))
			if len(b.Bytes) >= largeBody {
				most.Store(max(most.Load(), now.Add(1)))
				g.entered <- c.UserContext()
				<-g.open
				now.Add(-1)
			}
			if b.Bytes[0] == '!' {
				return apierr.Malformed() // which ends the turn
			}
			done()
			return Send(c, 200, "text/plain", []byte("checked"))
		})
	})
	large := strings.Repeat("x", largeBody)
	var taken []*peer
	for range 3 {
		taken = append(taken, r.dial().send(post(asText, large)), r.dial().send(post(asText, "!"+large)))
	}
	g.wait(t)
	wantReply(t, r.once(post(asText, "small")), 200, "checked")
	close(g.open)
	for i, p := range taken {
		want := 200
		if i%2 == 1 {
			want = 400
		}
		if got := p.reply("POST"); got.status != want {
			t.Errorf("request %d: got %d, want %d", i, got.status, want)
		}
	}
	if n := most.Load(); n != 1 {
		t.Errorf("%d large bodies were checked at once", n)
	}
}

// spec: fair-shares
func TestAnAddressBelowItsShareGetsAConnectionBeyondTheBound(t *testing.T) {
	t.Parallel()
	g := newGate()
	r := start(t, Config{MaxInFlight: 100, MaxConnections: 4}, Deps{}, g.route)
	defer close(g.open)
	r.fill(g, 4)
	wantError(t, r.once(get("/v1/results/a")), 503, unavailableBody)
	other := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, 0, 1)}}
	var kept []*peer
	for i, want := range []int{200, 200, 503} { // the share of two addresses is two connections
		c, err := other.DialContext(t.Context(), "tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(limit))
		kept = append(kept, &peer{t: t, Conn: c, r: bufio.NewReader(c)})
		if got := kept[i].send(get("/v1/results/a")).reply("GET"); got.status != want {
			t.Errorf("connection %d: got %d, want %d", i+1, got.status, want)
		}
	}
}
