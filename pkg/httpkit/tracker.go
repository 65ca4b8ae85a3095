package httpkit

import (
	"container/list"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/pkg/fair"
)

// Bounds of the connections beyond MaxConnections.
const (
	// maxRefused is how many connections are open at once to get a 503; each costs about 24 KiB.
	maxRefused = 1024
	// refusedLimit is how long such a connection may stay open: for its request, the response and the linger.
	refusedLimit = 15 * time.Second
	// idlePatience is how long an idle connection keeps its place when others wait for it. A connection that was just
	// opened, or just got a response, is likely to get a request.
	idlePatience = 5 * time.Second
)

// tracker counts open connections, requests in flight, and the bytes of their bodies and responses. fasthttp's own Shutdown is
// not used: it does nothing before Serve, refuses no request on kept connections, and waits for connections that sent half a
// header.
type tracker struct {
	maxConns int64
	maxHeld  int64
	arrivals *arrivals
	places   *fair.Bound // of the requests in flight
	answers  *fair.Bound // bytes of responses
	streams  *streams
	events   eventStreams
	turns    *fair.Queue // of work that keeps a processor busy (see Server.Turns)
	now      func() time.Time

	inFlight  atomic.Int64
	heldBytes atomic.Int64 // bytes of bodies
	residents atomic.Int64 // connections with a place, at most maxConns but for shares (see belowShare)
	refusing  atomic.Bool
	quiet     chan struct{} // holds a token after the last request in flight of a refusing server ended
	closed    atomic.Bool

	slots chan struct{} // holds a token for each open connection

	mu        sync.Mutex
	conns     map[*conn]struct{}
	byAddress map[netip.Addr]int // residents
	idle      list.List          // residents, idle longest first; busy ones are removed when dismissIdle meets them
	empty     chan struct{}      // closed when the tracker is closed and no connection is left
}

func newTracker(cfg Config, now func() time.Time) *tracker {
	reserve := cfg.MaxInFlight / 10
	if cfg.TrustedCallers {
		reserve = 0
	}
	return &tracker{
		maxConns:  int64(cfg.MaxConnections),
		maxHeld:   int64(cfg.MaxBodyBytes),
		places:    fair.New(max(cfg.MaxInFlight, 1), reserve),
		answers:   fair.New(max(cfg.MaxResponseBytes, 1), 0),
		streams:   newStreams(cfg, now),
		events:    eventStreams{fair.New(cfg.MaxEventStreams, 0).AtMost(cfg.MaxEventStreamsOfAccount)},
		arrivals:  newArrivals(cfg.MaxArriving, cfg.TrustedCallers),
		turns:     fair.NewQueue(min(max(cfg.MaxBodyBytes/bytesOfCheck, 1), fair.Processors()), 0),
		now:       now,
		quiet:     make(chan struct{}, 1),
		slots:     make(chan struct{}, cfg.MaxConnections+maxRefused),
		conns:     map[*conn]struct{}{},
		byAddress: map[netip.Addr]int{},
		empty:     make(chan struct{}),
	}
}

// shedReason is why a request is refused, as the shed counter names it.
type shedReason string

const (
	notShed      shedReason = ""
	shedStopping shedReason = "stopping"
	shedInFlight shedReason = "in_flight"
	shedConns    shedReason = "connections"
	shedBodies   shedReason = "bodies"
	shedArriving shedReason = "arriving"
	shedAddress  shedReason = "arriving_address"
	shedAnswers  shedReason = "responses"
	shedStreams  shedReason = "streams"
	shedEvents   shedReason = "event_streams"
)

// admit counts a request in flight for the account; uncount ends the count after the response.
func (t *tracker) admit(account string, class fair.Class) shedReason {
	t.inFlight.Add(1)
	// admit counts before it reads refusing, and Run sets refusing before it reads the count: one of them sees the other.
	switch {
	case t.refusing.Load():
		t.uncount()
		return shedStopping
	case !t.places.Take(account, class):
		t.uncount()
		return shedInFlight
	}
	return notShed
}

// uncount ends the count of a request in flight, whose place was given back.
func (t *tracker) uncount() {
	if t.inFlight.Add(-1) == 0 && t.refusing.Load() {
		select {
		case t.quiet <- struct{}{}:
		default:
		}
	}
}

// add finds a place for a new connection, if necessary that of the connection that has been idle longest. Without a place
// the connection is refused. add fails when the tracker is closed.
func (t *tracker) add(c *conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed.Load() {
		return false
	}
	if t.residents.Load() < t.maxConns || t.dismissIdle() || t.belowShare(c.address) {
		c.resident = true
		t.residents.Add(1)
		t.byAddress[c.address]++
	} else {
		c.refusedUntil = time.Now().Add(refusedLimit)
	}
	t.conns[c] = struct{}{}
	return true
}

// belowShare tells whether a client address has fewer connections than its share, which is maxConns divided by the number of
// addresses with a connection. Up to maxRefused connections beyond maxConns are served so.
func (t *tracker) belowShare(address netip.Addr) bool {
	held, active := t.byAddress[address], len(t.byAddress)
	if held == 0 {
		active++
	}
	return int64(held) < t.maxConns/int64(active) && t.residents.Load() < t.maxConns+maxRefused
}

// leavePlace ends a connection's place among the residents.
func (t *tracker) leavePlace(c *conn) {
	if !c.resident {
		return
	}
	c.resident = false
	t.residents.Add(-1)
	if t.byAddress[c.address]--; t.byAddress[c.address] == 0 {
		delete(t.byAddress, c.address)
	}
}

// markIdle records that a connection waits for a request.
func (t *tracker) markIdle(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.since = t.now()
	c.state.Store(waiting)
	if c.entry != nil {
		t.idle.MoveToBack(c.entry)
	} else if c.resident {
		c.entry = t.idle.PushBack(c)
	}
}

// dismissIdle closes the connection that has been idle longest, if it has been idle for idlePatience.
func (t *tracker) dismissIdle() bool {
	for e := t.idle.Front(); e != nil; e = t.idle.Front() {
		c, _ := e.Value.(*conn)
		if t.now().Sub(c.since) < idlePatience {
			return false
		}
		t.idle.Remove(e)
		c.entry = nil
		if c.cut(waiting) {
			t.leavePlace(c)
			return true
		}
	}
	return false
}

func (t *tracker) remove(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, open := t.conns[c]; !open {
		return
	}
	t.leavePlace(c)
	if c.entry != nil {
		t.idle.Remove(c.entry)
	}
	delete(t.conns, c)
	<-t.slots
	t.signalEmpty()
}

func (t *tracker) signalEmpty() {
	if t.closed.Load() && len(t.conns) == 0 {
		close(t.empty)
	}
}

// refuse begins to refuse requests, and has clients that take nothing of their response cut after Config.StopStall.
func (t *tracker) refuse() {
	t.refusing.Store(true)
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.conns {
		c.hurry()
	}
}

// close takes no more connections and cuts those without a request in flight. The others end by themselves.
func (t *tracker) close() {
	t.mu.Lock()
	t.closed.Store(true)
	t.signalEmpty()
	t.mu.Unlock()
	t.cutUntaken()
}

// cutUntaken cuts the connections that are idle, or in the middle of a request.
func (t *tracker) cutUntaken() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.conns {
		_ = c.cut(waiting) || c.cut(reading)
	}
}

// cutAll closes every connection.
func (t *tracker) cutAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.conns {
		_ = c.Conn.Close()
	}
}
