package load

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/prism-results/prism/test/internal/history"
)

// Seen counts the responses of a load.
type Seen struct {
	Calls   int
	Results int // 200 and 502
	Refused int // 4xx
	Nothing int // 503, or never sent
	Unknown int // 500, or no response
	Longest time.Duration
	Causes  map[string]int // of Nothing and Unknown
}

// Count counts a read of another kind than those of the load: one that is not answered has no effect.
func (l *Load) Count(r Reply) {
	meaning := history.Result
	if r.Err != nil || r.Status >= http.StatusInternalServerError {
		meaning = history.Nothing
	}
	l.count(history.Response{Meaning: meaning}, 0, r.Err)
}

func (l *Load) count(a history.Response, took time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen.Calls++
	switch a.Meaning {
	case history.Result:
		l.seen.Results++
	case history.Nothing:
		l.seen.Nothing++
	case history.Unknown:
		l.seen.Unknown++
	case history.OtherPrism, history.Succeeded, history.Retried, history.NotFound:
		l.seen.Refused++
	}
	l.seen.Longest = max(l.seen.Longest, took)
	if a.Meaning == history.Nothing || a.Meaning == history.Unknown {
		cause := a.String()
		for ; err != nil; err = errors.Unwrap(err) {
			cause = fmt.Sprintf("no response: %v", err) // at last the innermost error, without addresses
		}
		l.seen.Causes[cause]++
	}
}

// Seen returns the counts so far.
func (l *Load) Seen() Seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.seen
	seen.Causes = maps.Clone(seen.Causes)
	return seen
}

// Races are all races of the run.
func (l *Load) Races() []*Race {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.races)
}

// Race is the race with a number, or nil.
func (l *Load) Race(number int) *Race {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := number - l.config.First; i >= 0 && i < len(l.races) {
		return l.races[i]
	}
	return nil
}

// Histories are what the races' clients saw.
func (l *Load) Histories() []history.Race {
	races := l.Races()
	histories := make([]history.Race, len(races))
	for i, r := range races {
		calls := r.Calls()
		slices.SortFunc(calls, func(a, b history.Call) int { return cmp.Compare(a.Began, b.Began) })
		histories[i] = history.Race{Name: r.name(), Calls: calls}
	}
	return histories
}

// Served are the results that clients received, in format raw if a client asked for this format.
func (l *Load) Served() map[string]Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.results)
}

// Owner is the race of a result.
func (l *Load) Owner(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owner[id]
}

// Raw is the body of a result in format raw, or nil if no client asked for this format.
func (l *Load) Raw(id string) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bodies[served{id, "raw"}]
}

// Problems are the violations that do not depend on the order of calls.
func (l *Load) Problems() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.problems)
}
