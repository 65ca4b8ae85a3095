package httpkit

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// refusedWait is how long a connection beyond Config.MaxConnections may take to send the headers of a request.
const refusedWait = 5 * time.Second

// listener hands tracked connections to fasthttp.
type listener struct {
	net.Listener
	tracker *tracker
	stall   time.Duration
	limit   int                     // of a request's headers
	shed    func(shedReason) []byte // counts the refusal and makes the response
	notice  func() []byte           // nil without Config.ClosingNotice
	after   func(time.Duration) <-chan time.Time
	closing <-chan struct{}
}

// Accept retries after temporary errors, such as too many open files: fasthttp would end the server. Connections beyond the
// bound are refused in goroutines of their own and not returned.
func (l *listener) Accept() (net.Conn, error) {
	pause := time.Duration(0)
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			if !temporary(err) {
				return nil, err
			}
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			select {
			case <-l.after(pause):
				continue
			case <-l.closing:
				return nil, net.ErrClosed
			}
		}
		pause = 0
		c := &conn{Conn: raw, tracker: l.tracker, stall: l.stall, notice: l.notice}
		place, err := l.findPlace(c)
		switch {
		case err != nil: // the server stopped after the kernel handed over the connection
			if c.cut(waiting) {
				_, _ = c.discard(make([]byte, 4<<10))
			}
			_ = raw.Close()
			return nil, err
		case place == resident:
			return c, nil
		}
		go c.refuse(l.shed, l.limit)
	}
}

// findPlace waits while there are maxRefused refused connections. Further connections then wait in the bounded queue of the
// kernel, which moves as fast as clients read their responses.
func (l *listener) findPlace(c *conn) (place, error) {
	for {
		place, err := l.tracker.add(c)
		if place != nowhere || err != nil {
			return place, err
		}
		select {
		case <-l.tracker.room:
		case <-l.after(refusedPatience / 10):
		case <-l.closing:
			return nowhere, net.ErrClosed
		}
	}
}

// refuse responds 503 after the headers of a request, because clients take a response before their request for a fault. A
// connection that was opened in advance and sends no request gets no response.
func (c *conn) refuse(shed func(shedReason) []byte, limit int) {
	defer func() { _ = c.Close() }()
	if c.SetReadDeadline(time.Now().Add(refusedWait)) != nil {
		return
	}
	head, asked := skipHead(io.LimitReader(c.Conn, int64(limit)))
	if !asked || !c.begin() {
		return
	}
	response := shed(shedConns)
	if head {
		response = response[:bytes.Index(response, []byte("\r\n\r\n"))+4]
	}
	c.linger = true
	_, _ = c.Write(response)
}

// skipHead reads to the end of the headers of a request, or as far as the request goes. asked tells whether any part of a
// request arrived, head whether its method is HEAD.
func skipHead(r io.Reader) (head, asked bool) {
	in := bufio.NewReaderSize(r, 2<<10)
	for {
		line, err := in.ReadSlice('\n')
		empty := len(bytes.TrimRight(line, "\r\n")) == 0
		if !asked && !empty {
			asked, head = true, bytes.HasPrefix(line, []byte("HEAD "))
		} else if asked && empty {
			return head, asked
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return head, asked
		}
	}
}

// temporary tells whether accepting may work again after a pause.
func temporary(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOBUFS) ||
		errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.ECONNRESET)
}
