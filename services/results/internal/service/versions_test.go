package service

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

func TestLargeDefinitionsAreKeptWithinABound(t *testing.T) {
	t.Parallel()
	c := newVersions()
	large := prism.Version{Definition: prism.Definition{Instructions: strings.Repeat("x", 1<<20)}}
	for n := range int32(200) {
		c.add(versionID{number: n}, large)
		c.add(versionID{number: n}, large)
	}
	if kept := c.kept.Len(); kept == 0 || kept > 64 {
		t.Errorf("%d MiB of definitions are kept", kept)
	}
	if _, ok := c.get(versionID{number: 199}); !ok {
		t.Error("the last one is not kept")
	}
	for n := range int32(2 * cachedVersions) {
		c.add(versionID{number: 1000 + n}, prism.Version{})
	}
	if kept := c.kept.Len(); kept != cachedVersions {
		t.Errorf("%d small definitions are kept", kept)
	}
	if c.bytes != cachedVersions*weight(prism.Definition{}) {
		t.Errorf("they weigh %d", c.bytes)
	}
}
