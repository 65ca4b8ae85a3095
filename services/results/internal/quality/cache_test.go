package quality

import (
	"fmt"
	"testing"

	"github.com/prism-results/prism/pkg/api"
)

// spec: measures-hold-little
func TestCachedMeasuresHoldABoundedNumberOfCells(t *testing.T) {
	t.Parallel()
	for _, databases := range []int{1, 4} {
		m := newMeasures(databases)
		of := func(values int) cachedMeasure {
			return cachedMeasure{measure: api.QuestionQuality{Measures: api.Measures{Confusion: &api.Confusion{Values: make([]any, values)}}}}
		}
		both := api.Measures{Confusion: &api.Confusion{Values: make([]any, 510)}}
		for i := range 1000 {
			c := of(255)
			switch i % 3 {
			case 1:
				c = cachedMeasure{measure: api.Comparison{A: api.ComparedVersion{Measures: both}, B: api.ComparedVersion{Measures: both}}}
			case 2:
				c = cachedMeasure{measure: 7}
			}
			m.add(fmt.Sprint(i%300), c)
			held := 0
			for _, one := range m.cache.Values() {
				held += one.cells()
			}
			if held != m.cells || held > maxCells/databases || m.cache.Len() == 0 {
				t.Fatalf("%d cells are held, %d are counted, of %d measures", held, m.cells, m.cache.Len())
			}
		}
		if m.add("too large", of(3000)); m.cache.Len() != 0 || m.cells != 0 {
			t.Errorf("%d measures with %d cells", m.cache.Len(), m.cells)
		}
	}
}
