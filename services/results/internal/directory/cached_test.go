package directory_test

import (
	"context"
	"encoding/binary"
	"errors"
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
	key contract.KeyDigest
}

func (row) Null(int) bool                  { return false }
func (r row) UUID(int) (prism.UUID, error) { return r.Account.UUID, nil }
func (r row) Text(int) string              { return r.Database }
func (r row) Int(int) (int64, error)       { return r.Epoch, nil }
func (r row) Bytes(int) []byte             { return r.key[:] }

func newAccount(n int) (account prism.AccountID) {
	binary.BigEndian.PutUint64(account.UUID[:], uint64(n)+1)
	return account
}

func newKey(n int) (key contract.KeyDigest) {
	binary.BigEndian.PutUint64(key[8:], uint64(n)+1)
	return key
}

func newCached(h *home, most int) *directory.Cached {
	return directory.NewCached(directory.SQL{Database: h}, most)
}

// spec: directory
func TestWhatIsCachedIsBoundedInBytes(t *testing.T) { //nolint:paralleltest // measures the memory of the process
	account := 0
	h := &home{find: func(context.Context) (directory.Place, error) {
		// The longest name that a database can have, in memory of its own, as the rows of Postgres have it.
		return directory.Place{Account: newAccount(account), Database: strings.Repeat("x", 62) + string(rune('a'+account%26))}, nil
	}}
	const memory = 256 << 20
	most := directory.KeptIn(memory)
	c := newCached(h, most)
	before := heap()
	for account = range 2 * most {
		if _, err := c.OfKey(t.Context(), newKey(account)); err != nil {
			t.Fatal(err)
		}
	}
	after := heap()
	t.Logf("%d keys and accounts have %d bytes", most, after-before)
	if after > before+memory/8 {
		t.Errorf("the directory has %d bytes, more than %d", after-before, memory/8)
	}
	asked := h.asked.Load()
	if _, err := c.OfKey(t.Context(), newKey(account)); err != nil || h.asked.Load() != asked {
		t.Errorf("the key that was found last is not cached: %v", err)
	}
}

// spec: directory
func TestWhatIsUsedStaysCached(t *testing.T) {
	t.Parallel()
	n := 0
	h := &home{find: func(context.Context) (directory.Place, error) {
		return directory.Place{Account: newAccount(n), Database: "b"}, nil
	}}
	c := newCached(h, 10)
	look := func(key int) (asked bool) {
		n = key
		before := h.asked.Load()
		if place, err := c.OfKey(t.Context(), newKey(key)); err != nil || place != (directory.Place{Account: newAccount(key), Database: "b"}) {
			t.Errorf("the key %d is at %v: %v", key, place, err)
		}
		return h.asked.Load() > before
	}
	look(0)
	for key := 1; key < 100; key++ {
		if !look(key) {
			t.Errorf("the key %d is cached before it was looked up", key)
		}
		if look(0) {
			t.Errorf("the key that is used is not cached after %d others", key)
		}
	}
	cached := 0
	for key := range 100 {
		if !look(key) {
			cached++
		}
	}
	if cached > 10 {
		t.Errorf("%d keys are cached", cached)
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
		c := newCached(h, 10)
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
		c := newCached(h, 10)
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
