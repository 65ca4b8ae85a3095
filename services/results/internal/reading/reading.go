// Package reading reads each file once, in the background, and removes the content of files that were deleted or have expired.
// The queue of files and the chunks that were found are rows of the store, so a restart loses nothing. If a reader dies, any
// replica reads its file again (spec: file-reading).
//
//	reading ── Take: leased ── chunk after chunk ─┬─ end of the file ──▶ ready
//	   ▲                                          ├─ a row that cannot be used ──▶ unusable
//	   └───── the lease ends, after a crash ◀─────┴─ fault of a database, stop, another account's turn ──▶ Return ──┐
//	   ▲                                                                                                            │
//	   └────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
package reading

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/background"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

const (
	// pollEvery is the time between two looks for files that wait.
	pollEvery = time.Second
	// lease is how long no other worker takes a file. It is renewed after a quarter of this time.
	lease, renewEvery = time.Minute, 15 * time.Second
	// storeLimit bounds a call of the store.
	storeLimit = 10 * time.Second
	// chunkBatch is how many chunks are stored at once.
	chunkBatch = 500
	// pause is how long a file waits after a fault.
	pause = 10 * time.Second
	// maxReadings bounds how often a file is read that kills its readers.
	maxReadings = 10
)

// unreadable is the error of a file that killed its readers.
const unreadable = "This file could not be read."

// Store is the part of a sqlstore.Store that a Worker works with.
type Store interface {
	files.Store
	Storage(ctx context.Context, account prism.AccountID) (store.Storage, error)
}

// Deps are what a Worker works with; all are required.
type Deps struct {
	Store Store
	Blobs blobs.Blobs
	Now   func() time.Time
	NewID func() (prism.UUID, error)
	// By makes the store.By of a change that the actor makes now.
	By  func(store.Actor) (store.By, error)
	Log *slog.Logger
	// Readers is how many files are read at once; see Readers.
	Readers int
}

// Worker reads files and removes content.
type Worker struct {
	deps     Deps
	read     *prometheus.CounterVec
	removals *prometheus.CounterVec
	waiting  prometheus.Gauge
	late     prometheus.Gauge
	turns    turns
	taking   sync.Mutex // from a look at the queue to the lease of the file that is next
}

// The outcomes of a reading, in the metric.
const (
	readyOutcome    = "ready"
	unusableOutcome = "unusable"
	failedOutcome   = "failed"
	brokenOff       = "broken_off"
	okOutcome       = "ok"
)

// New makes a Worker.
func New(d Deps) *Worker {
	return &Worker{
		deps:  d,
		turns: turns{readers: cmp.Or(d.Readers, minReaders), slices: map[prism.FileID]time.Duration{}},
		read: background.NewCounters(
			"prism_file_readings_total",
			"Readings of files by outcome: ready, unusable, failed, broken_off for another account's file. The last two are repeated.",
			"outcome", readyOutcome, unusableOutcome, failedOutcome, brokenOff,
		),
		removals: background.NewCounters(
			"prism_file_removals_total",
			"Files whose content was removed after they were deleted or had expired, by outcome: ok, failed.",
			"outcome", okOutcome, failedOutcome,
		),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "prism_files_reading",
			Help: "Files that wait to be read or are being read, also by other replicas.",
		}),
		late: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "prism_file_reading_late_seconds",
			Help: "How long ago the oldest of prism_files_reading was completed; 0 without one.",
		}),
	}
}

// Measure registers the metrics.
func (w *Worker) Measure(to prometheus.Registerer) error {
	return background.Register(to, w.read, w.removals, w.waiting, w.late)
}

// Run works until ctx ends.
func (w *Worker) Run(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	repeat := func(every time.Duration, name string, work func(context.Context) (bool, error)) {
		group.Go(func() {
			background.Work{Name: name, Do: background.Every(every, work), AfterFailure: every, Log: w.deps.Log}.Run(ctx)
		})
	}
	repeat(removeEvery, "removing the content of files", w.Remove)
	for range w.turns.readers {
		repeat(pollEvery, "reading a file", w.Work)
	}
}

