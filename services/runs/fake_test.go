package runs

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store keeps runs in memory, and leases their chunks as results do. Everything runs in a synctest bubble.
type store struct {
	t *testing.T

	mu     sync.Mutex
	chunks []*stored
	tokens byte
	saves  int
	renews int
	empty  int   // saves without rows
	away   error // of every call
	twice  int   // rows saved that were saved under another lease
}

// stored is a chunk of a run.
type stored struct {
	contract.Chunk
	outcomes map[int64]prism.UUID // by row: the token under which it was saved
	until    time.Time            // of the lease; zero: not leased
	leased   time.Time            // last
	stop     bool                 // the run pauses
}

func newStore(t *testing.T) *store {
	t.Helper()
	return &store{t: t}
}

// add adds chunks with so many rows to a run of an account.
func (s *store) add(account, run byte, model string, limits contract.RowLimits, rows ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := int64(1)
	for _, n := range rows {
		c := &stored{outcomes: map[int64]prism.UUID{}}
		c.Account, c.Run = prism.AccountID{UUID: prism.UUID{account}}, prism.RunID{UUID: prism.UUID{run}}
		c.Lease.Chunk = int32(len(s.chunks))
		c.RowLimits = limits
		c.Facts.Account, c.Facts.Version.Model = c.Account, model
		for i := range n {
			row := first + int64(i)
			id := prism.ResultID{UUID: prism.UUID{run, 13: byte(row >> 16), 14: byte(row >> 8), 15: byte(row)}}
			c.Rows = append(c.Rows, contract.ChunkRow{Row: row, ID: id, RowLabels: labelsOf(row)})
		}
		first += int64(n)
		s.chunks = append(s.chunks, c)
	}
}

// labelsOf are the labels of a row, which no other row has.
func labelsOf(row int64) contract.RowLabels {
	return contract.RowLabels{Labels: []contract.RowLabel{{Question: "q", Value: strconv.FormatInt(row, 10)}}}
}

func (s *store) LeaseChunk(context.Context, prism.UUID) (*contract.Chunk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away != nil {
		return nil, s.away
	}
	held, waited := map[prism.AccountID]int{}, map[prism.RunID]time.Time{}
	for _, c := range s.chunks {
		if time.Now().Before(c.until) {
			held[c.Account] += len(c.Rows)
		}
		waited[c.Run] = later(waited[c.Run], c.leased)
	}
	var next *stored
	for _, c := range s.chunks {
		if c.stop || len(c.outcomes) == len(c.Rows) || time.Now().Before(c.until) {
			continue
		}
		if next == nil || held[c.Account] < held[next.Account] || held[c.Account] == held[next.Account] && waited[c.Run].Before(waited[next.Run]) {
			next = c
		}
	}
	if next == nil {
		return nil, nil
	}
	s.tokens++
	next.Token, next.until, next.leased = prism.UUID{1, s.tokens}, time.Now().Add(contract.LeaseTime), time.Now()
	given := next.Chunk
	given.Rows = nil
	for _, row := range next.Rows {
		if _, over := next.outcomes[row.Row]; !over {
			given.Rows = append(given.Rows, row)
		}
	}
	return &given, nil
}

// of is the chunk of a lease, or nil if the lease is lost.
func (s *store) of(l contract.Lease) *stored {
	for _, c := range s.chunks {
		if c.Token == l.Token && time.Now().Before(c.until) {
			return c
		}
	}
	return nil
}

func (s *store) RenewLeases(_ context.Context, leases []contract.Lease) ([]contract.LeaseState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renews++
	if s.away != nil {
		return nil, s.away
	}
	var states []contract.LeaseState
	for _, l := range leases {
		c := s.of(l)
		if c == nil {
			states = append(states, contract.LeaseState{Lease: l, Stop: true})
			continue
		}
		c.until = time.Now().Add(contract.LeaseTime)
		states = append(states, contract.LeaseState{Lease: l, Stop: c.stop, RowLimits: c.RowLimits})
	}
	return states, nil
}

