package reading

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// minReaders and maxReaders bound how many files a process reads at once. With a third one, a small file of an account that is
	// alone does not wait for a large one.
	minReaders, maxReaders = 2, 3
	// readerBytes is the memory limit for each reader: twice what a Parquet file takes, which is the most.
	readerBytes = 256 << 20
	// slice is how long a file is read at least before it makes room for an account of which none is being read. It is read anew
	// later, for twice as long at least, so that every file is read to its end after less than twice the work.
	slice = 10 * time.Second
	// lookEvery is how often a reading looks whether it must make room.
	lookEvery = time.Second
	// maxSlices bounds the slices that are remembered of files that wait to be read anew.
	maxSlices = 1000
)

// errTurnOver ends a reading that makes room.
var errTurnOver = errors.New("reading: another account's turn")

// Readers is how many files a process with a memory limit reads at once of each of its databases: of several, one at least.
func Readers(memory int64, databases int) int {
	least := int64(minReaders)
	if databases > 1 {
		least = 1
	}
	return int(min(maxReaders, max(least, memory/readerBytes)))
}

// turns decides which file is read next, and which reading makes room (spec: file-turns). An account gets a reader only while more
// are free than files of it are being read, so the last free one is for an account of which none is.
type turns struct {
	readers int

	mu     sync.Mutex
	open   []*turn
	takes  int64                     // how many files were taken
	served map[prism.AccountID]int64 // the take of the account's last file, of accounts with files in the queue
	slices map[prism.FileID]time.Duration
}

// turn is a file that is being read.
type turn struct {
	account prism.AccountID
	file    prism.FileID
	began   time.Time
	slice   time.Duration
	ending  bool // it is making room
}

// next chooses the file to read: of the account with the fewest files that are being read, then of the one that was served the
// longest ago.
func (t *turns) next(queue []files.ReadingQueue) (store.FileOwner, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	served := make(map[prism.AccountID]int64, len(queue))
	free := int64(t.readers - len(t.open))
	var waiting []files.ReadingQueue
	for _, q := range queue {
		if last, ok := t.served[q.Account]; ok {
			served[q.Account] = last
		}
		if !q.Next.IsZero() && q.Leased < free {
			waiting = append(waiting, q)
		}
	}
	t.served = served
	if len(waiting) == 0 {
		return store.FileOwner{}, false
	}
	q := slices.MinFunc(waiting, func(a, b files.ReadingQueue) int {
		return cmp.Or(cmp.Compare(a.Leased, b.Leased), cmp.Compare(served[a.Account], served[b.Account]), a.Since.Compare(b.Since))
	})
	return store.FileOwner{Account: q.Account, ID: q.Next}, true
}

// begin begins the turn of a file that was leased.
func (t *turns) begin(f store.FileOwner) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.takes++
	t.served[f.Account] = t.takes
	began := &turn{account: f.Account, file: f.ID, began: time.Now(), slice: max(slice, t.slices[f.ID])}
	t.open = append(t.open, began)
	return began
}

// end ends a turn. If the file made room, its next turn is longer.
func (t *turns) end(ended *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = slices.DeleteFunc(t.open, func(o *turn) bool { return o == ended })
	delete(t.slices, ended.file)
	if ended.ending {
		if len(t.slices) == maxSlices {
			clear(t.slices)
		}
		t.slices[ended.file] = 2 * ended.slice
	}
}

// last reports whether a reading is the one to make room if an account waits: no reader is free, and of the readings whose slice is
// over it is of the account with the most, and the longest.
func (t *turns) last(reading *turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	readings := map[prism.AccountID]int{}
	var over []*turn
	for _, o := range t.open {
		if o.ending {
			return false
		}
		readings[o.account]++
		if time.Since(o.began) >= o.slice {
			over = append(over, o)
		}
	}
	if len(t.open) < t.readers || len(over) == 0 {
		return false
	}
	return reading == slices.MinFunc(over, func(a, b *turn) int {
		return cmp.Or(cmp.Compare(readings[b.account], readings[a.account]), a.began.Compare(b.began))
	})
}

// makesRoom reports whether a reading must end now, as an account waits of which no file is being read.
func (w *Worker) makesRoom(ctx context.Context, reading *turn) bool {
	if !w.turns.last(reading) {
		return false
	}
	queue, err := w.look(ctx)
	none := func(q files.ReadingQueue) bool { return q.Leased == 0 && !q.Next.IsZero() }
	if err != nil || !slices.ContainsFunc(queue, none) { // a look that fails is repeated
		return false
	}
	w.turns.mu.Lock()
	defer w.turns.mu.Unlock()
	reading.ending = true
	return true
}
