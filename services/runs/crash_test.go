package runs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
)

// mortal is what a worker sees of results and of the models until it dies at a point. A dead worker reaches nothing any more.
type mortal struct {
	*store
	*answerer
	at    crash.Point
	after int // times that the point is passed

	mu       sync.Mutex
	dead     bool
	underWay map[prism.ResultID]bool
}

func newMortal(s *store, rows *answerer, at crash.Point, after int) *mortal {
	return &mortal{store: s, answerer: rows, at: at, after: after, underWay: map[prism.ResultID]bool{}}
}

// pass tells whether the worker lives behind the point.
func (m *mortal) pass(p crash.Point) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.dead && p == m.at {
		if m.after--; m.after < 0 {
			m.dead = true
		}
	}
	return !m.dead
}

func (m *mortal) LeaseChunk(ctx context.Context, worker prism.UUID) (*contract.Chunk, error) {
	if !m.pass(crash.BeforeLease) {
		return nil, errAway
	}
	c, err := m.store.LeaseChunk(ctx, worker)
	if c != nil && !m.pass(crash.AfterLease) {
		return nil, errAway
	}
	return c, err
}

func (m *mortal) RenewLeases(ctx context.Context, leases []contract.Lease) ([]contract.LeaseState, error) {
	if !m.pass("renewing") {
		return nil, errAway
	}
	return m.store.RenewLeases(ctx, leases)
}

func (m *mortal) SaveRows(ctx context.Context, rows contract.SaveRows) error {
	if !m.pass(crash.BeforeRows) {
		return errAway
	}
	err := m.store.SaveRows(ctx, rows)
	if err == nil {
		m.mu.Lock()
		for _, o := range rows.Rows {
			delete(m.underWay, o.Save.ID)
		}
		m.mu.Unlock()
	}
	if !m.pass(crash.AfterRows) {
		return errAway
	}
	return err
}

func (m *mortal) AnswerRow(ctx context.Context, facts contract.RowFacts, row contract.ChunkRow) (contract.RowOutcome, error) {
	if !m.pass(crash.BeforeModel) {
		return contract.RowOutcome{}, errAway
	}
	m.mu.Lock()
	m.underWay[row.ID] = true
	m.mu.Unlock()
	o, err := m.answerer.AnswerRow(ctx, facts, row)
	if !m.pass(crash.AfterModel) {
		return contract.RowOutcome{}, errAway
	}
	return o, err
}

// Workers die at every point and are replaced. Each row is saved exactly once, and only rows that were under way in a worker that
// died are asked again.
//
// spec: worker-crash, worker-leases
func TestWorkersThatDieLoseAndRepeatNoRow(t *testing.T) {
	for _, at := range crash.RunPoints() {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s %d", at, seed), func(t *testing.T) {
				bubble(t, func(t *testing.T, s *store) {
					random := rand.New(rand.NewPCG(seed, 1))
					const total = 2*200 + 57 + 200 + 3
					s.add(1, 1, "", contract.RowLimits{}, 200, 200, 57)
					s.add(2, 2, "other", contract.RowLimits{Concurrency: 5}, 200, 3)
					rows := okAfter(70 * time.Millisecond)
					var deaths []*mortal
					var workers []*worker
					for i := range 4 {
						after := random.IntN(6)
						if at == crash.BeforeModel || at == crash.AfterModel {
							after = random.IntN(60)
						}
						if at == crash.AfterLease {
							after = random.IntN(2) // of the five leases, one of the four workers has two
						}
						if i == 0 {
							after = 0 // one dies whoever leases what
						}
						m := newMortal(s, rows, at, after)
						deaths = append(deaths, m)
						workers = append(workers, start(t, m, m, Config{}))
					}
					pass(3 * time.Second)
					dead := 0
					underWay := map[prism.ResultID]bool{}
					for _, m := range deaths {
						m.mu.Lock()
						m.at = "" // the others live
						if m.dead {
							dead++
							for id := range m.underWay {
								underWay[id] = true
							}
						}
						m.mu.Unlock()
					}
					if dead == 0 {
						t.Fatal("no worker died")
					}
					workers = append(workers, start(t, s, rows, Config{}))
					pass(2 * contract.LeaseTime)
					if over, leases := s.over(); over != total || leases != 0 {
						t.Errorf("%d rows are over, %d leases; %d workers died", over, leases, dead)
					}
					if s.twice > 0 {
						t.Errorf("%d rows were saved under two leases", s.twice)
					}
					for id, n := range rows.times {
						if n > 1 && !underWay[id] {
							t.Errorf("row %s was asked %d times and was not under way in a worker that died", id, n)
						}
					}
					for _, w := range workers {
						w.cancel()
					}
					for _, w := range workers {
						<-w.ended
					}
				})
			})
		}
	}
}
