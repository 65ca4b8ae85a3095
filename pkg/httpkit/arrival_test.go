package httpkit

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/prism-results/prism/pkg/fair"
)

// halfSent is a request whose body has not arrived whole.
var halfSent = map[string]string{
	"no chunk":          chunked(""),
	"half a chunk":      chunked("100\r\nhalf"),
	"half a body":       "POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + asText + "Content-Length: 100\r\n\r\nhalf",
	"half a large body": "POST /v1/results/a/retry HTTP/1.1\r\nHost: x\r\n" + asText + "Content-Length: 100000\r\n\r\nhalf",
}

// Half-sent bodies have a bound of their own: they take no place from requests that have arrived whole.
//
// spec: arriving-bodies
func TestHalfSentBodiesTakeNoPlaceAmongTheCallsInFlight(t *testing.T) {
	t.Parallel()
	for name, request := range halfSent {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, Config{MaxInFlight: 20, TrustedCallers: true}, Deps{}, echo)
			var half []*peer
			for range 20 {
				half = append(half, r.dialFor(t).send(request))
			}
			eventually(t, "20 bodies arrive", func() bool { return r.tracker.arrivals.count() == 20 })
			if n := r.tracker.inFlight.Load(); n != 0 {
				t.Errorf("%d requests in flight", n)
			}
			wantReply(t, r.once(get("/v1/results/a")), 200, `{"id":"a"}`)
			wantReply(t, r.once(post(asText, "whole")), 200, "text whole")
			got := r.dialFor(t).send(request).reply("POST")
			wantError(t, got, 503, unavailableBody)
			if !got.close {
				t.Error("the connection of the refused body was kept")
			}
			wantSeries(t, r.metrics, "prism_http_shed_total", `reason="arriving",service="test" 1`)
			for _, p := range half {
				_ = p.Close()
			}
			eventually(t, "room again", func() bool { return r.tracker.arrivals.count() == 0 })
		})
	}
}

// spec: arriving-bodies
func TestAnAddressGetsATenthOfTheBodiesThatArrive(t *testing.T) {
	t.Parallel()
	r := start(t, Config{MaxInFlight: 40}, Deps{}, echo)
	for range 4 {
		r.dial().send(chunked(""))
	}
	eventually(t, "4 bodies arrive", func() bool { return r.tracker.arrivals.count() == 4 })
	wantError(t, r.once(chunked("")), 503, unavailableBody)
	wantSeries(t, r.metrics, "prism_http_shed_total", `reason="arriving_address",service="test" 1`)
}

// spec: arriving-bodies, client-address
func TestTheAddressOfAClientIsThatOfItsSocketOrWhatATrustedProxySays(t *testing.T) {
	t.Parallel()
	const proxies = "127.0.0.1, 10.0.0.0/8 fd00::/8"
	for _, c := range []struct{ name, trusted, socket, forwarded, want string }{
		{"the socket", "", "192.0.2.1:80", "", "192.0.2.1"},
		{"no proxy is trusted", "", "192.0.2.1:80", "198.51.100.1", "192.0.2.1"},
		{"another peer is not trusted", proxies, "192.0.2.1:80", "198.51.100.1", "192.0.2.1"},
		{"a trusted proxy", proxies, "127.0.0.1:80", "198.51.100.1", "198.51.100.1"},
		{"a trusted proxy that says nothing", proxies, "127.0.0.1:80", "", "127.0.0.1"},
		{"what the client claims does not count", proxies, "127.0.0.1:80", "203.0.113.9, 198.51.100.1", "198.51.100.1"},
		{"two trusted proxies", proxies, "127.0.0.1:80", "198.51.100.1,10.1.2.3", "198.51.100.1"},
		{"trusted proxies alone", proxies, "127.0.0.1:80", "10.9.9.9, 10.1.2.3", "10.9.9.9"},
		{"no address", proxies, "127.0.0.1:80", "198.51.100.1, unknown, 10.1.2.3", "10.1.2.3"},
		{"an address with a port", proxies, "127.0.0.1:80", "198.51.100.1:4711", "198.51.100.1"},
		{"IPv4 in IPv6", proxies, "[::ffff:127.0.0.1]:80", "::ffff:198.51.100.1", "198.51.100.1"},
		{"IPv6 counts by its network", proxies, "[fd00::1]:80", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var trusted Proxies
			if err := trusted.UnmarshalText([]byte(c.trusted)); err != nil {
				t.Fatal(err)
			}
			var header [][]byte
			if c.forwarded != "" {
				header = append(header, []byte(c.forwarded))
			}
			if got := trusted.client(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.socket)), header); got.String() != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	var p Proxies
	if err := p.UnmarshalText([]byte("10.0.0.0/8, somewhere")); err == nil || strings.Contains(err.Error(), "somewhere") {
		t.Errorf("got %v for no address", err)
	}
}

