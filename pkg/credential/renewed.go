package credential

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// The pauses between a fetch that failed, or gave a value that ends soon, and the next one.
const (
	leastPause = 500 * time.Millisecond
	mostPause  = 30 * time.Second
)

// Ending is a value that is good until End, such as a token.
type Ending[T any] struct {
	Value T
	End   time.Time
}

// Fetch gets a new value. Its error must not repeat a secret.
type Fetch[T any] func(context.Context) (Ending[T], error)

// Renewed keeps a value that ends, and fetches the next one in the background when a quarter of its time is left
// (spec: tokens-are-renewed). While that fails, the value is used to its end. One fetch runs at a time. A value that nobody used
// since it was fetched is not renewed. Renewed is safe for concurrent use, and needs no end.
type Renewed[T any] struct {
	fetch Fetch[T]
	count *Count
	log   *slog.Logger

	mu       sync.Mutex
	current  Ending[T]
	next     time.Time     // not fetched before
	fetched  time.Time     // when the last fetch ended
	used     bool          // since then
	fetching chan struct{} // closed at the end of the fetch under way; nil without one
	failure  error         // of the last fetch
}

// Renew makes a Renewed. It fetches nothing yet. count may be nil.
func Renew[T any](fetch Fetch[T], count *Count, log *slog.Logger) *Renewed[T] {
	return &Renewed[T]{fetch: fetch, count: count, log: log}
}

// Get returns the current value. Without one that is good, it waits for a fetch until ctx ends.
func (r *Renewed[T]) Get(ctx context.Context) (Ending[T], error) {
	for {
		r.mu.Lock()
		current, good := r.use()
		fetching, failure := r.fetching, r.failure
		r.mu.Unlock()
		switch {
		case good:
			return current, nil
		case fetching == nil: // the last fetch failed a moment ago
			return Ending[T]{}, failure
		}
		select {
		case <-fetching:
		case <-ctx.Done():
			return Ending[T]{}, errors.Join(ctx.Err(), failure)
		}
	}
}

// Now returns the current value, or false if there is none that is good. Then one is being fetched.
func (r *Renewed[T]) Now() (value T, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	current, good := r.use()
	if !good {
		return value, false
	}
	return current.Value, true
}

// Doubt has the value be fetched again at its next use, but not at once after a fetch.
func (r *Renewed[T]) Doubt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if early := r.fetched.Add(leastPause); early.Before(r.next) {
		r.next = early
	}
}

// use is the current value, and whether it is good. It begins a fetch if one is due.
func (r *Renewed[T]) use() (current Ending[T], good bool) {
	now := time.Now()
	r.used = true
	if !now.Before(r.next) {
		r.begin()
	}
	return r.current, now.Before(r.current.End)
}

// begin fetches in the background, unless a fetch is under way. The caller holds mu.
func (r *Renewed[T]) begin() {
	if r.fetching != nil {
		return
	}
	done := make(chan struct{})
	r.fetching = done
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), fetchWait) //nolint:forbidigo // the value outlives the call that needs it first
		defer cancel()
		value, err := r.fetch(ctx)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fetching = nil
		r.end(value, err)
		close(done)
	}()
}

// end takes what a fetch gave, and plans the next one. The caller holds mu.
func (r *Renewed[T]) end(value Ending[T], err error) {
	now := time.Now()
	if err == nil && !now.Before(value.End) {
		err = errors.New("what was fetched has ended already")
	}
	r.count.end(err)
	pause := value.End.Sub(now) / 4 * 3
	if err != nil {
		pause = min(r.current.End.Sub(now)/4, mostPause)
		if r.failure == nil {
			r.log.Warn("credentials cannot be renewed; the last ones are used to their end", "error", err.Error(), "end", r.current.End)
		}
		err = fmt.Errorf("no credentials: %w", err)
	} else {
		r.current = value
		if r.failure != nil {
			r.log.Info("credentials are renewed again")
		}
	}
	pause = max(pause, leastPause)
	r.failure, r.fetched, r.next, r.used = err, now, now.Add(pause), false
	if now.Before(r.current.End) {
		time.AfterFunc(pause, r.renewUsed)
	}
}

// renewUsed fetches if it is time to and the value was used. One that has ended is fetched at its next use.
func (r *Renewed[T]) renewUsed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); r.used && !now.Before(r.next) && now.Before(r.current.End) {
		r.begin()
	}
}

// Tokens is a Source of tokens that end.
type Tokens struct{ *Renewed[string] }

// NewTokens makes a Source of the tokens that fetch gets. count may be nil.
func NewTokens(fetch Fetch[string], count *Count, log *slog.Logger) Tokens {
	return Tokens{Renew(fetch, count, log)}
}

// Secret implements Source: "" while there is no token, which is then being fetched.
func (t Tokens) Secret() string {
	text, _ := t.Now()
	return text
}

// Refused implements Source.
func (t Tokens) Refused(text string) {
	if current, ok := t.Now(); ok && current == text {
		t.Doubt()
	}
}
