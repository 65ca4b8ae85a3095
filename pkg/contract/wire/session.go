package wire

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
)

const (
	// sessionBuffer is what is read of a connection at once.
	sessionBuffer = 64 << 10
	// idleWorkers is how many goroutines of a connection wait for its next call, their stacks grown already.
	idleWorkers = 32
)

// methods are what a service answers, by path.
type methods map[string]method

// method answers one call, whose arguments are JSON.
type method func(ctx context.Context, args []byte) answer

// serveCalls carries calls over the connection of the request.
func serveCalls(m methods, log *slog.Logger) fiber.Handler {
	return func(c *fiber.Ctx) error {
		return httpkit.Upgrade(c, protocol, func(u *httpkit.Upgraded) {
			s := &session{conn: u, methods: m, out: newOutbox(u, nil), jobs: make(chan job)}
			if err := s.run(); err != nil {
				log.Debug("a connection of calls ended", "error", err)
			}
		})
	}
}

// session is the server's end of a connection.
type session struct {
	conn    *httpkit.Upgraded
	methods methods
	out     *outbox
	last    uint32 // id of the last call that was read
	jobs    chan job
	workers sync.WaitGroup
	idle    atomic.Int32
	busy    atomic.Int32 // calls without an answer
}

// job is a call to be answered.
type job struct {
	call *httpkit.Call
	id   uint32
	head callHead
	args []byte
}

// run reads calls until the client closes or the server has drained, and returns when all are answered.
func (s *session) run() error {
	var writer sync.WaitGroup
	writer.Go(func() { _ = s.out.run() })
	untold := context.AfterFunc(s.conn.Told(), func() { s.out.add(preamble{kind: kindLeave}, nil, nil, false, nil) })
	err := s.read(bufio.NewReaderSize(s.conn, sessionBuffer))
	close(s.jobs)
	s.workers.Wait()
	untold()
	ended := make(chan struct{})
	s.out.add(preamble{kind: kindEnd, id: s.last}, nil, nil, false, func() { close(ended) })
	<-ended
	s.out.close()
	writer.Wait()
	return err
}

func (s *session) read(in *bufio.Reader) error {
	for {
		p, err := readPreamble(in, BodyLimit)
		if err != nil {
			return err
		}
		if p.kind != kindCall {
			return errFrame
		}
		raw := make([]byte, p.head)
		if _, err := io.ReadFull(in, raw); err != nil {
			return err
		}
		head, err := parseCallHead(raw)
		if err != nil {
			return err
		}
		s.last = p.id
		call, refusal := s.conn.Begin(s.route(head.path), head.requestID, &head.headers, p.body)
		if refusal != nil {
			if _, err := in.Discard(p.body); err != nil {
				return err
			}
			status, body := encodeError(contract.ErrUnavailable)
			s.answer(p.id, answer{status: status, contentType: contentJSON, body: body}, false, nil)
			continue
		}
		args := make([]byte, p.body)
		if _, err := io.ReadFull(in, args); err != nil {
			call.Do(func(context.Context) int { return fiber.StatusBadRequest })
			call.Leave()
			return err
		}
		s.busy.Add(1)
		s.start(job{call, p.id, head, args})
	}
}

// route is a path as metrics may name it, or "".
func (s *session) route(path string) string {
	if _, known := s.methods[path]; known {
		return path
	}
	return ""
}

// start hands the job to a worker that has nothing to do, or to a new one.
func (s *session) start(j job) {
	select {
	case s.jobs <- j:
	default:
		s.workers.Go(func() { s.work(j) })
	}
}

func (s *session) work(j job) {
	for more := true; more; {
		s.handle(j)
		if s.idle.Add(1) > idleWorkers {
			s.idle.Add(-1)
			return
		}
		j, more = <-s.jobs
		s.idle.Add(-1)
	}
}

func (s *session) handle(j job) {
	a := answer{status: statusFault}
	j.call.Do(func(ctx context.Context) int {
		if m := s.methods[j.head.path]; m == nil {
			a = answer{status: fiber.StatusNotFound}
		} else {
			// The caller gives up then; work beyond it would be for nobody.
			ctx, cancel := context.WithTimeout(ctx, j.head.timeout)
			defer cancel()
			a = m(ctx, j.args)
		}
		return a.status
	})
	s.answer(j.id, a, s.busy.Add(-1) == 0, j.call.Leave)
}

func (s *session) answer(id uint32, a answer, alone bool, after func()) {
	head := make([]byte, 0, 64)
	if s.out.add(preamble{kind: kindAnswer, id: id}, a.appendHead(head), a.body, alone, after) {
		_ = s.out.flush() // a connection that broke is the reader's to notice
	}
}
