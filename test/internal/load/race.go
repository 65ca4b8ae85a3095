package load

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/prism-results/prism/test/internal/history"
	"github.com/prism-results/prism/test/internal/upstream"
)

// Slugs are the prisms that each account has. A key is used for both.
var Slugs = [2]string{"alpha", "beta"}

// Race is one idempotency key, or one create without a key, with all that is reachable from it.
type Race struct {
	Number int
	// Account owns it. Each key is used in both accounts, for races that have nothing to do with each other.
	Account int
	Key     string // empty: without a key
	tag     upstream.Tag

	mu      sync.Mutex
	begun   int // calls
	limit   int
	creates int
	known   []known
	calls   []history.Call
}

// known is a result that a client knows from a response.
type known struct {
	id      string
	ok      bool
	retried bool // and it is known by which
}

// intent is a call that a client is about to make.
type intent struct {
	kind   history.Kind
	prism  string
	ref    string
	target string
	format string // of the response; json when empty
}

// Calls are what was called and answered so far.
func (r *Race) Calls() []history.Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]history.Call(nil), r.calls...)
}

func (r *Race) name() string {
	if r.Key == "" {
		return fmt.Sprintf("race %d of a create without a key", r.Number)
	}
	return fmt.Sprintf("race %d of key %s of account %d", r.Number, r.Key, r.Account)
}

// next decides the next call of a client. false means that no call is left.
func (r *Race) next(rnd *rand.Rand) (intent, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun >= r.limit {
		return intent{}, false
	}
	switch {
	case r.Key == "" && r.creates == 0, r.Key != "" && (len(r.known) == 0 || rnd.IntN(100) < 45):
		slug := Slugs[0]
		if r.Key != "" && rnd.IntN(100) < 15 {
			slug = Slugs[1]
		}
		r.begun++
		return r.create(slug), true
	case len(r.known) == 0:
		// The only create is in progress. If its response is lost, no client will ever know its result.
		return intent{}, false
	}
	r.begun++
	target := r.known[rnd.IntN(len(r.known))]
	if rnd.IntN(100) < 55 {
		if rnd.IntN(100) < 70 {
			target = r.known[len(r.known)-1]
		}
		return intent{kind: history.Retry, target: target.id}, true
	}
	return intent{kind: history.Read, target: target.id}, true
}

func (r *Race) create(slug string) intent {
	r.creates++
	return intent{kind: history.Create, prism: slug, ref: ref(r.Number, r.creates)}
}

// ref names a create call, so that what is stored can be traced to it.
func ref(race, create int) string { return fmt.Sprintf("race %d create %d", race, create) }

// RaceOf is the race whose create call has the ref.
func RaceOf(ref string) (race int, err error) {
	var create int
	if _, err = fmt.Sscanf(ref, "race %d create %d", &race, &create); err != nil {
		return 0, fmt.Errorf("load: ref %q is of no call: %w", ref, err)
	}
	return race, nil
}

// note writes a call down.
func (r *Race) note(c history.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
	switch c.Response.Meaning {
	case history.Result:
		r.learn(c.Response.ID).ok = c.Response.Status == history.OK
		if c.Kind == history.Retry {
			r.learn(c.Target).retried = true
		}
	case history.Retried:
		r.learn(c.Response.By)
		r.learn(c.Target).retried = true
	case history.Succeeded:
		r.learn(c.Target).ok = true
	case history.Nothing:
		// A race with many failed calls gets more calls, but not without end.
		if len(r.calls) < 3*r.limit {
			r.begun--
		}
	case history.Unknown, history.OtherPrism, history.NotFound:
	}
}

// learn returns the knowledge about a result, which may be empty.
func (r *Race) learn(id string) *known {
	i := slices.IndexFunc(r.known, func(k known) bool { return k.id == id })
	if i < 0 {
		i = len(r.known)
		r.known = append(r.known, known{id: id})
	}
	return &r.known[i]
}

// any is a result of the race.
func (r *Race) any() (id string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) == 0 {
		return "", false
	}
	return r.known[len(r.known)-1].id, true
}

// spent tells whether the race has ended, so that another one may begin.
func (r *Race) spent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun >= r.limit {
		return true
	}
	return r.Key == "" && r.creates > 0 && len(r.calls) > 0 && len(r.known) == 0
}
