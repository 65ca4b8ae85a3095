// Package attack is callers that hold what a server shares among its callers: connections, places in flight, memory. They use
// little processor time themselves, so that what others notice comes from the server.
package attack

import (
	"bufio"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prism-results/prism/test/internal/load"
)

// Attack is many connections that make the same kind of call.
type Attack struct {
	Addr    string             // host and port
	Conns   int                // at once
	Request func(n int) []byte // the bytes of the next request of the nth connection
	// Sources is how many loopback addresses the connections come from; 0 is the usual one.
	Sources int
	// Stall has a connection that gets a response below 500 not read the body.
	Stall bool
	// Pause is the time from a response, or the end of a connection, to the next request.
	Pause time.Duration
	// Ramp is the time in which the connections open.
	Ramp time.Duration
}

// Running is an attack that goes on.
type Running struct {
	Attack
	stop func()
	all  sync.WaitGroup

	mu       sync.Mutex
	statuses map[int]int
}

// Broken counts, among the statuses, connections that ended without a response, or could not be opened.
const Broken = 0

// Start begins an attack that goes on until Stop, or until ctx ends.
func Start(ctx context.Context, a Attack) *Running {
	ctx, cancel := context.WithCancel(ctx)
	r := &Running{Attack: a, stop: cancel, statuses: map[int]int{}}
	for n := range a.Conns {
		r.all.Go(func() {
			load.Wait(ctx, a.Ramp*time.Duration(n)/time.Duration(a.Conns))
			for ctx.Err() == nil {
				r.connection(ctx, n)
				load.Wait(ctx, a.Pause)
			}
		})
	}
	return r
}

// Stop ends the connections.
func (r *Running) Stop() {
	r.stop()
	r.all.Wait()
}

// Statuses is how many responses had each status so far.
func (r *Running) Statuses() map[int]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.statuses)
}

func (r *Running) count(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statuses[status]++
}

// connection opens the nth connection and makes calls until the connection ends.
func (r *Running) connection(ctx context.Context, n int) {
	d := net.Dialer{Timeout: 10 * time.Second}
	if r.Sources > 0 {
		d.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 1, byte(n%r.Sources/250), byte(1+n%r.Sources%250))}
	}
	c, err := d.DialContext(ctx, "tcp", r.Addr)
	if err != nil {
		if ctx.Err() == nil {
			r.count(Broken)
		}
		return
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // else each attack leaves its ports waiting
		if r.Stall {
			_ = tcp.SetReadBuffer(1)
		}
	}
	in := bufio.NewReaderSize(c, 1<<10)
	for {
		if _, err := c.Write(r.Request(n)); err != nil {
			break
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			break
		}
		r.count(res.StatusCode)
		if r.Stall && res.StatusCode < http.StatusInternalServerError {
			<-ctx.Done()
			return
		}
		_, err = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if err != nil || res.Close {
			return
		}
		if !load.Wait(ctx, r.Pause) {
			return
		}
	}
	if ctx.Err() == nil {
		r.count(Broken)
	}
}
