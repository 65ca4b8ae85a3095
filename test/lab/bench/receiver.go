package main

import (
	"bytes"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp" //nolint:depguard // the cheapest server
)

// arrival is the first try of an event of a webhook, as a receiver sees it.
type arrival struct {
	result   string
	happened time.Time
	at       time.Time
}

// event is one of a webhook.
type event struct{ webhook, result string }

// receiver answers each event of a result at once with 204, unless it holds them.
type receiver struct {
	server   *fasthttp.Server
	listener net.Listener
	gate     sync.RWMutex // is locked while events are held

	mu       sync.Mutex
	arrived  map[event]arrival
	problems int // what is no event of a result
}

func newReceiver() (*receiver, error) {
	r := &receiver{arrived: map[event]arrival{}}
	var err error
	if r.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	r.server = &fasthttp.Server{Handler: r.serve, NoDefaultServerHeader: true}
	go func() { _ = r.server.Serve(r.listener) }() // ends with the listener
	return r, nil
}

// Close stops the server.
func (r *receiver) Close() { _ = r.listener.Close() }

// url is where the nth webhook sends.
func (r *receiver) url(n int) string { return fmt.Sprintf("http://%s/%d", r.listener.Addr(), n) }

func (r *receiver) serve(ctx *fasthttp.RequestCtx) {
	at, body := time.Now(), ctx.PostBody()
	id := member(body, "result_id")
	happened, err := time.Parse(time.RFC3339, member(body, "timestamp"))
	of := event{string(ctx.Path()), id}
	r.mu.Lock()
	if id == "" || err != nil {
		r.problems++
	} else if _, again := r.arrived[of]; !again {
		r.arrived[of] = arrival{id, happened, at}
	}
	r.mu.Unlock()
	r.gate.RLock()
	r.gate.RUnlock() //nolint:staticcheck // it waits for the end of hold
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// forget has the receiver count from nothing.
func (r *receiver) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrived = map[event]arrival{}
}

// arrivals are those of some results.
func (r *receiver) arrivals(results map[string]time.Time) (arrived []arrival, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.problems > 0 {
		return nil, fmt.Errorf("%d calls to the receiver are no events of results", r.problems)
	}
	for _, a := range r.arrived {
		if _, ok := results[a.result]; ok {
			arrived = append(arrived, a)
		}
	}
	return arrived, nil
}

// created are the results of creates, with the times at which their responses arrived.
type created struct {
	mu sync.Mutex
	at map[string]time.Time
}

// seen is that of load.Work.
func (c *created) seen(body []byte) {
	at, id := time.Now(), member(body, "id")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at[id] = at
}

// member is the value of the first member of a name whose value is a text without escapes, or "".
func member(body []byte, name string) string {
	_, rest, _ := bytes.Cut(body, []byte(`"`+name+`":"`))
	value, _, found := bytes.Cut(rest, []byte{'"'})
	if !found {
		return ""
	}
	return string(value)
}