// spec: arriving-bodies
func TestABodyKeepsTheLeastRate(t *testing.T) {
	t.Parallel()
	began := time.Unix(1e9, 0)
	for _, c := range []struct {
		arrived int
		want    time.Duration
	}{
		{0, 2 * time.Second}, {512, 2500 * time.Millisecond}, {10 << 10, 12 * time.Second}, {1 << 20, time.Hour},
	} {
		a := arrival{began: began, ends: began.Add(time.Hour), arrived: c.arrived}
		want := min(c.want, 1026*time.Second)
		if got := a.deadline().Sub(began); got != want {
			t.Errorf("%d bytes: %s, want %s", c.arrived, got, want)
		}
	}
	a := arrival{began: began, ends: began.Add(20 * time.Second), arrived: 1 << 20}
	if got := a.deadline(); got != a.ends {
		t.Errorf("got %s behind the end of the whole", got.Sub(a.ends))
	}
}

// A body that begins fast and then stops is closed when its average is too low, not before.
//
// spec: arriving-bodies
func TestASlowBodyIsClosed(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, Deps{}, echo)
	for name, request := range halfSent {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			p := r.dialFor(t).send(request)
			got := p.reply("POST")
			wantError(t, got, 408, malformedBody)
			if took := time.Since(began); !got.close || took < 1900*time.Millisecond || took > 10*time.Second {
				t.Errorf("close %v after %s", got.close, took)
			}
		})
	}
	t.Run("headers", func(t *testing.T) {
		t.Parallel()
		began := time.Now()
		got := r.dialFor(t).send("GET / HTTP/1.1\r\nHost: x\r\n").reply("GET")
		if took := time.Since(began); got.status != 408 || !got.close || took < 4900*time.Millisecond || took > 15*time.Second {
			t.Errorf("got %d, close %v after %s", got.status, got.close, took)
		}
	})
}

// A request whose handler reads no body is handled at once, whatever of its body is still to come.
//
// spec: arriving-bodies
func TestABodyThatNobodyReadsIsNotAwaited(t *testing.T) {
	t.Parallel()
	r := start(t, Config{MaxInFlight: 1}, Deps{}, echo)
	for _, framing := range []string{"Content-Length: 100", "Content-Length: 100000", "Transfer-Encoding: chunked"} {
		got := r.dial().send(fmt.Sprintf("GET /v1/results/a HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", framing)).reply("GET")
		wantReply(t, got, 200, `{"id":"a"}`)
		if !got.close {
			t.Error("not closed")
		}
	}
	p := r.dial()
	for range 2 { // a body that has arrived with its headers is skipped
		got := p.send("GET /v1/results/a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody").reply("GET")
		wantReply(t, got, 200, `{"id":"a"}`)
	}
}

// spec: fair-shares
func TestAccountsShareTheRequestsInFlight(t *testing.T) {
	t.Parallel()
	g := newGate()
	r := prepare(t, Config{MaxInFlight: 10}, Deps{}, g.route)
	r.App().Post("/gate", func(c *fiber.Ctx) error {
		if _, err := ReadBody(c); err != nil {
			return err
		}
		g.entered <- c.UserContext()
		<-g.open
		return Send(c, 200, "text/plain", []byte(fair.Account(c.UserContext())))
	})
	r.ShareByAccount(func(r *fasthttp.RequestCtx) string { return string(r.Request.Header.Peek("Account")) })
	r.run()
	hang := func(account string) *peer {
		p := r.dial().send("POST /gate HTTP/1.1\r\nHost: x\r\nAccount: " + account + "\r\nContent-Length: 2\r\n" + asText + "\r\nhi")
		return p
	}
	var hanging []*peer
	for range 9 { // a tenth of the places is for reads
		hanging = append(hanging, hang("a"))
		g.wait(t)
	}
	wantError(t, hang("a").reply("POST"), 503, unavailableBody)
	for _, account := range []string{"Account: a\r\n", "Account: b\r\n", ""} {
		got := r.once("GET /v1/results/a HTTP/1.1\r\nHost: x\r\n" + account + "\r\n")
		wantReply(t, got, 200, `{"id":"a"}`)
	}
	b, unknown := hang("b"), hang("")
	fair.Identify(g.wait(t), "c")
	g.wait(t)
	close(g.open)
	for _, p := range hanging {
		wantReply(t, p.reply("POST"), 200, "a")
	}
	answers := []string{b.reply("POST").body, unknown.reply("POST").body}
	if !slices.Contains(answers, "c") || !slices.Contains(answers, "b") && !slices.Contains(answers, "127.0.0.1") {
		t.Errorf("counted for %q", answers)
	}
	eventually(t, "no place is taken", func() bool { return r.tracker.places.Taken() == 0 && r.tracker.inFlight.Load() == 0 })
}
