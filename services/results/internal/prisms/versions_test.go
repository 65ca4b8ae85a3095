package prisms

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

func TestLargeDefinitionsAreKeptWithinABound(t *testing.T) {
	t.Parallel()
	c := newVersions()
	large := newVersion(prism.Version{Definition: prism.Definition{Instructions: strings.Repeat("x", 1<<20)}})
	small := newVersion(prism.Version{})
	for n := range int32(200) {
		c.add(VersionID{number: n}, large)
		c.add(VersionID{number: n}, large)
	}
	if kept := c.lru.Len(); kept == 0 || kept > 64 {
		t.Errorf("%d MiB of definitions are kept", kept)
	}
	if _, ok := c.get(VersionID{number: 199}); !ok {
		t.Error("the last one is not kept")
	}
	for n := range int32(2 * cachedVersions) {
		c.add(VersionID{number: 1000 + n}, small)
	}
	if kept := c.lru.Len(); kept != cachedVersions {
		t.Errorf("%d small definitions are kept", kept)
	}
	if c.bytes != cachedVersions*small.size {
		t.Errorf("they weigh %d", c.bytes)
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
