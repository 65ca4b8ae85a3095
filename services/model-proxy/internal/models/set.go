package models

import (
	"sync/atomic"

	"github.com/prism-results/prism/pkg/api"
)

// Set is the models of one configuration. It never changes. The models of a set stay open until its last user has released it.
type Set struct {
	models []*Model // in the order of the file
	first  *Model   // the default one
	routes map[string][]*Model
	users  atomic.Int64
}

// NewSet makes a set, whose first user is the caller. first and the fallbacks are names of models.
func NewSet(models []*Model, first string) *Set {
	s := &Set{models: models, routes: make(map[string][]*Model, len(models))}
	s.users.Store(1)
	byName := make(map[string]*Model, len(models))
	for _, m := range models {
		m.sets.Add(1)
		byName[m.Name] = m
	}
	for _, m := range models {
		route := []*Model{m}
		for _, name := range m.Fallback {
			route = append(route, byName[name])
		}
		s.routes[m.Name] = route
	}
	s.first = byName[first]
	return s
}

// Route is the model with the name, or the default one without a name, and its fallbacks in order. It is nil when no model has
// the name.
func (s *Set) Route(name string) []*Model {
	if name == "" {
		name = s.first.Name
	}
	return s.routes[name]
}

// Default is the model for asks that name none.
func (s *Set) Default() *Model { return s.first }

// Models are the models in the order of the file.
func (s *Set) Models() []*Model { return s.models }

// List describes the models for callers: without addresses, keys and headers.
func (s *Set) List() []api.Model {
	list := make([]api.Model, len(s.models))
	for i, m := range s.models {
		list[i] = m.describe(m == s.first)
	}
	return list
}

// retain adds a user, unless the last one has released the set.
func (s *Set) retain() bool {
	for {
		n := s.users.Load()
		if n == 0 {
			return false
		}
		if s.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release removes a user. The last one closes the models that no other set has.
func (s *Set) Release() {
	if s.users.Add(-1) > 0 {
		return
	}
	for _, m := range s.models {
		if m.sets.Add(-1) == 0 {
			m.Close()
		}
	}
}

// Current has the current set. It is safe for concurrent use.
type Current struct{ set atomic.Pointer[Set] }

// NewCurrent makes a Current of the given models. The first one is the default.
func NewCurrent(models ...*Model) *Current {
	c := &Current{}
	c.Replace(NewSet(models, models[0].Name))
	return c
}

// Acquire returns the current set. Its models stay usable until the caller has released it.
func (c *Current) Acquire() *Set {
	for {
		if set := c.set.Load(); set.retain() {
			return set
		}
	}
}

// Replace makes a new set the current one, and releases the one before.
func (c *Current) Replace(set *Set) {
	if old := c.set.Swap(set); old != nil {
		old.Release()
	}
}
