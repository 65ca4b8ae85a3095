package system

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prism-results/prism/pkg/testkit/freeport"
)

// relay passes connections on to its targets in turn, as a cluster's service address does: a target that can't be reached
// is passed over, and a connection breaks when its target does.
type relay struct {
	addr string // stays the same

	mu      sync.Mutex
	ln      net.Listener // nil while it refuses
	targets []string     // host:port, or unix:path
	turn    int
	open    map[net.Conn]struct{}
	closed  bool
	running sync.WaitGroup
}

func newRelay(targets ...string) (*relay, error) {
	ln, err := freeport.Listener()
	if err != nil {
		return nil, err
	}
	r := &relay{addr: ln.Addr().String(), targets: targets, open: map[net.Conn]struct{}{}}
	r.serve(ln)
	return r, nil
}

func (r *relay) serve(ln net.Listener) {
	r.ln = ln
	r.running.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			r.running.Go(func() { r.pass(conn) })
		}
	})
}

// refuse makes the relay refuse connections, as an address does that nobody listens on, and breaks those it has.
func (r *relay) refuse() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ln != nil {
		_ = r.ln.Close()
		r.ln = nil
	}
	r.cutLocked()
}

// accept ends refuse.
func (r *relay) accept() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ln != nil || r.closed {
		return nil
	}
	ln, err := net.Listen("tcp", r.addr)
	if err != nil {
		return err
	}
	r.serve(ln)
	return nil
}

// cut resets every connection.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cutLocked()
}

func (r *relay) cutLocked() {
	for conn := range r.open {
		reset(conn)
	}
}

// aim replaces the targets for connections to come.
func (r *relay) aim(targets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.targets = targets
}

func (r *relay) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.refuse()
	r.running.Wait()
}

// order is the targets in the order in which the next connection tries them.
func (r *relay) order() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	n := len(r.targets)
	order := make([]string, n)
	for i := range order {
		order[i] = r.targets[(r.turn+i)%n]
	}
	return order
}

// keep notes an open connection; false: the relay has been closed.
func (r *relay) keep(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range conns {
		r.open[conn] = struct{}{}
	}
	return !r.closed
}

func (r *relay) drop(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range conns {
		delete(r.open, conn)
	}
}

func (r *relay) pass(client net.Conn) {
	server, err := dial(r.order())
	if err != nil {
		reset(client)
		return
	}
	defer r.drop(client, server)
	if !r.keep(client, server) {
		reset(client)
		reset(server)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pipe(server, client) })
	both.Go(func() { pipe(client, server) })
	both.Wait()
}

// pipe ends both connections when one ends, in the way in which that one did. Two TCP connections alone would be copied by splice, which
// keeps a pipe for each that there ever was at once, until memory is collected: the tests had 14,000 open files, of which half were these.
func pipe(to, from net.Conn) {
	_, err := io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
	if errors.Is(err, syscall.ECONNRESET) {
		reset(to)
		reset(from)
		return
	}
	_ = to.Close()
	_ = from.Close()
}

// reset closes so that the other side is told of it by a reset, not by an orderly end.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func dial(targets []string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	err := errors.New("system: a relay without targets")
	for _, target := range targets {
		network, address := "tcp", target
		if path, ok := strings.CutPrefix(target, "unix:"); ok {
			network, address = "unix", path
		}
		var conn net.Conn
		if conn, err = dialer.DialContext(context.Background(), network, address); err == nil {
			return conn, nil
		}
	}
	return nil, err
}
