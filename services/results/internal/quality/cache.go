package quality

import (
	"context"
	"fmt"
	"slices"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// maxCached bounds how many measures a process caches, each of some KB beside its confusion matrix. maxCells bounds the cells of these
// together, to 32 MB: that of 255 options has 65,025. A version has up to 2,000 options that are measured by themselves, and those that
// were measured in a call that was too long have to be cached for the next one.
const (
	maxCached = 4096
	maxCells  = 4 << 20
	// leastCached and leastCells are for each of many databases: what one call measures.
	leastCached = 2100
	leastCells  = 4 * 255 * 255
)

// measures caches the measures that were computed last. The key of a measure holds the labels that it was computed from, and the hash of
// the version, whose examples are left out. A hit counts only if the same labels count now. So a cached measure is never out of date, since
// results do not change.
type measures struct {
	mu    sync.Mutex // held while the cache changes
	cache *lru.Cache[string, cachedMeasure]
	cells int // of all matrices
	limit int // cells
}

type cachedMeasure struct {
	measure      any
	completeness []completeness // of the labels that it was computed from
}

// cells is how many cells the confusion matrices of the measure have.
func (c cachedMeasure) cells() (n int) {
	var all []api.Measures
	switch m := c.measure.(type) {
	case api.QuestionQuality:
		all = []api.Measures{m.Measures}
	case api.Comparison:
		all = []api.Measures{m.A.Measures, m.B.Measures}
	}
	for _, m := range all {
		if m.Confusion != nil {
			n += len(m.Confusion.Values) * len(m.Confusion.Values)
		}
	}
	return n
}

// newMeasures caches what a process may for one of so many databases.
func newMeasures(databases int) *measures {
	m := &measures{limit: max(leastCells, maxCells/databases)}
	cache, err := lru.NewWithEvict(max(leastCached, maxCached/databases), func(_ string, c cachedMeasure) { m.cells -= c.cells() })
	if err != nil {
		panic(err) // the size above is positive
	}
	m.cache = cache
	return m
}

// add caches a measure in place of those that were used least recently.
func (m *measures) add(id string, c cachedMeasure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cache.Remove(id)
	m.cache.Add(id, c)
	for m.cells += c.cells(); m.cells > m.limit; {
		m.cache.RemoveOldest()
	}
}

// snapshot are the labels of some versions of a prism, as they were once.
type snapshot struct {
	prism    prism.PrismID
	versions []int32
	states   []LabelsState
}

func (s *Handlers) labelsState(
	ctx context.Context, account prism.AccountID, of prism.PrismID, versions ...int32,
) (snapshot, error) {
	l := snapshot{prism: of, versions: versions}
	for _, v := range versions {
		state, err := s.store.LabelsState(ctx, account, of, v)
		if err != nil {
			return l, err
		}
		l.states = append(l.states, state)
	}
	return l, nil
}

// measureID names a measure: what was measured, by which labels.
func measureID(labels snapshot, what ...any) string {
	return fmt.Sprintf("%#v %#v", labels, what)
}

// findMeasure finds the measure with an id, which names its type too.
func findMeasure[T any](ctx context.Context, s *Handlers, account prism.AccountID, id string) (measure T, ok bool, err error) {
	cached, ok := s.measures.cache.Get(id)
	for i := 0; ok && i < len(cached.completeness); i++ {
		complete, err := s.isComplete(ctx, account, cached.completeness[i])
		if err != nil {
			return measure, false, err
		}
		ok = complete == cached.completeness[i].complete
	}
	if ok {
		measure = cached.measure.(T) //nolint:forcetypeassert // as the id says
	}
	return measure, ok, nil
}

// cacheMeasures caches measures by their ids, unless the labels changed meanwhile.
func (s *Handlers) cacheMeasures(
	ctx context.Context, account prism.AccountID, labels snapshot, computed map[string]cachedMeasure,
) error {
	now, err := s.labelsState(ctx, account, labels.prism, labels.versions...)
	if slices.Equal(now.states, labels.states) {
		for id, m := range computed {
			s.measures.add(id, m)
		}
	}
	return err
}
