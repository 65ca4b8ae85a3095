// Package runs is the worker of file runs: it leases chunks of rows from results, has the rows answered, and has their outcomes
// saved. It keeps nothing, so any number of workers share the work.
//
//	        ┌──────────────── Service.lease: while rows can begin ────────────────┐
//	results ─ LeaseChunk ─▶ chunk ─ pace: a place ─▶ AnswerRow ─▶ SaveRows ─▶ results
//	   │                      ▲ ▲                        │
//	   └──── RenewLeases ─────┘ └──── not taken: later ──┘
//
// Each chunk has a goroutine of its own, which begins its rows one after the other, each when it has a place of the pace of its
// model. So chunks that can begin rows take turns.
package runs

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/backoff"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
)

// Settings are the settings of workers.
type Settings struct {
	Concurrency int `env:"PRISM_RUNS_CONCURRENCY" default:"256" help:"rows of file runs at models at once, at most; 0 answers none in this process"`
}

// Config is what differs between deployments.
type Config struct {
	// Concurrency is how many rows are at models at once, at most. 0 means 256, unlike in Settings: a process that is to answer
	// no rows does not call Run.
	Concurrency int
}

// Deps are what a Service works with; all are required.
type Deps struct {
	Leases  contract.Leases
	Rows    contract.Rows
	Metrics prometheus.Registerer
	Log     *slog.Logger
	Tracer  trace.TracerProvider
}

// MaxLeases bounds the chunks that a worker holds, of 512 KiB at most.
const MaxLeases = 64

const (
	// leaseTry bounds a try to lease. It has the rows of the chunk read.
	leaseTry = 10 * time.Second
	// firstIdle and maxIdle are the pauses after which a worker looks again when there was nothing to lease.
	firstIdle, maxIdle = 100 * time.Millisecond, 250 * time.Millisecond
	// firstRefused and maxRefused are the pauses after chunks that were given back, as no row of them could begin.
	firstRefused, maxRefused = 25 * time.Millisecond, 500 * time.Millisecond
	// renewTry bounds a try to renew leases.
	renewTry = contract.ResultsWait
)

// Service is a worker.
type Service struct {
	work
	id   prism.UUID  // of this worker
	away atomic.Bool // leasing failed the last time

	mu     sync.Mutex
	chunks map[prism.UUID]*chunk // by the token of the lease
}

// New makes a worker. It does no I/O. It panics if Deps.Metrics has the collectors of a worker already.
func New(cfg Config, d Deps) (*Service, error) {
	if cfg.Concurrency < 0 {
		return nil, errors.New("PRISM_RUNS_CONCURRENCY: must not be negative")
	}
	id, err := prism.NewUUID(time.Now(), rand.Reader)
	if err != nil {
		return nil, err
	}
	s := &Service{
		work: work{
			leases: d.Leases, answers: d.Rows, log: d.Log, tracer: d.Tracer.Tracer("github.com/prism-results/prism/services/runs"),
			metrics: newMetrics(d.Metrics), more: make(chan struct{}, 1),
		},
		id: id, chunks: map[prism.UUID]*chunk{},
	}
	s.pace = newPace(cmp.Or(cfg.Concurrency, 256), s.metrics.slowdowns.Inc)
	measureNow(d.Metrics, s.pace, func() int { return len(s.leased()) })
	return s, nil
}

// Run answers rows until ctx ends, the calls under way have ended and their outcomes are saved (spec: worker-stop).
func (s *Service) Run(ctx context.Context) {
	outlive, end := context.WithCancel(context.WithoutCancel(ctx))
	var chunks, renewing sync.WaitGroup
	renewing.Go(func() { s.renew(outlive) })
	s.lease(ctx, func(c *chunk) {
		s.add(c)
		chunks.Go(func() {
			defer s.remove(c)
			c.run(outlive, ctx.Done())
		})
	})
	chunks.Wait()
	end()
	renewing.Wait()
}

// Ready returns an error while results does not let the worker lease.
func (s *Service) Ready(context.Context) error {
	if s.away.Load() {
		return contract.ErrUnavailable
	}
	return nil
}

