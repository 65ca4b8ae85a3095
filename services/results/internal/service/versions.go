package service

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/prism-results/prism/pkg/prism"
)

// The definitions kept in memory are bounded twice, for a usual one takes 2 KiB and a large one a MiB.
const (
	cachedVersions = 1024
	cachedBytes    = 64 << 20
)

// versionID names a definition, which never changes and so can be kept.
type versionID struct {
	prism  prism.PrismID
	number int32
}

// versions are the definitions that were needed last.
type versions struct {
	mu    sync.Mutex
	kept  *simplelru.LRU[versionID, prism.Version]
	bytes int
}

func newVersions() *versions {
	c := &versions{}
	kept, err := simplelru.NewLRU(cachedVersions, func(_ versionID, v prism.Version) { c.bytes -= weight(v.Definition) })
	if err != nil {
		panic(err) // the size above is positive
	}
	c.kept = kept
	return c
}

func (c *versions) get(id versionID) (prism.Version, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.Get(id)
}

func (c *versions) add(id versionID, v prism.Version) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept.Contains(id) {
		return // two calls needed it at once
	}
	c.bytes += weight(v.Definition)
	c.kept.Add(id, v)
	for c.bytes > cachedBytes {
		c.kept.RemoveOldest()
	}
}

// weight is about how much memory a definition takes.
func weight(d prism.Definition) int {
	const each = 100 // of a field, question, option or level beside its text
	w := each + len(d.Instructions)
	for _, f := range d.Fields {
		w += each + len(f.Key) + len(f.Label)
	}
	for _, q := range d.Questions {
		w += each + len(q.Key) + len(q.Text)
		for _, o := range q.Options {
			w += each + len(o.Key) + len(o.Label) + len(o.Description)
		}
		for _, l := range q.Levels {
			w += each + len(l.Key) + len(l.Label)
		}
	}
	return w
}
