package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// spec: unwritable-store, full-disk
func TestAFullFileIsUnwritableUntilItHasRoom(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prism.db")
	if err := Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	account, id := prism.AccountID{UUID: prism.UUID{1}}, prism.PrismID{UUID: prism.UUID{2}}
	if err := errors.Join(
		s.CreateAccount(t.Context(), account, "a", storetest.By()),
		s.CreatePrism(t.Context(), account, prism.Prism{ID: id, Slug: "triage", Latest: prism.Version{Number: 1}}, storetest.By()),
	); err != nil {
		t.Fatal(err)
	}
	ids := byte(0)
	save := func() error {
		ids++
		_, err := s.SaveResult(t.Context(), account, prism.Result{
			ID: prism.ResultID{UUID: prism.UUID{3, ids}}, Prism: id, Version: 1, Status: prism.Failed, Error: "no answer",
			Context: strings.Repeat("x", 50_000),
		})
		return err
	}
	limit := func(pages int) {
		t.Helper()
		// The writer has one connection, to which the pragma applies.
		err := s.Database.(*database).writer.use(t.Context(), fair.Yielding, "limit", func(conn *sqlite.Conn) error {
			return execute(conn, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(save(), s.ProbeWrite(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := s.KeepReserve(t.Context()); err != nil || s.Full() {
		t.Fatalf("full %t, %v", s.Full(), err)
	}
	reserve := path + "-reserve"
	if is, err := os.Stat(reserve); err != nil || is.Size() != reserveBytes || is.Mode() != 0o600 {
		t.Errorf("the reserve is %v, %v", is, err)
	}
	limit(1) // not less than the file has
	for err = save(); err == nil; err = save() {
	}
	if !errors.Is(err, store.ErrFull) || !errors.Is(err, store.ErrUnwritable) || !errors.Is(err, store.ErrUnavailable) || !s.Full() {
		t.Errorf("a save in a full file: %v; full %t", err, s.Full())
	}
	if _, err := os.Stat(reserve); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the reserve of a full disk: %v", err)
	}
	if err := s.ProbeWrite(t.Context()); !errors.Is(err, store.ErrFull) {
		t.Errorf("a probe of a full file: %v", err)
	}
	other := func() error {
		ids++
		return s.CreateAccount(t.Context(), prism.AccountID{UUID: prism.UUID{4, ids}}, fmt.Sprint(ids), storetest.By())
	}
	if err := other(); !errors.Is(err, store.ErrFull) {
		t.Errorf("another change: %v", err)
	}
	if _, err := s.TakeDriftWatch(t.Context(), time.Now(), time.Now()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("work that can wait: %v", err)
	}
	for n := range ids - 1 {
		id := prism.ResultID{UUID: prism.UUID{3, n + 1}}
		if err := s.DeleteResult(t.Context(), account, id, storetest.By()); err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the deletion of result %d: %v", n, err)
		}
	}
	limit(1 << 20)
	if err := errors.Join(s.ProbeWrite(t.Context()), save(), other()); err != nil || s.Full() {
		t.Errorf("with room: %v; full %t", err, s.Full())
	}
	if _, err := os.Stat(reserve); err != nil {
		t.Errorf("the reserve of a disk with room again: %v", err)
	}
}

// spec: full-disk
func TestADiskHasRoomAgain(t *testing.T) {
	t.Parallel()
	const m = 1 << 20
	for _, test := range []struct {
		name                     string
		available, free, reserve int64
		unknown                  bool
	}{
		{"on an empty disk", 1000 * m, 0, 16 * m, false},
		{"on the disk", 32 * m, 0, 16 * m, false},
		{"not quite on the disk", 32*m - 1, 0, 0, false},
		{"in the file, of which much was deleted", 16 * m, 16 * m, 8 * m, false},
		{"in the file, with little on the disk", 8 * m, 24 * m, 4 * m, false},
		{"in the file, with too little on the disk for its log", 8*m - 1, 1000 * m, 0, false},
		{"in the file, of which too little was deleted", 16 * m, 16*m - 1, 0, false},
		{"on a disk that does not tell", 0, 0, 16 * m, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(filepath.Join(t.TempDir(), "prism.db"))
			r.space = func(string) (int64, bool) { return test.available, !test.unknown }
			r.full.Store(true)
			err := r.restore(test.free)
			var size int64
			if is, err := os.Stat(r.reserve()); err == nil {
				size = is.Size()
			}
			if (err == nil) != (test.reserve > 0) || err != nil && !errors.Is(err, store.ErrFull) || r.full.Load() != (err != nil) || size != test.reserve {
				t.Errorf("%v, full %t, a reserve of %d bytes", err, r.full.Load(), size)
			}
		})
	}
}

// spec: full-disk
func TestAFileIsOpenedWithTheSpaceOfTheReserve(t *testing.T) {
	t.Parallel()
	broken := errors.New("no index")
	for _, test := range []struct {
		name      string
		reserve   bool
		available int64
		calls     int
		want      error
	}{
		{"on a full disk", true, 0, 2, nil},
		{"on a full disk without a reserve", false, 0, 1, store.ErrFull},
		{"on a disk with room, where something else is wrong", true, leastSpace, 1, broken},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(filepath.Join(t.TempDir(), "prism.db"))
			r.space = func(string) (int64, bool) { return test.available, true }
			if test.reserve {
				if err := allocate(r.reserve(), 1); err != nil {
					t.Fatal(err)
				}
			}
			calls := 0
			err := r.open(func() error {
				if calls++; calls == 1 {
					return broken
				}
				return nil
			})
			if !errors.Is(err, test.want) || calls != test.calls || (err == nil) != (test.want == nil) {
				t.Errorf("%v after %d calls", err, calls)
			}
		})
	}
}

// spec: full-disk
func TestAStopOnAFullDiskLeavesAReserveForTheNextStart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prism.db")
	if err := Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	room := s.Database.(*database).room
	room.space = func(string) (int64, bool) { return 3 << 20, true }
	if err := s.KeepReserve(t.Context()); err != nil || !s.Full() {
		t.Errorf("a start with little space: %v, full %t", err, s.Full())
	}
	s.Close()
	if is, err := os.Stat(room.reserve()); err != nil || is.Size() != 3<<20 {
		t.Errorf("the reserve is %v, %v", is, err)
	}
}
