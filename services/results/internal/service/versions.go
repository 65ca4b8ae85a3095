package service

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/prism-results/prism/pkg/prism"
)

// Cached definitions are bounded by number and by size: a usual one takes 2 KiB, a large one 1 MiB.
const (
	cachedVersions = 1024
	cachedBytes    = 64 << 20
)

// versionID identifies a version. A version never changes, so it can be cached.
type versionID struct {
	prism  prism.PrismID
	number int32
}

// versions caches the versions that were used last.
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
		return // a concurrent call added it
	}
	c.bytes += weight(v.Definition)
	c.kept.Add(id, v)
	for c.bytes > cachedBytes {
		c.kept.RemoveOldest()
	}
}

// weight is the approximate size of a definition in memory.
func weight(d prism.Definition) int {
	const each = 100 // of a field, question, option or level, besides its text
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
