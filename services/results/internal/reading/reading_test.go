package reading_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/reading"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a worker over a store, at a time that the test sets.
type world struct {
	*reading.Worker
	*sqlite.Store
	metrics *prometheus.Registry
	folder  string
	blobs   blobs.Blobs
	account prism.AccountID
	now     time.Time
	ids     byte
	format  prism.FileFormat // of the next files
	readers int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		Store: sqlitetest.New(t), folder: t.TempDir(), account: prism.AccountID{UUID: prism.UUID{1}},
		now: time.UnixMilli(1_800_000_000_000).UTC(), format: prism.FileCSV, readers: 3,
	}
	w.blobs = blobs.InFolder(w.folder)
	if err := w.CreateAccount(t.Context(), w.account, "a", storetest.By()); err != nil {
		t.Fatal(err)
	}
	w.worker(t, w.Store, w.blobs)
	return w
}

// worker replaces the worker.
func (w *world) worker(t *testing.T, s reading.Store, b blobs.Blobs) {
	t.Helper()
	w.metrics = prometheus.NewRegistry()
	w.Worker = reading.New(reading.Deps{
		Store: s, Blobs: b, Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler), Readers: w.readers,
		NewID: func() (prism.UUID, error) { return w.id(), nil },
		By: func(a store.Actor) (store.By, error) {
			by := storetest.By()
			by.At, by.Actor = w.now, a
			return by, nil
		},
	})
	if err := w.Measure(w.metrics); err != nil {
		t.Fatal(err)
	}
}

func (w *world) id() prism.UUID {
	w.ids++
	id := prism.FirstUUID(w.now)
	id[15] = w.ids
	return id
}

// completed is a file with a content that waits to be read.
func (w *world) completed(t *testing.T, content string) prism.FileID {
	t.Helper()
	id := w.uploading(t, content)
	if err := w.SetReading(t.Context(), w.account, id, w.now); err != nil {
		t.Fatal(err)
	}
	return id
}

// uploading is a file with all its parts.
func (w *world) uploading(t *testing.T, content string) prism.FileID {
	t.Helper()
	f := files.File{
		ID: prism.FileID{UUID: w.id()}, Name: "n", Format: w.format, Bytes: int64(len(content)),
		CreatedAt: w.now, ExpiresAt: w.now.Add(files.UploadTime),
	}
	if err := w.CreateFile(t.Context(), w.account, f); err != nil {
		t.Fatal(err)
	}
	for n := range f.Parts() {
		data := content[int(n)*contract.PartBytes:][:f.PartBytes(n+1)]
		p := store.Part{Number: n + 1, Bytes: int32(len(data)), SHA256: sha256.Sum256([]byte(data))}
		if err := w.blobs.Put(t.Context(), w.owner(f.ID), blobs.Part(p.Number, p.SHA256), []byte(data)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.PutPart(t.Context(), w.account, f.ID, p); err != nil {
			t.Fatal(err)
		}
	}
	return f.ID
}

func (w *world) owner(id prism.FileID) store.FileOwner {
	return store.FileOwner{Account: w.account, ID: id}
}

func (w *world) file(t *testing.T, id prism.FileID) files.File {
	t.Helper()
	f, err := w.File(t.Context(), w.account, id)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// works fails the test unless the worker reads a file, or finds none.
func (w *world) works(t *testing.T, want bool) {
	t.Helper()
	if worked, err := w.Work(t.Context()); err != nil || worked != want {
		t.Fatalf("worked: %t, %v", worked, err)
	}
}

func (w *world) metric(t *testing.T, name string, want float64) {
	t.Helper()
	if got := metrictest.Value(t, w.metrics, name); got != want {
		t.Errorf("%s is %v, want %v", name, got, want)
	}
}

// csv is a file with so many rows.
func csv(rows int) string {
	var b strings.Builder
	b.WriteString("id,text\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,hello\n", i+1)
	}
	return b.String()
}

// spec: file-reading
func TestAFileIsReadInChunksThatHoldAllItsRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const rows = 150_001 // more than one batch of chunks, and more than one part
	id := w.completed(t, csv(rows))
	w.now = w.now.Add(30 * time.Second)
	w.works(t, true)
	f := w.file(t, id)
	if f.Status != prism.FileReady || f.Rows != rows || f.Chunks != 751 {
		t.Fatalf("the file is %+v", f)
	}
	next := int64(1)
	for n := range f.Chunks {
		c, err := w.FileChunk(t.Context(), w.account, id, n)
		if err != nil || c.FirstRow != next {
			t.Fatalf("chunk %d begins at %d, want %d: %v", n, c.FirstRow, next, err)
		}
		next += int64(c.Rows)
	}
	if next != rows+1 {
		t.Errorf("the chunks have %d rows", next-1)
	}
	w.works(t, false)
	w.metric(t, "prism_file_readings_total ready", 1)
	w.metric(t, "prism_files_reading", 0)
	w.metric(t, "prism_file_reading_late_seconds", 0)
}

