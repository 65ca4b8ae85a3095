package reading_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// spec: file-expiry, file-delete
func TestFilesExpireAndTheirContentGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upload, ready, deleted := w.uploading(t, csv(1)), w.completed(t, csv(2)), w.completed(t, csv(3))
	for range 2 {
		w.works(t, true)
	}
	removes := func() {
		t.Helper()
		if more, err := w.Remove(t.Context()); more || err != nil {
			t.Fatal(more, err)
		}
	}
	left := func(want int, ids ...prism.FileID) {
		t.Helper()
		folders, err := filepath.Glob(filepath.Join(w.folder, "*", "*"))
		if err != nil || len(folders) != want {
			t.Errorf("there is content of %d files, %v; want %d", len(folders), err, want)
		}
		for _, id := range ids {
			if _, err := os.Stat(filepath.Join(w.folder, w.account.String(), id.String())); err != nil {
				t.Error(err)
			}
		}
	}
	by := storetest.By()
	by.At = w.now
	if err := w.DeleteFile(t.Context(), w.account, deleted, by); err != nil {
		t.Fatal(err)
	}
	removes()
	left(3) // a call may still store a part
	w.now = w.now.Add(time.Minute)
	removes()
	left(2, upload, ready)
	w.now = w.now.Add(24 * time.Hour)
	removes()
	if _, err := w.File(t.Context(), w.account, upload); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an upload of a day ago: %v", err)
	}
	w.now = w.now.Add(time.Minute)
	removes()
	left(1, ready)
	w.now = w.now.Add(29 * 24 * time.Hour)
	removes()
	w.now = w.now.Add(time.Minute)
	removes()
	left(0)
	w.metric(t, "prism_file_removals_total ok", 3)
	entries, _, err := w.ListAudit(t.Context(), w.account, audit.Filter{Kind: store.RetentionActor}, store.Page{Limit: 9})
	if err != nil || len(entries) != 2 || entries[0].Action != store.FileDelete {
		t.Errorf("the entries of retention are %+v, %v", entries, err)
	}
}

// spec: file-delete
func TestContentThatCannotBeRemovedIsTriedAgainAndKeepsNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []prism.FileID{w.uploading(t, csv(1)), w.uploading(t, csv(2))} {
		by := storetest.By()
		by.At = w.now
		if err := w.DeleteFile(t.Context(), w.account, id, by); err != nil {
			t.Fatal(err)
		}
	}
	w.now = w.now.Add(time.Minute)
	stuck := &sticky{Blobs: w.blobs}
	w.worker(t, w.Store, stuck)
	if _, err := w.Remove(t.Context()); err == nil {
		t.Error("no error")
	}
	w.metric(t, "prism_file_removals_total ok", 1)
	w.metric(t, "prism_file_removals_total failed", 1)
	for calls, ok := range []float64{2: 1, 3: 1, 4: 2} { // the third deletion may have overlooked something
		if calls < 2 {
			continue
		}
		if _, err := w.Remove(t.Context()); err != nil || stuck.calls != calls {
			t.Errorf("%d calls, want %d: %v", stuck.calls, calls, err)
		}
		w.metric(t, "prism_file_removals_total ok", ok)
		w.now = w.now.Add(time.Minute)
	}
}

// sticky refuses the first deletion, and the third one is to be repeated.
type sticky struct {
	blobs.Blobs
	calls int
}

func (s *sticky) Delete(ctx context.Context, f store.FileOwner, prefix string, known ...string) (again bool, err error) {
	if s.calls++; s.calls == 1 {
		return false, errors.New("away")
	}
	if s.calls == 3 {
		return true, nil
	}
	return s.Blobs.Delete(ctx, f, prefix, known...)
}
