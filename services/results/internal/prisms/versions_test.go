package prisms

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

func TestLargeDefinitionsAreKeptWithinABound(t *testing.T) {
	t.Parallel()
	large := newVersion(prism.Version{Definition: prism.Definition{Instructions: strings.Repeat("x", 1<<20)}})
	small := newVersion(prism.Version{})
	for _, databases := range []int{1, 4} {
		c := newVersions(databases)
		for n := range int32(200) {
			c.add(VersionID{number: n}, large)
			c.add(VersionID{number: n}, large)
		}
		if kept := c.lru.Len(); kept == 0 || kept > 64/databases {
			t.Errorf("%d MiB of definitions are kept for one of %d databases", kept, databases)
		}
		if _, ok := c.get(VersionID{number: 199}); !ok {
			t.Error("the last one is not kept")
		}
		for n := range int32(2 * cachedVersions) {
			c.add(VersionID{number: 1000 + n}, small)
		}
		if kept := c.lru.Len(); kept != cachedVersions/databases {
			t.Errorf("%d small definitions are kept for one of %d databases", kept, databases)
		}
		if c.bytes != c.lru.Len()*small.size {
			t.Errorf("they weigh %d", c.bytes)
		}
	}
	if c := newVersions(1000); c.limit < large.size {
		t.Error("no large definition is kept for one of many databases")
	}
}

func TestALensIsAppliedOnlyWhereItWasPrepared(t *testing.T) {
	t.Parallel()
	lens := func(column string) store.PrismState {
		return store.PrismState{Lens: `{"columns":[{"name":"` + column + `","question":"q","show":"answer"}]}`}
	}
	one, other := newVersion(prism.Version{Number: 1}), newVersion(prism.Version{Number: 2})
	kept := map[*Applied]bool{}
	for _, v := range []*Cached{one, other} {
		for _, column := range []string{"a", "b"} {
			first, err := v.Apply(lens(column), nil)
			if err != nil || first.Lens.Columns[0].Name != column || kept[first] {
				t.Fatalf("version %d, Lens %s: %+v, %v", v.Number, column, first, err)
			}
			if again, _ := v.Apply(lens(column), nil); again != first {
				t.Errorf("version %d, Lens %s: prepared twice", v.Number, column)
			}
			kept[first] = true
		}
	}
	if a, err := one.Apply(store.PrismState{Lens: "secret"}, nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %+v, %v", a, err)
	}
}