// Work reads a file that waits, and returns false if there is none whose turn it is.
func (w *Worker) Work(ctx context.Context) (worked bool, err error) {
	l, mine, err := w.take(ctx)
	if errors.Is(err, store.ErrNotFound) { // another replica was faster
		return true, nil
	} else if err != nil || mine == nil {
		return false, err
	}
	defer w.turns.end(mine)
	err = w.readFile(ctx, l, mine)
	if err == nil || errors.Is(err, store.ErrNotFound) { // the lease was lost, or the file deleted
		return true, nil
	}
	bounded := context.WithoutCancel(ctx)
	if errors.Is(err, errTurnOver) {
		w.read.WithLabelValues(brokenOff).Inc()
		return true, w.giveBack(bounded, l, 0)
	}
	w.read.WithLabelValues(failedOutcome).Inc()
	return true, errors.Join(err, w.giveBack(bounded, l, pause))
}

// take leases the file that is next. began is nil if there is none.
func (w *Worker) take(ctx context.Context) (l files.Lease, began *turn, err error) {
	w.taking.Lock()
	defer w.taking.Unlock()
	queue, err := w.look(ctx)
	if err != nil {
		return l, nil, err
	}
	f, ok := w.turns.next(queue)
	if !ok {
		return l, nil, nil
	}
	token, err := w.deps.NewID()
	if err != nil {
		return l, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	now := prism.Now(w.deps.Now)
	if l, err = w.deps.Store.TakeReading(ctx, f, token, now, now.Add(lease)); err != nil {
		return l, nil, err
	}
	return l, w.turns.begin(f), nil
}

// look reads the queue of files that are not read yet, and sets its metrics.
func (w *Worker) look(ctx context.Context) ([]files.ReadingQueue, error) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	now := prism.Now(w.deps.Now)
	queue, err := w.deps.Store.ReadingQueue(ctx, now)
	if err != nil {
		return nil, err
	}
	waiting, late := int64(0), 0.
	for _, q := range queue {
		waiting += q.Files
		late = max(late, now.Sub(q.Since).Seconds())
	}
	w.waiting.Set(float64(waiting))
	w.late.Set(late)
	return queue, nil
}

func (w *Worker) renew(ctx context.Context, l files.Lease, chunks []store.FileChunk) error {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	return w.deps.Store.RenewReading(ctx, l, prism.Now(w.deps.Now).Add(lease), chunks)
}

// giveBack ends the lease after a fault, at the stop of this process, or at the end of a turn. The file waits for a time.
func (w *Worker) giveBack(ctx context.Context, l files.Lease, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	return w.deps.Store.ReturnReading(ctx, l, prism.Now(w.deps.Now).Add(wait))
}

// end stores the outcome of a reading.
func (w *Worker) end(ctx context.Context, l files.Lease, f files.File) error {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	err := w.deps.Store.EndReading(ctx, l, f)
	if err == nil {
		outcome := readyOutcome
		if f.Status == prism.FileUnusable {
			outcome = unusableOutcome
		}
		w.read.WithLabelValues(outcome).Inc()
	}
	return err
}

// readFile reads a leased file to its end. If the file does not become ready, its copy is deleted; before the end of an unusable
// one, so that a crash leaves nothing of it. What a reader leaves that is killed, the next one deletes.
func (w *Worker) readFile(ctx context.Context, l files.Lease, mine *turn) (err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	owner := store.FileOwner{Account: l.Account, ID: l.File.ID}
	copied := blobs.NewWriter(ctx, w.deps.Blobs, owner, l.Token)
	keepsCopy := false
	defer func() {
		if !keepsCopy {
			bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
			defer cancel()
			err = errors.Join(err, copied.Discard(bounded))
		}
	}()
	var renewing sync.WaitGroup
	defer renewing.Wait()
	done := make(chan struct{})
	defer close(done)
	renewing.Go(func() { w.keep(ctx, l, mine, done, stop) })

	f, err := w.pass(ctx, l, owner, copied)
	if lost := context.Cause(ctx); lost != nil {
		return lost // the reason why the pass failed
	}
	if err == nil && f.Status == prism.FileUnusable {
		err = copied.Discard(ctx)
	}
	if err != nil {
		return err
	}
	crash.At(crash.BeforeReady)
	err = w.end(ctx, l, f)
	keepsCopy = !errors.Is(err, store.ErrNotFound) // after any other error the file may be ready, and need its copy
	return err
}

