package directory_test

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// home is a database that answers look-ups, and has nothing else.
type home struct {
	sqldb.Database
	asked atomic.Int64
	find  func(ctx context.Context) (directory.Place, error) // the zero value: there is no row
}

func (h *home) LookUp(ctx context.Context, _ sqldb.Statement, read func(*sqldb.Row)) error {
	h.asked.Add(1)
	place, err := h.find(ctx)
	if err == nil && !place.Account.IsZero() {
		read(sqldb.NewRow(row{Place: place}))
	}
	return err
}

// row is a row of a look-up.
type row struct {
	sqldb.Columns
	directory.Place
}

func (row) Null(int) bool                  { return false }
func (r row) UUID(int) (prism.UUID, error) { return r.Account.UUID, nil }
func (r row) Text(int) string              { return r.Database }

func newAccount(n int) (account prism.AccountID) {
	binary.BigEndian.PutUint64(account.UUID[:], uint64(n)+1)
	return account
}

func newKey(n int) (key contract.KeyDigest) {
	binary.BigEndian.PutUint64(key[8:], uint64(n)+1)
	return key
}

func newCached(t *testing.T, h *home, most int) *directory.Cached {
	t.Helper()
	c, err := directory.NewCached(directory.SQL{Database: h}, most, most)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// spec: directory
func TestWhatIsCachedIsBoundedInBytes(t *testing.T) { //nolint:paralleltest // measures the memory of the process
	account := 0
	h := &home{find: func(context.Context) (directory.Place, error) {
		// The longest name that a database can have, in memory of its own, as the rows of Postgres have it.
		return directory.Place{Account: newAccount(account), Database: strings.Repeat("x", 62) + string(rune('a'+account%26))}, nil
	}}
	c := newCached(t, h, directory.DefaultKeys)
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := used()
	for account = range 2 * directory.DefaultKeys {
		if _, err := c.OfKey(t.Context(), newKey(account)); err != nil {
			t.Fatal(err)
		}
	}
	after := used()
	if most := uint64(48 << 20); after > before+most {
		t.Errorf("the directory has %d bytes, more than %d", after-before, most)
	}
	asked := h.asked.Load()
	if _, err := c.OfKey(t.Context(), newKey(account)); err != nil || h.asked.Load() != asked {
		t.Errorf("the key that was found last is not cached: %v", err)
	}
}

// spec: key-look-up
func TestAnUnknownKeyWaitsNoLongerThanHomeMayTake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &home{find: func(ctx context.Context) (directory.Place, error) {
			<-ctx.Done()
			return directory.Place{}, ctx.Err()
		}}
		c := newCached(t, h, 10)
		began := time.Now()
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				if _, err := c.OfKey(t.Context(), newKey(1)); !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("home hangs: %v", err)
				}
			})
		}
		callers.Wait()
		if took := time.Since(began); took != 1500*time.Millisecond {
			t.Errorf("the calls took %s", took)
		}
		if n := h.asked.Load(); n != 1 {
			t.Errorf("100 calls of one key were %d look-ups", n)
		}
	})
}

// spec: key-look-up
func TestAKeyIsNeverUnknownByALookUpThatBeganBeforeItWasMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		made, release := atomic.Bool{}, make(chan struct{})
		h := &home{find: func(context.Context) (directory.Place, error) {
			is := made.Load()
			<-release
			if !is {
				return directory.Place{}, nil
			}
			return directory.Place{Account: newAccount(1), Database: "b"}, nil
		}}
		c := newCached(t, h, 10)
		var callers sync.WaitGroup
		callers.Go(func() {
			if place, err := c.OfKey(t.Context(), newKey(1)); err != nil || !place.Account.IsZero() {
				t.Errorf("a key that is not made yet is at %v: %v", place, err)
			}
		})
		synctest.Wait()
		made.Store(true)
		for range 5 {
			callers.Go(func() {
				if place, err := c.OfKey(t.Context(), newKey(1)); err != nil || place.Database != "b" {
					t.Errorf("a key that was just made is at %v: %v", place, err)
				}
			})
		}
		synctest.Wait()
		close(release)
		callers.Wait()
	})
}
