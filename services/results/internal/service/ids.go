package service

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// OrderedIDs makes ids of accounts, prisms, keys and entries of the audit that sort in the order in which this process makes
// them, also within a millisecond. After a clock that was set back by more than a second, ids begin with the new time.
func OrderedIDs(now func() time.Time) func() (prism.UUID, error) {
	var (
		mu   sync.Mutex
		last time.Time
	)
	return func() (prism.UUID, error) {
		mu.Lock()
		defer mu.Unlock()
		at := now().Truncate(time.Millisecond)
		if behind := last.Sub(at); behind >= 0 && behind < time.Second {
			at = last.Add(time.Millisecond)
		}
		last = at
		return prism.NewUUID(at, rand.Reader)
	}
}
