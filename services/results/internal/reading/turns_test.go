package reading_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/reading"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// slow makes each read of the files of some accounts take a time.
type slow struct {
	blobs.Blobs
	mu    sync.Mutex
	takes map[prism.AccountID]time.Duration
	begun []prism.FileID // files of those accounts, each time when their first part was read
	now   map[prism.AccountID]int
	most  int    // reads at once of one account
	other func() // is called before each read of the files of another account; nil: nothing
}

func (s *slow) Get(ctx context.Context, f store.FileOwner, name string, offset, n int64) ([]byte, error) {
	if takes, ok := s.takes[f.Account]; ok {
		s.mu.Lock()
		s.begun = append(s.begun, f.ID)
		s.now[f.Account]++
		s.most = max(s.most, s.now[f.Account])
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.now[f.Account]--
		}()
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if s.other != nil && s.takes[f.Account] == 0 {
		s.other()
	}
	return s.Blobs.Get(ctx, f, name, offset, n)
}

// of makes the world's next files those of another account.
func (w *world) of(t *testing.T, name string) prism.AccountID {
	t.Helper()
	w.account = prism.AccountID{UUID: w.id()}
	if err := w.CreateAccount(t.Context(), w.account, name, storetest.By()); err != nil {
		t.Fatal(err)
	}
	return w.account
}

// reads runs the worker for a time.
func (w *world) reads(t *testing.T, d time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), d)
		defer stop()
		w.Run(ctx)
	})
}

// status is the status of a file of any account.
func (w *world) status(t *testing.T, account prism.AccountID, id prism.FileID) prism.FileStatus {
	t.Helper()
	f, err := w.File(t.Context(), account, id)
	if err != nil {
		t.Fatal(err)
	}
	return f.Status
}

// spec: file-turns
func TestAccountsWithSlowFilesDoNotKeepAnotherFromHavingAFileRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		readers int
		hostile int
		within  time.Duration
		broken  float64 // readings of hostile files, until the other one begins: then hostile accounts wait for each other
	}{
		{"while a reader is free for an account of which no file is read", 3, 2, 2 * time.Second, 0},
		{"while as many accounts as readers have slow files", 2, 2, 11 * time.Second, 1},
		{"while more accounts than readers have slow files", 3, 5, 13 * time.Second, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.readers = c.readers
			s := &slow{Blobs: w.blobs, takes: map[prism.AccountID]time.Duration{}, now: map[prism.AccountID]int{}}
			for i := range c.hostile {
				s.takes[w.of(t, fmt.Sprint("hostile ", i))] = time.Hour
				for range 5 {
					w.completed(t, csv(3))
				}
			}
			w.now = w.now.Add(time.Minute) // the other account is the last
			account := w.of(t, "other")
			id := w.completed(t, csv(3))
			w.worker(t, w.Store, s)
			s.other = sync.OnceFunc(func() {
				// One more, if a reading whose slice ends at the same moment looks late: it makes room for the account that did so.
				if n := metrictest.Value(t, w.metrics, "prism_file_readings_total broken_off"); n < c.broken || n > c.broken+1 {
					t.Errorf("%v readings were broken off, want %v", n, c.broken)
				}
			})
			w.reads(t, c.within)
			if got := w.status(t, account, id); got != prism.FileReady {
				t.Errorf("the file is %s", got)
			}
		})
	}
}

// spec: file-turns
func TestAnAccountAloneHasReadersForTwoFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := &slow{Blobs: w.blobs, takes: map[prism.AccountID]time.Duration{w.account: time.Hour}, now: map[prism.AccountID]int{}}
	for range 4 {
		w.completed(t, csv(3))
	}
	w.worker(t, w.Store, s)
	w.reads(t, time.Minute)
	if len(s.begun) != 2 || s.most != 2 {
		t.Errorf("%d files were read, %d at once", len(s.begun), s.most)
	}
}

// A file that is broken off again and again is read to its end, as each time it has twice the time.
//
// spec: file-turns
func TestAFileThatMakesRoomIsReadAnewForLonger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := &slow{Blobs: w.blobs, takes: map[prism.AccountID]time.Duration{}, now: map[prism.AccountID]int{}}
	for i := range 6 { // so many that there is always one that waits
		s.takes[w.of(t, fmt.Sprint("hostile ", i))] = time.Hour
		for range 2 {
			w.completed(t, csv(3))
		}
	}
	account := w.of(t, "large")
	s.takes[account] = 8 * time.Second
	id := w.completed(t, csv(300_000)) // four parts
	w.worker(t, w.Store, s)
	w.reads(t, 10*time.Minute)
	if got := w.status(t, account, id); got != prism.FileReady {
		t.Errorf("the file is %s", got)
	}
	times := 0
	for _, b := range s.begun {
		if b == id {
			times++
		}
	}
	if times < 6 { // two parts, and then all
		t.Errorf("it was read in one go, of %d parts", times)
	}
}

// spec: file-turns
func TestReadersFollowTheMemoryLimit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int64]int{64 << 20: 2, 460 << 20: 2, 767 << 20: 2, 768 << 20: 3, math.MaxInt64: 3} {
		if got := reading.Readers(limit, 1); got != want {
			t.Errorf("%d MiB: %d, want %d", limit>>20, got, want)
		}
	}
	for limit, want := range map[int64]int{1: 1, 511 << 20: 1, 512 << 20: 2, math.MaxInt64 / 4: 3} {
		if got := reading.Readers(limit, 4); got != want {
			t.Errorf("%d MiB for one of four databases: %d, want %d", limit>>20, got, want)
		}
	}
}