// failing is a store or blobs whose calls fail once they are told.
type failing struct {
	reading.Store
	blobs.Blobs
	renew, get error
	renews     int
	panics     bool
	cut        bool
}

func (f *failing) RenewReading(ctx context.Context, l files.Lease, until time.Time, chunks []store.FileChunk) error {
	f.renews++
	if f.renew != nil {
		return f.renew
	}
	return f.Store.RenewReading(ctx, l, until, chunks)
}

func (f *failing) Get(ctx context.Context, o store.FileOwner, name string, offset, n int64) ([]byte, error) {
	if f.panics {
		panic("a mistake in the code")
	}
	if f.get != nil {
		return nil, f.get
	}
	content, err := f.Blobs.Get(ctx, o, name, offset, n)
	if f.cut {
		content = content[:len(content)/2]
	}
	return content, err
}

// spec: file-reading, file-faults
func TestAFileIsReadAnewAfterAFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.completed(t, csv(3))
	away := errors.New("away")
	closed, cut := fmt.Errorf("%w: %w", store.ErrUnavailable, io.EOF), fmt.Errorf("%w: %w", store.ErrUnavailable, io.ErrUnexpectedEOF)
	for name, f := range map[string]*failing{
		"no content": {get: away}, "no store": {renew: away}, "a panic": {panics: true}, "a content that is missing": {get: store.ErrContentMissing},
		"a content that was cut off": {cut: true}, "a connection that is closed": {get: closed}, "a connection that is closed in an answer": {get: cut},
		"a connection to the store that is closed": {renew: closed},
	} {
		f.Store, f.Blobs = w.Store, w.blobs
		w.worker(t, f, f)
		if worked, err := w.Work(t.Context()); !worked || err == nil {
			t.Errorf("%s: %t, %v", name, worked, err)
		}
		w.metric(t, "prism_file_readings_total failed", 1)
		w.worker(t, w.Store, w.blobs)
		w.works(t, false) // not at once
		w.now = w.now.Add(10 * time.Second)
	}
	w.metric(t, "prism_files_reading", 1)
	w.metric(t, "prism_file_reading_late_seconds", 70)
	if f := w.file(t, id); f.Status != prism.FileReading || f.Readings != 0 {
		t.Errorf("the file is %+v", f)
	}
	w.works(t, true)
	if f := w.file(t, id); f.Status != prism.FileReady {
		t.Errorf("the file is %+v", f)
	}
}

// spec: file-reading
func TestAReaderThatDiesIsFollowedByAnotherAndAFileThatKillsReadersIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, deadly := w.completed(t, csv(3)), w.completed(t, csv(4))
	dies := func(id prism.FileID) files.Lease {
		t.Helper()
		l, err := w.TakeReading(t.Context(), w.owner(id), w.id(), w.now, w.now.Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	first := dies(id)
	dies(deadly)
	w.works(t, false)
	w.now = w.now.Add(time.Minute)
	w.works(t, true)
	w.works(t, true)
	if a, b := w.file(t, id), w.file(t, deadly); a.Status != prism.FileReady || b.Status != prism.FileReady {
		t.Errorf("the files are %s and %s", a.Status, b.Status)
	}
	if err := w.EndReading(t.Context(), first, files.File{Status: prism.FileUnusable}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the dead reader stores its end: %v", err)
	}
	id = w.completed(t, csv(3))
	for range 10 {
		dies(id)
		w.now = w.now.Add(time.Minute)
	}
	w.works(t, true)
	if f := w.file(t, id); f.Status != prism.FileUnusable || f.Error != "This file could not be read." {
		t.Errorf("the file is %+v", f)
	}
	w.metric(t, "prism_file_readings_total unusable", 1)
}

// spec: file-reading, file-delete
func TestAReaderWhoseFileIsDeletedStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.completed(t, csv(3))
	f := &failing{Store: w.Store, Blobs: deleting{w.blobs, func() {
		if err := w.DeleteFile(t.Context(), w.account, id, storetest.By()); err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	}}}
	w.worker(t, f, f)
	w.works(t, true)
	w.works(t, false)
	w.metric(t, "prism_file_readings_total ready", 0)
	w.metric(t, "prism_file_readings_total failed", 0)
}

// deleting does something before each read.
type deleting struct {
	blobs.Blobs
	before func()
}

func (d deleting) Get(ctx context.Context, o store.FileOwner, name string, offset, n int64) ([]byte, error) {
	d.before()
	return d.Blobs.Get(ctx, o, name, offset, n)
}

// spec: file-reading
func TestALeaseIsRenewedWhileAFileIsReadSlowly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.completed(t, csv(3))
	synctest.Test(t, func(t *testing.T) {
		f := &failing{Store: w.Store}
		f.Blobs = deleting{w.blobs, func() { <-time.After(40 * time.Second) }}
		w.worker(t, f, f)
		w.works(t, true)
		if f.renews < 3 { // after 15 and 30 s, and with the chunks
			t.Errorf("%d renewals", f.renews)
		}
	})
	w.metric(t, "prism_file_readings_total ready", 1)
}
