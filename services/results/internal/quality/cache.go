package quality

import (
	"context"
	"fmt"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/prism-results/prism/pkg/prism"
)

// maxCached bounds how many measures a process caches, each of some KB.
const maxCached = 256

// measures caches the measures that were computed last. The key of a measure holds the labels that it was computed from, and a
// hit counts only if the same labels count now. So a cached measure is never out of date, since results do not change.
type measures struct {
	cache *lru.Cache[string, cachedMeasure]
}

type cachedMeasure struct {
	measure      any
	completeness []completeness // of the labels that it was computed from
}

func newMeasures() *measures {
	cache, err := lru.New[string, cachedMeasure](maxCached)
	if err != nil {
		panic(err) // the size above is positive
	}
	return &measures{cache}
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
			s.measures.cache.Add(id, m)
		}
	}
	return err
}
