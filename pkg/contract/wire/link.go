package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/pkg/contract"
)

const (
	// linkCount is how many connections carry the calls to a service: more spread over more of its replicas, fewer put more
	// calls into each write.
	linkCount = 4
	// linkAge is when a connection gives way to a new one, so that replicas which came later get their share.
	linkAge = time.Minute
	// greetTime bounds the answer to the request that begins a link. Who needs the link waits for as long as the call may
	// take, so this ends attempts that nobody waits for.
	greetTime = 5 * time.Second
	// plainTime is how long a service that carries no links is called by plain HTTP before it is asked again.
	plainTime = 5 * time.Second
	// maxAnswer bounds an answer in memory.
	maxAnswer = 1 << 30
)

// errPlain is a service that carries no links: one of a version before them, or behind a proxy that knows HTTP alone.
var errPlain = errors.New("wire: the service carries no links")

// link is the client's end of a connection.
type link struct {
	conn  net.Conn
	out   *outbox
	born  time.Time
	heard atomic.Uint64 // frames
	done  sync.WaitGroup

	mu      sync.Mutex
	waiting map[uint32]*pending
	last    uint32
	leaving bool  // no new calls, but of those who have it in hand
	err     error // it is broken
}

// pending is a call that waits for its answer.
type pending struct {
	id     uint32
	done   chan struct{}
	answer answer
	err    error
}

func newLink(conn net.Conn, in *bufio.Reader) *link {
	l := &link{conn: conn, born: time.Now(), waiting: map[uint32]*pending{}}
	l.out = newOutbox(conn, l.alive)
	l.done.Go(func() { l.fail(l.out.run()) })
	l.done.Go(func() { l.fail(l.read(in)) })
	return l
}

// call sends a call and waits for its answer. An error that is errStale says that nothing was sent.
func (l *link) call(ctx context.Context, head, body []byte) (answer, error) {
	heard := l.heard.Load()
	p, err := l.send(head, body)
	if err != nil {
		return answer{}, err
	}
	select {
	case <-p.done:
		return p.answer, p.err
	case <-ctx.Done():
		l.abandon(p.id, heard)
		return answer{}, errors.Join(errLost, ctx.Err())
	}
}

func (l *link) send(head, body []byte) (*pending, error) {
	p := &pending{done: make(chan struct{})}
	l.mu.Lock()
	if err := l.err; err != nil {
		l.mu.Unlock()
		return nil, errors.Join(errStale, err)
	}
	l.last++
	p.id = l.last
	l.waiting[p.id] = p
	// Under the lock, so that ids are sent in order.
	flush := l.out.add(preamble{kind: kindCall, id: p.id}, head, body, len(l.waiting) == 1, nil)
	l.mu.Unlock()
	if flush {
		if err := l.out.flush(); err != nil {
			l.fail(err)
		}
	}
	return p, nil
}

// abandon forgets a call that nobody waits for any more. A service that has not said anything since it was sent may never
// again.
func (l *link) abandon(id uint32, heard uint64) {
	l.mu.Lock()
	delete(l.waiting, id)
	l.leaving = l.leaving || l.heard.Load() == heard
	l.mu.Unlock()
	l.closeIfDone()
}

// usable tells whether new calls should take it.
func (l *link) usable(now time.Time) bool {
	l.mu.Lock()
	old := now.Sub(l.born) > linkAge
	l.leaving = l.leaving || old
	usable := l.err == nil && !l.leaving
	l.mu.Unlock()
	if old {
		l.closeIfDone()
	}
	return usable
}

// closeIfDone closes a link that is left when no call is on it.
func (l *link) closeIfDone() {
	l.mu.Lock()
	idle := l.leaving && len(l.waiting) == 0
	l.mu.Unlock()
	if idle {
		l.fail(net.ErrClosed)
	}
}

// alive looks before a write whether the service has gone while no call was under way: it took nothing of what would be
// sent now.
func (l *link) alive() error {
	l.mu.Lock()
	busy := len(l.waiting)
	l.mu.Unlock()
	if busy > 1 {
		return nil
	}
	return open(l.conn)
}

func (l *link) read(in *bufio.Reader) error {
	for {
		p, err := readPreamble(in, maxAnswer)
		if err != nil {
			return err
		}
		l.heard.Add(1)
		if p.kind == kindEnd {
			l.end(errEnded, p.id) // before the connection is closed, which would fail calls that were not taken as lost
			return errEnded
		}
		if p.kind == kindLeave {
			l.mu.Lock()
			l.leaving = true
			l.mu.Unlock()
			l.closeIfDone()
			continue
		}
		frame := make([]byte, p.head+p.body)
		if _, err := io.ReadFull(in, frame); err != nil {
			return err
		}
		a, err := parseAnswer(frame[:p.head], frame[p.head:])
		if err != nil || p.kind != kindAnswer {
			return errFrame
		}
		l.mu.Lock()
		called := l.waiting[p.id]
		delete(l.waiting, p.id)
		last := l.leaving && len(l.waiting) == 0
		l.mu.Unlock()
		if called != nil {
			called.answer = a
			close(called.done)
		}
		if last {
			l.closeIfDone()
		}
	}
}