func (s *store) SaveRows(_ context.Context, rows contract.SaveRows) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saves++
	if s.away != nil {
		return s.away
	}
	c := s.of(rows.Lease)
	if c == nil {
		return contract.ErrLeaseLost
	}
	if len(rows.Rows) == 0 {
		s.empty++
	}
	for _, o := range rows.Rows {
		if !reflect.DeepEqual(o.RowLabels, labelsOf(o.Row)) { // spec: run-labels
			s.t.Errorf("row %d is saved with %+v", o.Row, o.RowLabels)
		}
		if under, over := c.outcomes[o.Row]; over && under != rows.Token {
			s.twice++
		}
		c.outcomes[o.Row] = rows.Token
	}
	if rows.Done {
		c.until = time.Time{}
	}
	return nil
}

// change changes what is stored.
func (s *store) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// over is how many rows have an outcome, and leases how many chunks are leased.
func (s *store) over() (rows, leases int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.chunks {
		rows += len(c.outcomes)
		if time.Now().Before(c.until) {
			leases++
		}
	}
	return rows, leases
}

// answerer answers rows by a function, and counts them.
type answerer struct {
	do func(ctx context.Context, facts contract.RowFacts, row contract.ChunkRow) (contract.RowOutcome, error)

	mu      sync.Mutex
	running int
	most    int
	began   []time.Time
	times   map[prism.ResultID]int
}

func (a *answerer) AnswerRow(ctx context.Context, facts contract.RowFacts, row contract.ChunkRow) (contract.RowOutcome, error) {
	a.mu.Lock()
	a.running++
	a.most = max(a.most, a.running)
	a.began = append(a.began, time.Now())
	if a.times == nil {
		a.times = map[prism.ResultID]int{}
	}
	a.times[row.ID]++
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.running--
	}()
	return a.do(ctx, facts, row)
}

func (a *answerer) count() (running, began int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running, len(a.began)
}

// okAfter answers every row ok after a time.
func okAfter(d time.Duration) *answerer {
	return &answerer{do: func(_ context.Context, _ contract.RowFacts, row contract.ChunkRow) (contract.RowOutcome, error) {
		<-time.After(d)
		return okRowAfter(row, d), nil
	}}
}

func okRow(row contract.ChunkRow) contract.RowOutcome { return okRowAfter(row, 0) }

// okRowAfter is a row for which the model took so long.
func okRowAfter(row contract.ChunkRow, took time.Duration) contract.RowOutcome {
	return contract.RowOutcome{
		Row: row.Row, Save: &contract.Save{ID: row.ID, Outcome: contract.Outcome{TookMS: took.Milliseconds()}},
	}
}

var errAway = errors.New("away")

// worker is a worker that runs until stop, which returns how long that takes.
type worker struct {
	*Service
	metrics *prometheus.Registry
	cancel  context.CancelFunc
	ended   chan struct{}
}

func start(t *testing.T, leases contract.Leases, rows contract.Rows, cfg Config) *worker {
	t.Helper()
	w := &worker{metrics: prometheus.NewRegistry(), ended: make(chan struct{})}
	var err error
	w.Service, err = New(cfg, Deps{
		Leases: leases, Rows: rows, Metrics: w.metrics, Log: slog.New(slog.DiscardHandler), Tracer: noop.NewTracerProvider(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.cancel = cancel
	go func() {
		defer close(w.ended)
		w.Run(ctx)
	}()
	return w
}

func (w *worker) stop() time.Duration {
	began := time.Now()
	w.cancel()
	<-w.ended
	return time.Since(began)
}

// pass lets the time of the bubble pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// bubble runs a test in a bubble of its own.
func bubble(t *testing.T, test func(t *testing.T, s *store)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, newStore(t)) })
}

// chunksOf are n chunks of as many rows as chunks have.
func chunksOf(n int) []int {
	chunks := make([]int, n)
	for i := range chunks {
		chunks[i] = contract.ChunkRows
	}
	return chunks
}