// keep renews the lease until done, and calls stop when that fails or when the reading makes room.
func (w *Worker) keep(ctx context.Context, l files.Lease, mine *turn, done <-chan struct{}, stop context.CancelCauseFunc) {
	renew, look := time.NewTicker(renewEvery), time.NewTicker(lookEvery)
	defer renew.Stop()
	defer look.Stop()
	for {
		select {
		case <-renew.C:
			if err := w.renew(ctx, l, nil); err != nil && ctx.Err() == nil {
				stop(fmt.Errorf("the lease was not renewed: %w", err))
				return
			}
		case <-look.C:
			if w.makesRoom(ctx, mine) {
				stop(errTurnOver)
				return
			}
		case <-done:
			return
		case <-ctx.Done():
			return
		}
	}
}

// pass reads the file, stores its chunks, and returns the outcome, which has what is wrong with the file. An error is a fault.
func (w *Worker) pass(
	ctx context.Context, l files.Lease, owner store.FileOwner, copied *blobs.Writer,
) (f files.File, err error) {
	defer func() {
		if r := recover(); r != nil { // a file must not end the service
			err = fmt.Errorf("the reader of %s panicked: %v", l.File.Format, r)
		}
	}()
	keeps := blobs.InOrder
	if l.File.Format == prism.FileXLSX || l.File.Format == prism.FileParquet {
		keeps = blobs.AnyOrder
	}
	if _, err := w.deps.Blobs.Delete(ctx, owner, blobs.Copies); err != nil { // of an earlier reading, and of readers that were killed
		return f, err
	}
	stored, err := w.deps.Store.Storage(ctx, l.Account)
	if err != nil {
		return f, err
	}
	to := &room{copied, stored.Limit - stored.Bytes, stored.Limit}
	var asked tabular.Layout
	if len(l.File.Layout) > 0 && strictjson.Unmarshal(l.File.Layout, &asked) != nil {
		return f, errors.New("how a file is to be read is not readable")
	}
	if l.File.Readings > maxReadings {
		return files.File{Status: prism.FileUnusable, Error: unreadable}, nil
	}
	parts, err := w.deps.Store.Parts(ctx, l.Account, l.File.ID, 1, math.MaxInt32)
	if err != nil {
		return f, err
	}
	var batch []store.FileChunk
	flush := func() error {
		err := w.renew(ctx, l, batch)
		batch = batch[:0]
		crash.At(crash.InReading)
		return err
	}
	note := func(c store.FileChunk) error {
		if c.Number == 0 { // the reading began anew
			batch, f.Chunks = batch[:0], 0
		}
		f.Chunks++
		if batch = append(batch, c); len(batch) < chunkBatch {
			return nil
		}
		return flush()
	}
	source := blobs.Whole(w.deps.Blobs, owner, l.File.Bytes, parts).Section(ctx, keeps)
	layout, rows, err := tabular.Read(ctx, l.File.Format, asked.Options, source, to, note)
	if wrong, ok := errors.AsType[*tabular.UnusableError](err); ok {
		f = files.File{Status: prism.FileUnusable, Error: wrong.Text}
		layout.Columns, layout.Dropped = nil, nil
		f.Layout, err = strictjson.Marshal(layout)
		return f, err
	}
	if err == nil {
		err = flush()
	}
	if err != nil {
		return f, err
	}
	if f.Copy, err = copied.End(); err != nil {
		return f, err
	}
	f.Status, f.Rows = prism.FileReady, rows
	f.Layout, err = strictjson.Marshal(layout)
	return f, err
}

// room is the copy of a file within what its account may still store (spec: stored-bytes).
type room struct {
	to          io.Writer
	left, limit int64 // bytes
}

// Write implements io.Writer.
func (r *room) Write(p []byte) (int, error) {
	if r.left -= int64(len(p)); r.left < 0 {
		text := "The account may store %d bytes, and the rows are larger than what is left."
		return 0, &tabular.UnusableError{Text: fmt.Sprintf(text, r.limit)}
	}
	return r.to.Write(p)
}
