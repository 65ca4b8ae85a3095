package httpkit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// clock is a server's time, which moves when it is told to.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Unix(1e9, 0)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// idle is how many connections could give their place to another if they were idle for long enough.
func (r *running) idle() (n int) {
	r.tracker.mu.Lock()
	defer r.tracker.mu.Unlock()
	for e := r.tracker.idle.Front(); e != nil; e = e.Next() {
		if c, ok := e.Value.(*conn); ok && c.state.Load() == waiting {
			n++
		}
	}
	return n
}

// fill takes all n places, and returns when they are taken. What they asked for is answered when the gate opens.
func (r *running) fill(g *gate, n int) (taken []*peer) {
	r.t.Helper()
	for range n {
		taken = append(taken, r.dial().send(get("/gate")))
		g.wait(r.t)
	}
	return taken
}

// requests are what real clients send, each on a connection of its own or on one that it keeps.
func requests(url string) map[string]func() (*http.Request, error) {
	large := strings.Repeat("x", mebibyte)
	post := func(body func() io.Reader, header ...string) func() (*http.Request, error) {
		return func() (*http.Request, error) {
			req, err := http.NewRequest(http.MethodPost, url+"/v1/results/a/retry", body())
			if err != nil {
				return nil, err
			}
			req.Header.Set("Content-Type", "text/plain")
			for i := 0; i < len(header); i += 2 {
				req.Header.Set(header[i], header[i+1])
			}
			return req, nil
		}
	}
	unknownLength := func() io.Reader { return io.MultiReader(strings.NewReader(large)) }
	return map[string]func() (*http.Request, error){
		"GET": func() (*http.Request, error) {
			return http.NewRequest(http.MethodGet, url+"/v1/results/a", http.NoBody)
		},
		"HEAD": func() (*http.Request, error) {
			return http.NewRequest(http.MethodHead, url+"/v1/results/a", http.NoBody)
		},
		"a small POST":    post(func() io.Reader { return strings.NewReader("hi") }),
		"a large POST":    post(func() io.Reader { return strings.NewReader(large) }),
		"chunks":          post(unknownLength),
		"Expect":          post(func() io.Reader { return strings.NewReader(large) }, "Expect", "100-continue"),
		"headers of 10 K": post(func() io.Reader { return strings.NewReader("hi") }, "X-Long", strings.Repeat("x", 10<<10)),
	}
}

// spec: overload, error-service-unavailable
func TestRealClientsSeeThe503OfAConnectionBeyondTheBound(t *testing.T) {
	t.Parallel()
	g := newGate()
	r := start(t, Config{MaxConnections: 4}, Deps{Now: newClock().now}, g.route)
	taken := r.fill(g, 4)
	var clients sync.WaitGroup
	for name, request := range requests("http://" + r.addr) {
		for range 10 {
			clients.Go(func() {
				transport := &http.Transport{}
				defer transport.CloseIdleConnections()
				client := http.Client{Transport: transport, Timeout: limit}
				for range 3 {
					status, body, err := ask(&client, request)
					if name == "HEAD" && body == "" {
						body = unavailableBody
					}
					if err != nil || status != 503 || body != unavailableBody {
						t.Errorf("%s: got %d %.100q, %v", name, status, body, err)
					}
				}
			})
		}
	}
	clients.Wait()
	wantSeries(t, r.metrics, "prism_http_connections", `service="test" 4`)
	wantSeries(t, r.metrics, "prism_http_connections_limit", `service="test" 4`)
	close(g.open)
	for _, p := range taken {
		wantReply(t, p.reply("GET"), 200, "done")
		_ = p.Close()
	}
	eventually(t, "room again", func() bool { return r.connections() == 0 })
	wantReply(t, r.once(get("/v1/results/b")), 200, `{"id":"b"}`)
}

// Many more clients than places, on connections that they keep and on new ones: each gets its answer or the 503.
func TestUnderAFloodEveryClientGetsAnAnswer(t *testing.T) {
	t.Parallel()
	r := start(t, Config{MaxConnections: 8}, Deps{Now: newClock().now}, echo)
	var (
		clients      sync.WaitGroup
		mu           sync.Mutex
		served, shed int
	)
	for name, request := range requests("http://" + r.addr) {
		for i := range 10 {
			clients.Go(func() {
				transport := &http.Transport{DisableKeepAlives: i%2 == 0}
				defer transport.CloseIdleConnections()
				client := http.Client{Transport: transport, Timeout: limit}
				for range 5 {
					status, body, err := ask(&client, request)
					mu.Lock()
					switch {
					case err == nil && status == 200:
						served++
					case err == nil && status == 503 && (body == unavailableBody || name == "HEAD"):
						shed++
					default:
						t.Errorf("%s: got %d %.100q, %v", name, status, body, err)
					}
					mu.Unlock()
				}
			})
		}
	}
	clients.Wait()
	if served == 0 || shed == 0 {
		t.Errorf("%d served, %d shed: that was no flood", served, shed)
	}
	eventually(t, "no connection left", func() bool { return r.connections() == 0 })
	if held := r.tracker.heldBytes.Load(); held != 0 {
		t.Errorf("%d bytes of bodies are still held", held)
	}
}

