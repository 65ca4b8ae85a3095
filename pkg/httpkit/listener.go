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

// refusedWait is how long a connection that is one too many may take to send a request's headers.
const refusedWait = 5 * time.Second

// listener hands tracked connections to fasthttp.
type listener struct {
	net.Listener
	tracker *tracker
	stall   time.Duration
	limit   int                  // of a request's headers
	shed    func(verdict) []byte // counts, and makes the answer
	notice  func() []byte        // nil without Config.ClosingNotice
	after   func(time.Duration) <-chan time.Time
	closing <-chan struct{}
}

// Accept waits out faults that pass, such as too many open files: fasthttp would end the server for them. Connections
// beyond the bound are refused beside it.
func (l *listener) Accept() (net.Conn, error) {
	pause := time.Duration(0)
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			if !passing(err) {
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
		place, err := l.seat(c)
		switch {
		case err != nil:
			_ = raw.Close()
			return nil, err
		case place == resident:
			return c, nil
		}
		go c.refuse(l.shed, l.limit)
	}
}

// seat waits while even those that are only told that there is no place are too many: what is in the kernel's queue then
// is not lost, the queue is bounded, and it moves as fast as clients take their answers.
func (l *listener) seat(c *conn) (place, error) {
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

// refuse answers where a request is answered, behind its headers: a client that gets an answer before it has asked takes
// it for a fault. A connection that was opened in advance and is not used gets none.
func (c *conn) refuse(shed func(verdict) []byte, limit int) {
	defer func() { _ = c.Close() }()
	if c.SetReadDeadline(time.Now().Add(refusedWait)) != nil {
		return
	}
	head, asked := skipHead(io.LimitReader(c.Conn, int64(limit)))
	if !asked || !c.begin() {
		return
	}
	answer := shed(shedConns)
	if head {
		answer = answer[:bytes.Index(answer, []byte("\r\n\r\n"))+4]
	}
	c.linger = true
	_, _ = c.Write(answer)
}

// skipHead reads to the end of a request's headers, or as far as it gets. It tells whether anything of a request came, and
// whether its method is HEAD.
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

func passing(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOBUFS) ||
		errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.ECONNRESET)
}
