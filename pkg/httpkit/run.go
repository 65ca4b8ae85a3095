package httpkit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

// drainTail is how long clients may take to read the last responses, all of which are written.
const drainTail = time.Second

// Run serves until ctx is done, finishes the requests in flight, and returns. It owns the listener.
//
// When ctx is done the server is not ready any more and closes connections after each response, but serves for DrainDelay.
// Then it responds 503 to new requests, also on new connections, until the requests in flight are done or DrainLimit has
// passed (spec: stopping). It returns nil after a clean stop.
func (s *Server) Run(ctx context.Context, ln net.Listener) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if !s.run.CompareAndSwap(unstarted, &lifetime{stop: ctx, base: base}) {
		return errors.Join(errors.New("httpkit: a server runs once"), ln.Close())
	}
	s.app.Handler() // builds the tree of the routes that were registered since New

	closing := make(chan struct{})
	served := make(chan error, 1)
	go func() {
		served <- s.fast.Serve(&listener{
			Listener: ln, tracker: s.tracker, stall: s.cfg.WriteTimeout, stopStall: s.cfg.StopStall,
			headerTimeout: s.cfg.HeaderTimeout, notice: s.notice(), encrypt: s.encryption(), after: s.deps.After,
			closing: closing,
		})
	}()

	failure := s.serveUntil(ctx, served)
	failure = errors.Join(failure, s.awaitInFlight())
	if failure != nil {
		cancel()
	}
	if s.cfg.ClosingNotice {
		s.tracker.cutUntaken()
		<-s.deps.After(noticePause) // clients that connect anew get the 503, and not a reset
	}
	// Closing the listener ends Serve whether it has begun or not.
	close(closing)
	_ = ln.Close()
	s.tracker.close()
	select {
	case <-s.tracker.empty:
	case <-s.deps.After(drainTail):
		s.tracker.cutAll()
	}
	return errors.Join(failure, <-served)
}

// serveUntil serves until ctx is done and DrainDelay has passed. Afterwards the result of Serve is in served again.
func (s *Server) serveUntil(ctx context.Context, served chan error) error {
	var delay <-chan time.Time
	done := ctx.Done()
	for {
		select {
		case err := <-served: // fasthttp returns nil for a listener that somebody closed
			served <- nil
			return fmt.Errorf("httpkit: the listener ended early: %w", errors.Join(err, net.ErrClosed))
		case <-done:
			if s.cfg.DrainDelay <= 0 {
				return nil
			}
			done, delay = nil, s.deps.After(s.cfg.DrainDelay)
		case <-delay:
			return nil
		}
	}
}

// awaitInFlight refuses new requests and waits for those in flight.
func (s *Server) awaitInFlight() error {
	s.tracker.refuse()
	limit := s.deps.After(s.cfg.DrainLimit)
	for s.tracker.inFlight.Load() > 0 {
		select {
		case <-s.tracker.quiet:
		case <-limit:
			return fmt.Errorf("httpkit: %d requests were not done within %s", s.tracker.inFlight.Load(), s.cfg.DrainLimit)
		}
	}
	return nil
}

// Ready fails before Run and from the moment that the context of Run is done. It is the Probe of a Check.
func (s *Server) Ready(context.Context) error {
	if s.run.Load() == unstarted {
		return errors.New("not serving yet")
	}
	if s.stopping() {
		return errors.New("stopping")
	}
	return nil
}

// stopping holds from the moment that the context of Run is done, before the goroutine of Run sees it.
func (s *Server) stopping() bool { return s.tracker.refusing.Load() || s.run.Load().stop.Err() != nil }

// encryption is nil for plain HTTP.
func (s *Server) encryption() *encryption {
	if s.cfg.TLS == nil {
		return nil
	}
	return &encryption{
		identity: s.cfg.TLS, plainToo: s.cfg.PlainToo, headerTimeout: s.cfg.HeaderTimeout, readTimeout: s.cfg.ReadTimeout,
		maxAge: maxTLSAge, now: s.deps.Now, base: func() context.Context { return s.run.Load().base },
	}
}

// notice makes the response of Config.ClosingNotice: a 408 that closes the connection.
func (s *Server) notice() func() []byte {
	if !s.cfg.ClosingNotice {
		return nil
	}
	return func() []byte {
		e := requestTimeout()
		return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nX-Request-Id: %s\r\nConnection: close\r\n"+
			"X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n\r\n%s",
			e.Status, fasthttp.StatusMessage(e.Status), JSONType, len(ErrorBody(e)), s.deps.NewID(), ErrorBody(e))
	}
}
