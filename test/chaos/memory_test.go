package chaos

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/test/internal/attack"
	"github.com/prism-results/prism/test/internal/load"
)

// mistyped is a body of 1 MiB in which every field has a problem, and how many there are.
func mistyped() (body []byte, fields int) {
	var b strings.Builder
	b.WriteString(`{"fields":{`)
	for ; b.Len() < 1<<20-16; fields++ {
		if fields > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%x":1`, fields)
	}
	b.WriteString("}}")
	return []byte(b.String()), fields
}

// Nobody needs an API key to send such a body, because a body is validated before the key.
//
// spec: overload, validation-message
func TestBodiesOfProblemsStayWithinTheMemory(t *testing.T) {
	const limit = 128 << 20
	c := startConfined(t, false, each(limit), 1)
	body, fields := mistyped()
	request := attack.Request(http.MethodPost, results(), c.quiet(), body)
	onceOf(t, func() string {
		a := attack.Start(t.Context(), attack.Attack{
			Addr: c.addr(), Conns: 64, Sources: 64, Request: func(int) []byte { return request }, Stall: true, Pause: 100 * time.Millisecond,
		})
		calls := c.neighbour(t, 3*time.Second, true)
		a.Stop()
		c.alive(t)
		t.Logf("bodies of problems: %v", a.Statuses())
		if n := a.Statuses()[http.StatusBadRequest]; n == 0 {
			return "no body was answered with its problems"
		}
		return calls.late(t)
	})
	client := load.NewClient(1, 1)
	defer client.Close()
	// The last of the attack may still drain.
	r := client.Insist(t.Context(), load.Request{Method: http.MethodPost, URL: c.url(results()), Key: c.quiet(), Body: jsonText(body)})
	if r.Err != nil {
		t.Fatal(r)
	}
	if n := strings.Count(string(r.Body), "Expected string, received number"); n != fields {
		t.Errorf("%d problems are listed, want %d", n, fields)
	}
}

// fill makes results whose export is more than the sockets buffer.
func (c *confined) fill(t *testing.T, key string) {
	t.Helper()
	for range 20 {
		c.create(t, key, strings.Repeat(" ", 90_000)) // few tokens
	}
}

// jsonText is sent as it is.
type jsonText []byte

func (j jsonText) MarshalJSON() ([]byte, error) { return j, nil }

// The callers take what they can get. What they cannot get is a 503.
//
// spec: overload, arriving-bodies, fair-shares
func TestNothingDiesOfWhatCallersHold(t *testing.T) {
	const (
		limit    = 512 << 20
		exports  = 2_000
		halves   = 2_000
		waits    = 5_000
		accounts = 6 // with the quiet one
	)
	for name, three := range map[string]bool{"one process": false, "three processes": true} {
		t.Run(name, func(t *testing.T) {
			c := startConfined(t, three, each(limit), accounts)
			for _, key := range c.keys[:accounts-1] {
				c.fill(t, key)
			}
			half := []byte("POST " + results() + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n{")
			onceOf(t, func() string {
				attacks := map[string]*attack.Running{}
				for name, a := range map[string]attack.Attack{
					"stalled exports": {Conns: exports, Stall: true, Request: func(n int) []byte {
						return attack.Request(http.MethodGet, results(), c.keys[n%(accounts-1)], nil)
					}},
					"half-sent bodies": {Conns: halves, Request: func(int) []byte { return half }},
					// One account after the other, so that each holds more than its share when the next one comes.
					"waiting calls": {Conns: waits, Request: func(n int) []byte { return rawCreate(c.keys[n*(accounts-1)/waits], hang) }},
				} {
					a.Addr, a.Sources, a.Pause, a.Ramp = c.addr(), 40, 3*time.Second, 2*time.Second
					attacks[name] = attack.Start(t.Context(), a)
				}
				calls := c.neighbour(t, 6*time.Second, true)
				held, err := c.front().Metric(t.Context(), `prism_http_in_flight{service="`+strings.TrimPrefix(c.front().Name, "prism-")+`"}`)
				t.Logf("%v requests in flight, %v", held, err)
				for _, a := range attacks {
					a.Stop()
				}
				c.alive(t)
				for name, a := range attacks {
					t.Logf("%s: %v", name, a.Statuses())
					if a.Statuses()[http.StatusServiceUnavailable] == 0 {
						return name + ": nothing was refused, so no bound was reached"
					}
				}
				return calls.late(t)
			})
		})
	}
}

// Whatever one account does, the reads of another are answered. How long they take is measured by the benchmark
// (docs/reliability.md).
//
// spec: fair-shares, arriving-bodies, overload
func TestNoReadIsLostToAnotherAccount(t *testing.T) {
	const (
		limit = 512 << 20
		most  = 1_850
	)
	c := startConfined(t, true, each(limit), 2)
	attacker := c.keys[0]
	for range 100 {
		c.must(t, http.StatusCreated, load.Request{
			Method: http.MethodPost, URL: c.url("/v1/keys"), Key: attacker, Body: map[string]string{"name": "one of many"},
		})
	}
	c.fill(t, attacker)
	for _, k := range attack.Kinds(attack.Account{Addr: c.addr(), Key: attacker, Slug: slug, Hang: fields(hang), Once: "one"}, most) {
		t.Run(k.Name, func(t *testing.T) {
			onceOf(t, func() string {
				a := attack.Start(t.Context(), k.Attack)
				calls := c.neighbour(t, 2*time.Second, false)
				a.Stop()
				t.Logf("%s: %v", k.Name, a.Statuses())
				return calls.late(t)
			})
		})
	}
	c.alive(t)
}
