package search_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
	"github.com/prism-results/prism/services/results/internal/search"
)

// behind is a store in which an account has changes and another one old results, in pieces.
type behind struct {
	search.Store
	sync.Mutex
	changes, old int
	fails        bool
	done         []string
}

func (b *behind) Behind(context.Context) (lags []search.Lag, err error) {
	b.Lock()
	defer b.Unlock()
	if b.fails {
		b.fails = false
		return nil, errors.New("away")
	}
	if b.changes > 0 {
		at := time.Now().Add(-time.Minute)
		lags = append(lags, search.Lag{Account: prism.AccountID{UUID: prism.UUID{1}}, At: &at})
	}
	if b.old > 0 {
		lags = append(lags, search.Lag{Account: prism.AccountID{UUID: prism.UUID{2}}, Old: true})
	}
	return lags, nil
}

func (b *behind) IndexChanges(_ context.Context, account prism.AccountID, _ int) (more bool, err error) {
	b.Lock()
	defer b.Unlock()
	b.changes--
	b.done = append(b.done, "changes of "+account.String()[:2])
	return b.changes > 0, nil
}

func (b *behind) IndexOld(_ context.Context, account prism.AccountID, _ int) (more bool, err error) {
	b.Lock()
	defer b.Unlock()
	b.old--
	b.done = append(b.done, "old of "+account.String()[:2])
	return b.old > 0, nil
}

func (b *behind) indexed() []string {
	b.Lock()
	defer b.Unlock()
	return slices.Clone(b.done)
}

func (b *behind) change() {
	b.Lock()
	defer b.Unlock()
	b.changes++
}

// spec: index-lag
func TestChangesAndOldResultsAreIndexedPieceByPiece(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &behind{changes: 2, old: 3, fails: true}
		i := search.NewIndexer(b, time.Now, slog.New(slog.DiscardHandler))
		metrics := prometheus.NewRegistry()
		if err := i.Measure(metrics); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		go i.Run(ctx)
		synctest.Wait()
		if done := b.indexed(); done != nil {
			t.Errorf("indexed %v while the store was away", done)
		}
		<-time.After(1200 * time.Millisecond) // the first attempt, and two pauses between pieces
		synctest.Wait()
		want := []string{"changes of 01", "old of 02", "changes of 01", "old of 02", "old of 02"}
		if done := b.indexed(); !slices.Equal(done, want) {
			t.Errorf("indexed %v, want %v", done, want)
		}
		if late := metrictest.Value(t, metrics, "prism_index_late_seconds"); late != 0 {
			t.Errorf("late by %v s, though all is indexed", late)
		}
		b.change()
		<-time.After(time.Second)
		synctest.Wait()
		if late := metrictest.Value(t, metrics, "prism_index_late_seconds"); late != 60 {
			t.Errorf("late by %v s, want 60", late)
		}
		stop()
		synctest.Wait()
	})
}

// steady is a store in which an account has one new change at each look, and old results.
type steady struct{ *behind }

func (s *steady) Behind(context.Context) ([]search.Lag, error) {
	s.change()
	at := time.Now()
	return []search.Lag{{Account: prism.AccountID{UUID: prism.UUID{1}}, At: &at, Old: true}}, nil
}

// spec: index-lag
func TestOldResultsAreIndexedAlthoughChangesNeverEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &steady{&behind{old: 2}}
		ctx, stop := context.WithCancel(t.Context())
		go search.NewIndexer(s, time.Now, slog.New(slog.DiscardHandler)).Run(ctx)
		<-time.After(time.Second)
		stop()
		synctest.Wait()
		if done := s.indexed(); !slices.Contains(done, "old of 01") {
			t.Errorf("indexed %v", done)
		}
	})
}

// slow takes a millisecond for each change.
type slow struct {
	*behind
	sizes []int
}

func (s *slow) IndexChanges(ctx context.Context, account prism.AccountID, n int) (more bool, err error) {
	s.Lock()
	s.sizes = append(s.sizes, n)
	s.Unlock()
	<-time.After(time.Duration(n) * time.Millisecond)
	return s.behind.IndexChanges(ctx, account, n)
}

// spec: index-lag
func TestAPieceOfTheIndexIsAsLargeAsItsTimeAllows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slow{behind: &behind{changes: 6}}
		ctx, stop := context.WithCancel(t.Context())
		go search.NewIndexer(s, time.Now, slog.New(slog.DiscardHandler)).Run(ctx)
		<-time.After(5 * time.Second)
		stop()
		synctest.Wait()
		if want := []int{250, 125, 62, 31, 31, 31}; !slices.Equal(s.sizes, want) {
			t.Errorf("indexed by %v, want %v", s.sizes, want)
		}
	})
}