// lease leases chunks whenever more rows could begin, until ctx ends.
func (s *Service) lease(ctx context.Context, begin func(*chunk)) {
	var waits backoff.Backoff
	for {
		for timeout := time.After(maxRefused); !s.wanting(); {
			select {
			case <-s.more:
				continue
			case <-timeout: // there may be rows of another model or account
			case <-ctx.Done():
				return
			}
			if s.room() {
				break
			}
			timeout = time.After(maxRefused)
		}
		if ctx.Err() != nil {
			return
		}
		c, err := s.leaseOne(ctx)
		var pause time.Duration
		switch {
		case err != nil:
			if !s.away.Load() {
				s.log.WarnContext(ctx, "leasing rows of runs failed", "error", err)
			}
			pause = waits.Next(firstPause, maxPause)
		case c == nil:
			pause = waits.Next(firstIdle, maxIdle)
		default:
			if s.refuses(c) {
				c.stopped, pause = true, waits.Next(firstRefused, maxRefused)
			} else {
				waits = 0
			}
			begin(c)
		}
		s.away.Store(err != nil)
		if pause > 0 {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
		}
	}
}

// leaseOne leases a chunk. The end of ctx does not interrupt it: nobody would know of the lease.
func (s *Service) leaseOne(ctx context.Context) (*chunk, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTry)
	defer cancel()
	began := time.Now()
	crash.At(crash.BeforeLease)
	leased, err := s.leases.LeaseChunk(ctx, s.id)
	if err != nil || leased == nil {
		return nil, err
	}
	crash.At(crash.AfterLease)
	return newChunk(&s.work, leased, began), nil
}

// room tells whether a further chunk may be held, and a further row may begin if its model and limits allow it.
func (s *Service) room() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.chunks) < MaxLeases && !s.pace.full()
}

// wanting tells whether another chunk is wanted: a model whose rows are here has fewer that wait for places than it has places, or
// no rows wait.
func (s *Service) wanting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.chunks) >= MaxLeases {
		return false
	}
	rows := map[string]int{}
	for _, c := range s.chunks {
		if n, state := c.remaining(); state == waiting {
			rows[c.Facts.Version.Model] += n
		}
	}
	for model, n := range rows {
		if !s.pace.fills(model, n) {
			return true
		}
	}
	return len(rows) == 0
}

// refuses tells whether a chunk is given back, as its rows could not begin soon: another chunk of its run waits for the run's
// limits, another one of its account for the account's (spec: row-waits), or the account has rows enough that wait for the same
// model. So a worker does not hold what others could begin, and slow runs leave room for others.
func (s *Service) refuses(c *chunk) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	model, rows := c.Facts.Version.Model, 0
	for _, other := range s.chunks {
		n, state := other.remaining()
		switch {
		case state == overLimit && other.Account == c.Account, state == limited && other.Run == c.Run:
			return true
		case state == waiting && other.Account == c.Account && other.Facts.Version.Model == model:
			rows += n
		}
	}
	return rows > 0 && s.pace.fills(model, rows)
}

func (s *Service) add(c *chunk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chunks[c.Token] = c
}

func (s *Service) remove(c *chunk) {
	s.mu.Lock()
	delete(s.chunks, c.Token)
	s.mu.Unlock()
	s.reconsider()
}

// renew renews all leases, and tells their chunks what became of them, until ctx ends (spec: worker-leases).
func (s *Service) renew(ctx context.Context) {
	tick := time.NewTicker(contract.LeasePoll)
	defer tick.Stop()
	for away := false; ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		leases := s.leased()
		if len(leases) == 0 {
			continue
		}
		began := time.Now()
		try, cancel := context.WithTimeout(ctx, renewTry)
		states, err := s.leases.RenewLeases(try, leases)
		cancel()
		if err != nil && !away && ctx.Err() == nil {
			s.log.WarnContext(ctx, "renewing leases of rows failed", "error", err)
		}
		away = err != nil
		s.mu.Lock()
		for _, state := range states {
			if c := s.chunks[state.Token]; c != nil {
				c.renewed(renewal{state, began})
			}
		}
		s.mu.Unlock()
	}
}

func (s *Service) leased() []contract.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	leases := make([]contract.Lease, 0, len(s.chunks))
	for _, c := range s.chunks {
		leases = append(leases, c.Lease)
	}
	return leases
}
