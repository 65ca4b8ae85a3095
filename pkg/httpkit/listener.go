package httpkit

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// listener hands tracked connections to fasthttp.
type listener struct {
	net.Listener
	tracker       *tracker
	stall         time.Duration
	stopStall     time.Duration // Config.StopStall
	headerTimeout time.Duration // Config.HeaderTimeout
	notice        func() []byte // nil without Config.ClosingNotice
	encrypt       *encryption   // nil: plain HTTP
	after         func(time.Duration) <-chan time.Time
	closing       <-chan struct{}
}

// Accept takes no connection while MaxConnections and maxRefused more are open: further connections wait in the bounded queue
// of the kernel. Accept retries after temporary errors, such as too many open files: fasthttp would end the server.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.tracker.slots <- struct{}{}:
	case <-l.closing:
		return nil, net.ErrClosed
	}
	raw, err := l.Listener.Accept()
	for pause := 5 * time.Millisecond; temporary(err); pause = min(2*pause, time.Second) {
		select {
		case <-l.after(pause):
			raw, err = l.Listener.Accept()
		case <-l.closing:
			return nil, net.ErrClosed
		}
	}
	if err != nil {
		return nil, err
	}
	c := &conn{
		Conn: raw, tracker: l.tracker, address: Proxies(nil).client(raw.RemoteAddr(), nil), stall: l.stall,
		stopStall: l.stopStall, headerTimeout: l.headerTimeout, notice: l.notice,
	}
	if l.encrypt != nil {
		c.channel = &channel{Conn: raw, encryption: l.encrypt}
		c.Conn = c.channel
	}
	if !l.tracker.add(c) { // the server stopped after the kernel handed over the connection
		if c.cut(waiting) && c.opened() {
			c.drain(noticePause)
		}
		return nil, errors.Join(net.ErrClosed, raw.Close())
	}
	return c, nil
}

// temporary tells whether accepting may work again after a pause.
func temporary(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOBUFS) ||
		errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.ECONNRESET)
}