func ask(client *http.Client, request func() (*http.Request, error)) (status int, body string, err error) {
	req, err := request()
	if err != nil {
		return 0, "", err
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

func TestTheLongestIdleGivesItsPlaceToANewConnection(t *testing.T) {
	t.Parallel()
	g, time := newGate(), newClock()
	r := start(t, Config{MaxConnections: 5}, Deps{Now: time.now}, g.route)
	ask := func(p *peer) {
		t.Helper()
		wantReply(t, p.send(get("/v1/results/a")).reply("GET"), 200, `{"id":"a"}`)
	}
	idle := func(n int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d idle", n), func() bool { return r.idle() == n })
		time.advance(1)
	}
	busy, half := r.fill(g, 1)[0], r.dial().send("GET /v1/results/half HT")
	first, second := r.dial(), r.dial()
	ask(first)
	idle(2) // and neither is the one that has sent half a request
	ask(second)
	idle(2)
	unused := r.dial()
	idle(3)

	// So soon a request is likely to be on its way.
	wantError(t, r.once(get("/v1/results/b")), 503, unavailableBody)

	time.advance(idlePatience)
	third := r.dial()
	ask(third)
	first.end()
	ask(second)
	idle(3)
	fourth := r.dial()
	ask(fourth)
	unused.end()
	idle(3)
	// All that are left are in use, or were a moment ago.
	wantError(t, r.once(get("/v1/results/c")), 503, unavailableBody)
	ask(second)
	ask(third)
	ask(fourth)
	wantReply(t, half.send("TP/1.1\r\nHost: x\r\n\r\n").reply("GET"), 200, `{"id":"half"}`)
	close(g.open)
	wantReply(t, busy.reply("GET"), 200, "done")
}

// pipes is a listener whose connections need no client.
type pipes struct{ net.Listener }

func (pipes) Accept() (net.Conn, error) {
	c, _ := net.Pipe()
	return c, nil
}

// spec: overload
func TestConnectionsThatAreRefusedAreBoundedToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr := newTracker(Config{MaxConnections: 1}, time.Now)
		closing := make(chan struct{})
		l := &listener{Listener: pipes{}, tracker: tr, after: time.After, closing: closing}
		var all []*conn
		accept := func() (*conn, error) {
			raw, err := l.Accept()
			c, _ := raw.(*conn)
			return c, err
		}
		for range 1 + maxRefused {
			c, err := accept()
			if err != nil || c.resident != (len(all) == 0) {
				t.Fatal(len(all), err)
			}
			all = append(all, c)
		}
		accepted := make(chan *conn)
		go func() {
			c, err := accept()
			if err != nil {
				t.Error(err)
			}
			accepted <- c
		}()
		synctest.Wait()
		select {
		case <-accepted:
			t.Error("one more was accepted")
		default:
		}
		_ = all[0].Close()
		_ = all[0].Close()
		if c := <-accepted; !c.resident {
			t.Error("the free place was not taken")
		}
		if len(tr.conns) != 1+maxRefused || tr.residents.Load() != 1 {
			t.Errorf("%d connections, %d with a place", len(tr.conns), tr.residents.Load())
		}
		close(closing)
		if _, err := accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v from a listener that is closing", err)
		}
	})
}

func TestARefusedConnectionEndsSoon(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sent string
		want int
	}{
		"nothing":         {"", 0},
		"half a head":     {"GET / HTTP/1.1\r\nHo", 408},
		"a whole head":    {get("/"), 503},
		"half a body":     {"POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat("x", 2*prefetched), 503},
		"a head too long": {"GET / HTTP/1.1\r\n" + strings.Repeat("X-A: b\r\n", 4000), 431},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := New(Config{MaxConnections: 1}, Deps{})
				s.App().Handler()
				s.tracker.residents.Store(1) // by another connection of the same address
				s.tracker.byAddress[netip.Addr{}] = 1
				client, server := net.Pipe()
				refused := &conn{Conn: server, tracker: s.tracker, stall: time.Second}
				s.tracker.slots <- struct{}{}
				if !s.tracker.add(refused) || refused.resident {
					t.Fatal("the connection has a place")
				}
				began := time.Now()
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_ = s.fast.ServeConn(refused)
				}()
				go func() { _, _ = io.WriteString(client, c.sent) }()
				res, err := http.ReadResponse(bufio.NewReader(client), nil)
				if c.want == 0 && err == nil || c.want != 0 && (err != nil || res.StatusCode != c.want || !res.Close) {
					t.Errorf("got %+v, %v", res, err)
				}
				if took := time.Since(began); took > refusedLimit || c.want == 503 && took > 0 {
					t.Errorf("the response took %s", took)
				}
				<-ended
				if took := time.Since(began); took > refusedLimit || len(s.tracker.conns) != 0 || len(s.tracker.slots) != 0 {
					t.Errorf("after %s %d connections are open", took, len(s.tracker.conns))
				}
			})
		})
	}
}
