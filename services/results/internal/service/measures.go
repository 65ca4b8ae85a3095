package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// keptMeasures bounds how many measures a process caches, each of some KB.
const keptMeasures = 256

// measures caches the measures that were computed last. The key of a measure holds the labels that it was computed from, and a
// hit counts only if the same labels count now. So a cached measure is never out of date, since results do not change.
type measures struct {
	resampling chan struct{} // holds a token while something is resampled: one at a time leaves a processor to the calls
	kept       *lru.Cache[string, keptMeasure]

	mu    sync.Mutex
	turns map[prism.AccountID]*turn // of the accounts that resample or wait to
}

// turn is what the calls of one account wait for, so that at most one of them waits for resampling. Accounts so take turns
// (spec: fair-shares).
type turn struct {
	taken chan struct{} // holds a token while a call has the turn
	calls int           // that have or want it
}

type keptMeasure struct {
	found any
	of    []completeness
}

func newMeasures() *measures {
	kept, err := lru.New[string, keptMeasure](keptMeasures)
	if err != nil {
		panic(err) // the size above is positive
	}
	return &measures{resampling: make(chan struct{}, 1), kept: kept, turns: map[prism.AccountID]*turn{}}
}

// labelsSnapshot are the labels of some versions of a prism, as they were once.
type labelsSnapshot struct {
	prism    prism.PrismID
	versions []int32
	states   []store.LabelsState
}

func (s *Service) labelsOf(
	ctx context.Context, account prism.AccountID, of prism.PrismID, versions ...int32,
) (labelsSnapshot, error) {
	l := labelsSnapshot{prism: of, versions: versions}
	for _, v := range versions {
		state, err := s.Store.LabelsState(ctx, account, of, v)
		if err != nil {
			return l, err
		}
		l.states = append(l.states, state)
	}
	return l, nil
}

// cachedMeasure returns the cached measure of labels and what, or computes it. It caches what it computed, unless the labels
// changed meanwhile.
func cachedMeasure[T any](
	ctx context.Context, s *Service, account prism.AccountID, labels labelsSnapshot, what any,
	compute func() (T, []completeness, error),
) (found T, err error) {
	id := fmt.Sprintf("%#v %#v", labels, what)
	kept, ok := s.measures.kept.Get(id)
	for i := 0; ok && i < len(kept.of); i++ {
		complete, err := s.isComplete(ctx, account, kept.of[i])
		if err != nil {
			return found, err
		}
		ok = complete == kept.of[i].complete
	}
	if ok {
		return kept.found.(T), nil //nolint:forcetypeassert // an id has the type of what is computed
	}
	found, of, err := compute()
	if err != nil {
		return found, err
	}
	now, err := s.labelsOf(ctx, account, labels.prism, labels.versions...)
	if slices.Equal(now.states, labels.states) {
		s.measures.kept.Add(id, keptMeasure{found, of})
	}
	return found, err
}

// resampleInTurn calls compute when nothing else is resampled.
func resampleInTurn[T any](
	ctx context.Context, m *measures, account prism.AccountID, compute func() (T, error),
) (found T, err error) {
	own := m.joinTurn(account)
	defer m.leaveTurn(account, own)
	for _, place := range []chan struct{}{own.taken, m.resampling} {
		select {
		case place <- struct{}{}:
			defer func() { <-place }()
		case <-ctx.Done():
			return found, errors.Join(contract.ErrUnavailable, ctx.Err())
		}
	}
	return compute()
}

// joinTurn is the turn of an account; leaveTurn is called when the call has ended.
func (m *measures) joinTurn(account prism.AccountID) *turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	own := m.turns[account]
	if own == nil {
		own = &turn{taken: make(chan struct{}, 1)}
		m.turns[account] = own
	}
	own.calls++
	return own
}

func (m *measures) leaveTurn(account prism.AccountID, own *turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if own.calls--; own.calls == 0 {
		delete(m.turns, account)
	}
}
