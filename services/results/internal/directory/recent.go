package directory

import "sync"

// recent keeps entries. When there are as many as it may keep, a new one takes the place of one that was not used since others were dropped. A
// map without pointers takes a third of the memory of a list in order of use, and the garbage collector does not read it.
type recent[K comparable, V any] struct {
	limit int

	mu      sync.Mutex
	entries map[K]entry[V]
}

type entry[V any] struct {
	value V
	used  bool
}

func newRecent[K comparable, V any](limit int) *recent[K, V] {
	return &recent[K, V]{limit: limit, entries: map[K]entry[V]{}}
}

// Get finds an entry, which is used by this.
func (r *recent[K, V]) Get(k K) (value V, cached bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, cached := r.entries[k]
	if cached && !e.used {
		e.used = true
		r.entries[k] = e
	}
	return e.value, cached
}

// Add keeps an entry, in place of the one with its key.
func (r *recent[K, V]) Add(k K, value V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, cached := r.entries[k]
	if !cached && len(r.entries) >= r.limit {
		r.drop()
	}
	e.value = value
	r.entries[k] = e
}

// looks bounds how many entries are looked at to drop one.
const looks = 64

// drop removes the first entry that is not used, from a random one on. Those before it have to be used again to stay.
func (r *recent[K, V]) drop() {
	looked := 0
	for k, e := range r.entries {
		if looked++; !e.used || looked == min(looks, len(r.entries)) {
			delete(r.entries, k)
			return
		}
		e.used = false
		r.entries[k] = e
	}
}
