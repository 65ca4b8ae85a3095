package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"zombiezen.com/go/sqlite"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// room keeps a disk that is full usable: SQLite takes space to delete, and even to read, as its log and the index of that are files
// (spec: full-disk). A reserve is a file that is there to be removed.
//
//	kept ── SQLite finds the disk full, or there is no space for a reserve: removed ──▶ full ── space for a reserve ──▶ kept
//
// While the disk is full, writes other than essential ones are refused, so that these find the space of the reserve.
type room struct {
	path  string                                         // of the file of the store
	space func(dir string) (available int64, known bool) // where a folder is
	full  atomic.Bool
	keeps atomic.Bool // this process keeps the reserve
}

func newRoom(path string) *room { return &room{path: path, space: space} }

const (
	// reserveBytes has room for SQLite's log, which is moved into the file at 4 MiB, and for a part of a deletion beside it.
	reserveBytes = 16 << 20
	// leastSpace is what a start needs, for the index of the log and a first write.
	leastSpace = 1 << 20
)

// essential are the operations that free space, that somebody needs to sign in and delete, and that save what a model has already
// answered: no further call goes to the model.
var essential = map[string]bool{
	"delete_result": true, "add_deletion": true, "take_deletion": true, "delete_part": true, "return_deletion": true, "set_retention": true,
	"delete_file": true, "forget_file": true, "delete_contents": true,
	"sign_in": true, "see_session": true, "see_members": true, "create_session_key": true, "end_session": true, "link_operator": true,
	"sweep_links": true, "sweep_session": true, "sweep_session_keys": true,
	"revoke_key": true, "revoke_any_key": true, "remove_member": true,
	"save result": true, "save retry": true, "save_rows": true, "count_use": true,
}

// later are the operations that take work which can wait: while the disk is full there is none.
var later = map[string]bool{"take_reading": true, "take_drift_watch": true}

// admit returns an error for a write that has to wait until there is room.
func (r *room) admit(operation string) error {
	switch {
	case !r.full.Load() || essential[operation]:
		return nil
	case later[operation]:
		return store.ErrNotFound
	}
	return fmt.Errorf("sqlite: %s: %w", operation, store.ErrFull)
}

func (r *room) reserve() string { return r.path + "-reserve" }

// release marks the disk as full and removes the reserve. It returns false if there is none.
func (r *room) release() bool {
	r.full.Store(true)
	return os.Remove(r.reserve()) == nil
}

// attempt calls fn, and once more with the space of the reserve if it failed because the disk is full.
func (r *room) attempt(fn func() error) error {
	err := fn()
	if errors.Is(err, store.ErrFull) && r.release() {
		return fn()
	}
	return err
}

// open is attempt for what opens the file: the error of a log or an index that cannot be made does not say that the disk is full.
func (r *room) open(fn func() error) error {
	return r.attempt(func() error {
		err := fn()
		if available, known := r.space(filepath.Dir(r.path)); err != nil && known && available < leastSpace {
			err = fmt.Errorf("%w, also for reading; free at least %d MiB: %w", store.ErrFull, leastSpace>>20, err)
		}
		return err
	})
}

// rest makes the reserve for the next start, of what space there is.
func (r *room) rest() {
	if !r.keeps.Load() || !r.full.Load() {
		return
	}
	size := int64(reserveBytes)
	if available, known := r.space(filepath.Dir(r.path)); known {
		size = min(size, available)
	}
	_ = allocate(r.reserve(), size) // the next start says that the disk is full
}

// restore makes a reserve if the disk has space for one again, and there is as much for what is to be written next: on the disk, or
// in the file, of which so many bytes are free. Otherwise it returns store.ErrFull.
func (r *room) restore(free int64) error {
	size := int64(reserveBytes)
	if available, known := r.space(filepath.Dir(r.path)); known {
		if available < reserveBytes/2 || available+free < 2*reserveBytes {
			return store.ErrFull
		}
		size = min(size, available/2)
	}
	if err := allocate(r.reserve(), size); err != nil {
		return errors.Join(store.ErrFull, err)
	}
	r.full.Store(false)
	return nil
}

// allocate makes a file that takes so much space: its bytes are random, as some file systems store no zeros.
func allocate(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // beside the store
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, rand.Reader, size)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// KeepReserve makes the reserve unless it is there. Of the processes that have the file open, one keeps a reserve.
func (s *Store) KeepReserve(ctx context.Context) error {
	d := s.Database.(*database)
	d.room.keeps.Store(true)
	if is, err := os.Stat(d.room.reserve()); err == nil && is.Size() >= leastSpace {
		return nil
	}
	d.room.full.Store(true)
	if err := d.findRoom(ctx); !errors.Is(err, store.ErrFull) {
		return err
	}
	return nil
}

// freeBytes is the size of the file's pages that hold nothing.
const freeBytes = `SELECT (SELECT freelist_count FROM pragma_freelist_count) * (SELECT page_size FROM pragma_page_size)`

// findRoom ends the state full if there is room again: else store.ErrFull.
func (d *database) findRoom(ctx context.Context) error {
	if !d.room.full.Load() {
		return nil
	}
	return d.writer.use(ctx, fair.Preferred, "find room", func(conn *sqlite.Conn) error {
		// The log has grown with what was deleted. A reader that still needs it is not waited for.
		conn.SetBusyTimeout(0)
		err := execute(conn, "PRAGMA wal_checkpoint(TRUNCATE)")
		conn.SetBusyTimeout(busyTimeout)
		if err != nil {
			return err
		}
		var free int64
		if _, err := find(conn, freeBytes, nil, func(r *sqldb.Row) { free = r.Int() }); err != nil {
			return err
		}
		return d.room.restore(free)
	})
}

// Full implements sqldb.Database.
func (d *database) Full() bool { return d.room.full.Load() }