// errEnded is a service that has answered what it took and stops.
var errEnded = errors.New("wire: the service ended the connection")

// fail ends the link. Of its calls those that were not sent took nothing; of the others nobody knows.
func (l *link) fail(err error) { l.end(err, l.out.close()) }

// end is fail for a link of which the call with the id was the last that the service may have taken.
func (l *link) end(err error, taken uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	if err == nil {
		err = net.ErrClosed
	}
	l.err = err
	for id, p := range l.waiting {
		delete(l.waiting, id)
		p.err = errors.Join(errLost, err)
		if id > taken {
			p.err = errors.Join(errStale, err)
		}
		close(p.done)
	}
}

// links are the connections to a service.
type links struct {
	addr, token string
	life        context.Context //nolint:containedctx // of the links, until close; callers have their own
	end         context.CancelFunc
	next        atomic.Uint32
	slots       [linkCount]slot

	mu     sync.Mutex
	closed bool
	made   map[*link]struct{} // and not ended
	ending sync.WaitGroup
}

func newLinks(addr, token string) *links {
	life, end := context.WithCancel(context.Background()) //nolint:forbidigo // the links' own, until close
	return &links{addr: addr, token: token, life: life, end: end, made: map[*link]struct{}{}}
}

// slot is a place for a link.
type slot struct {
	mu      sync.Mutex
	attempt *attempt
}

// attempt is the making of a link. Everybody who needs it waits for the same.
type attempt struct {
	ready chan struct{}
	link  *link
	err   error
	until time.Time // a service that carries no links is not asked before
}

// get returns a link with no need to connect, if there is one. Errors say that nothing was sent.
func (s *links) get(ctx context.Context) (*link, error) {
	at := &s.slots[s.next.Load()%linkCount]
	if !at.gathers() {
		at = &s.slots[s.next.Add(1)%linkCount]
	}
	a, err := at.get(s)
	if err != nil {
		return nil, err
	}
	select {
	case <-a.ready:
		return a.link, a.err
	case <-ctx.Done():
		return nil, errors.Join(contract.ErrUnavailable, ctx.Err())
	}
}

func (s *slot) get(all *links) (*attempt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attempt != nil && s.attempt.serves(time.Now()) {
		return s.attempt, nil
	}
	a := &attempt{ready: make(chan struct{})}
	if !all.start(a) {
		return nil, contract.ErrUnavailable
	}
	s.attempt = a
	return a, nil
}

// gathers tells whether the slot's link has a write to join.
func (s *slot) gathers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attempt == nil {
		return false
	}
	select {
	case <-s.attempt.ready:
		return s.attempt.link != nil && s.attempt.link.out.more.Load()
	default:
		return false
	}
}

// serves tells whether to wait for the attempt, or to use what it came to.
func (a *attempt) serves(now time.Time) bool {
	select {
	case <-a.ready:
		return a.link != nil && a.link.usable(now) || now.Before(a.until)
	default:
		return true
	}
}

// start connects, unless the links are closed.
func (s *links) start(a *attempt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.ending.Go(func() {
		a.link, a.err = s.connect()
		if errors.Is(a.err, errPlain) {
			a.until = time.Now().Add(plainTime)
		}
		close(a.ready)
		if a.link != nil {
			s.keep(a.link)
		}
	})
	return true
}

// keep waits for a link's end, and brings it about when the links are closed.
func (s *links) keep(l *link) {
	s.mu.Lock()
	s.made[l] = struct{}{}
	closed := s.closed
	s.mu.Unlock()
	if closed {
		l.fail(net.ErrClosed)
	}
	l.done.Wait()
	s.mu.Lock()
	delete(s.made, l)
	s.mu.Unlock()
}

func (s *links) close() {
	s.end()
	s.mu.Lock()
	s.closed = true
	for l := range s.made {
		go l.fail(net.ErrClosed)
	}
	s.mu.Unlock()
	s.ending.Wait()
}

func (s *links) connect() (*link, error) {
	conn, err := dial(s.life, s.addr)
	if err != nil {
		return nil, errors.Join(contract.ErrUnavailable, err)
	}
	defer context.AfterFunc(s.life, func() { _ = conn.Close() })()
	in := bufio.NewReaderSize(conn, sessionBuffer)
	if err := s.greet(conn, in); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return newLink(conn, in), nil
}

// greet asks the service to go on with frames.
func (s *links) greet(conn net.Conn, in *bufio.Reader) error {
	away := func(err error) error { return errors.Join(contract.ErrUnavailable, err) }
	if err := conn.SetDeadline(time.Now().Add(greetTime)); err != nil {
		return away(err)
	}
	_, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: %s\r\nAuthorization: Bearer %s\r\n\r\n",
		pathCalls, s.addr, protocol, s.token)
	if err != nil {
		return away(err)
	}
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return away(err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusSwitchingProtocols:
		return conn.SetDeadline(time.Time{})
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode >= http.StatusInternalServerError:
		return away(fmt.Errorf("status %d", resp.StatusCode))
	}
	return errPlain
}
