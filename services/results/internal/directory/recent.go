package directory

import "sync"

// recent keeps the entries that were used last, in two halves of which the older one is dropped when the newer one is full. Maps without pointers
// take a third of the memory of a list of the same entries, and the garbage collector does not read them.
type recent[K comparable, V any] struct {
	half int

	mu         sync.Mutex
	newer, old map[K]V
}

// newRecent keeps at most so many entries, and at least two.
func newRecent[K comparable, V any](most int) *recent[K, V] {
	return &recent[K, V]{half: max(1, most/2), newer: map[K]V{}, old: map[K]V{}}
}

// Get finds an entry, which is used now.
func (r *recent[K, V]) Get(k K) (v V, cached bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, cached = r.newer[k]; cached {
		return v, true
	}
	if v, cached = r.old[k]; cached {
		r.add(k, v)
	}
	return v, cached
}

// Add keeps an entry, in place of the one with its key.
func (r *recent[K, V]) Add(k K, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(k, v)
}

func (r *recent[K, V]) add(k K, v V) {
	if _, there := r.newer[k]; !there && len(r.newer) == r.half {
		r.newer, r.old = r.old, r.newer
		clear(r.newer)
	}
	r.newer[k] = v
}
