package httpkit

import (
	"container/list"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// place is what a connection may expect.
type place uint8

const (
	nowhere  place = iota // not even an answer; for one that was open, nothing any more
	refused               // an answer that says that it is one too many
	resident              // to be served
)

// Bounds of the connections beyond MaxConnections.
const (
	// maxRefused is how many are open at once to be told so; each costs about 16 KiB.
	maxRefused = 1024
	// refusedPatience is how long one of them may take when others wait for its place.
	refusedPatience = 2 * time.Second
	// idlePatience is how long a connection keeps its place idle when others wait for it. The request of one that was just
	// opened, or just got an answer, is likely to be on its way.
	idlePatience = 5 * time.Second
)

// tracker knows every open connection, how many requests are in flight, and how much of bodies they hold. fasthttp's own
// Shutdown is not used: it does nothing before Serve, refuses no request on connections that it keeps, and waits for
// connections that only sent half a header.
type tracker struct {
	maxConns    int
	maxInFlight int64
	maxHeld     int64
	now         func() time.Time

	inFlight atomic.Int64
	held     atomic.Int64 // bytes of bodies
	refusing atomic.Bool
	quiet    chan struct{} // holds a token after the last request in flight left a refusing server

	closed atomic.Bool

	mu        sync.Mutex
	conns     map[*conn]struct{}
	residents int
	idle      list.List     // residents, idle longest first; those that are busy again leave it when they are met
	refused   list.List     // oldest first
	room      chan struct{} // holds a token after a connection has gone
	empty     chan struct{} // closed when the tracker is closed and no connection is left
}

func newTracker(cfg Config, now func() time.Time) *tracker {
	return &tracker{
		maxConns:    cfg.MaxConnections,
		maxInFlight: int64(cfg.MaxInFlight),
		maxHeld:     int64(cfg.MaxBodyBytes),
		now:         now,
		quiet:       make(chan struct{}, 1),
		conns:       map[*conn]struct{}{},
		room:        make(chan struct{}, 1),
		empty:       make(chan struct{}),
	}
}

// verdict is what happens to a request, and the reason in the shed counter.
type verdict string

const (
	admitted     verdict = ""
	shedStopping verdict = "stopping"
	shedInFlight verdict = "in_flight"
	shedConns    verdict = "connections"
	shedBodies   verdict = "bodies"
)

// admit takes a place for a request; leave gives it back when its answer is out.
func (t *tracker) admit() verdict {
	for {
		n := t.inFlight.Load()
		if n >= t.maxInFlight {
			if t.refusing.Load() {
				return shedStopping
			}
			return shedInFlight
		}
		if t.inFlight.CompareAndSwap(n, n+1) {
			break
		}
	}
	// The place is taken before this look, and refuse sets it before counting: one of the two sees the other.
	if t.refusing.Load() {
		t.leave()
		return shedStopping
	}
	return admitted
}

func (t *tracker) leave() {
	if t.inFlight.Add(-1) == 0 && t.refusing.Load() {
		select {
		case t.quiet <- struct{}{}:
		default:
		}
	}
}

// hold counts bytes of a body; release gives them back.
func (t *tracker) hold(n int64) bool {
	for {
		held := t.held.Load()
		if held+n > t.maxHeld {
			return false
		}
		if t.held.CompareAndSwap(held, held+n) {
			return true
		}
	}
}

func (t *tracker) release(n int64) { t.held.Add(-n) }

// add finds a place for a new connection, if need be that of the one that has been idle longest.
func (t *tracker) add(c *conn) (place, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed.Load() {
		return nowhere, net.ErrClosed
	}
	switch {
	case t.residents < t.maxConns || t.dismissIdle():
		c.place = resident
		t.residents++
	case t.refused.Len() < maxRefused || t.dismissRefused():
		c.place, c.since = refused, t.now()
		c.entry = t.refused.PushBack(c)
	default:
		return nowhere, nil
	}
	t.conns[c] = struct{}{}
	return c.place, nil
}

// rest makes a connection one that waits for a request.
func (t *tracker) rest(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.since = t.now()
	c.state.Store(waiting)
	if c.entry != nil {
		t.idle.MoveToBack(c.entry)
	} else if c.place == resident {
		c.entry = t.idle.PushBack(c)
	}
}

// dismissIdle closes the connection that has been idle longest, if one has been for long enough.
func (t *tracker) dismissIdle() bool {
	for e := t.idle.Front(); e != nil; e = t.idle.Front() {
		c, _ := e.Value.(*conn)
		if t.now().Sub(c.since) < idlePatience {
			return false
		}
		t.idle.Remove(e)
		c.entry = nil
		if c.cut(waiting) {
			c.place = nowhere
			t.residents--
			return true
		}
	}
	return false
}

// dismissRefused closes the connection that has been told longest that there is no place, if it took too long over it.
func (t *tracker) dismissRefused() bool {
	c, _ := t.refused.Front().Value.(*conn)
	if t.now().Sub(c.since) < refusedPatience {
		return false
	}
	t.forget(c)
	_ = c.Conn.Close()
	return true
}

// served is how many connections have a place.
func (t *tracker) served() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int64(t.residents)
}

// forget takes its place from a connection.
func (t *tracker) forget(c *conn) {
	switch c.place {
	case resident:
		t.residents--
		if c.entry != nil {
			t.idle.Remove(c.entry)
		}
	case refused:
		t.refused.Remove(c.entry)
	case nowhere:
	}
	c.place, c.entry = nowhere, nil
}

func (t *tracker) remove(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(c)
	delete(t.conns, c)
	select {
	case t.room <- struct{}{}:
	default:
	}
	t.signalEmpty()
}

func (t *tracker) signalEmpty() {
	if !t.closed.Load() || len(t.conns) > 0 {
		return
	}
	select {
	case <-t.empty:
	default:
		close(t.empty)
	}
}

// close takes no more connections and cuts those from which no request was taken: idle ones, and ones that sent half a
// request. The others end by themselves.
func (t *tracker) close() {
	defer t.cutUntaken()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed.Store(true)
	t.signalEmpty()
}

// cutUntaken cuts the connections that are idle, or in the middle of a request.
func (t *tracker) cutUntaken() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.conns {
		_ = c.cut(waiting) || c.cut(reading)
	}
}

// cutAll closes every connection, whatever it does.
func (t *tracker) cutAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.conns {
		_ = c.Conn.Close()
	}
}
