package service_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/store"
)

// unreliable is contents whose reads have a fault.
type unreliable struct {
	blobs.Blobs
	missing, cut, changed bool
}

func (u *unreliable) Get(ctx context.Context, f store.FileOwner, name string, offset, bytes int64) ([]byte, error) {
	content, err := u.Blobs.Get(ctx, f, name, offset, bytes)
	switch {
	case u.missing:
		return nil, store.ErrContentMissing
	case u.cut:
		content = content[:len(content)/2]
	case u.changed:
		content[len(content)/2] ^= 1
	}
	return content, err
}

func (w *world) unreliable() *unreliable {
	u := &unreliable{Blobs: w.blobs.Blobs}
	w.blobs.Blobs = u
	return u
}

// What was cut off or changed on its way is not hashed, or else the file would be refused for ever.
//
// spec: file-complete, file-faults
func TestAFaultWhileAFileIsHashedDoesNotMakeItDiffer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault unreliable
		want  error
	}{
		"cut off": {unreliable{cut: true}, contract.ErrUnavailable},
		"changed": {unreliable{changed: true}, contract.ErrUnavailable},
		"missing": {unreliable{missing: true}, apierr.ContentMissing()},
	} {
		w := newWorld(t)
		content := table(2*contract.PartBytes + 99)
		digest := sha256.Sum256(content)
		f := w.upload(t, int64(len(content)), &digest)
		u := w.unreliable()
		inner := u.Blobs
		*u = c.fault
		u.Blobs = inner
		for _, number := range []int32{3, 2, 1} { // so the contents of 2 and 3 are read
			w.put(t, part(f.ID, content, number))
		}
		for range 2 {
			if _, err := w.CompleteFile(t.Context(), w.key, f.ID); !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", name, err, c.want)
			}
		}
		*u = unreliable{Blobs: inner}
		w.put(t, part(f.ID, content, 2)) // which stores a content that is missing
		response, err := w.CompleteFile(t.Context(), w.key, f.ID)
		for errors.Is(err, contract.ErrUnavailable) { // a slow machine has not hashed all in the time of a call
			response, err = w.CompleteFile(t.Context(), w.key, f.ID)
		}
		if f := w.fileOf(t)(response, err); f.Status != "reading" {
			t.Errorf("%s: the file is %s", name, f.Status)
		}
		w.read(t)
		if f := w.fileOf(t)(w.File(t.Context(), w.key, f.ID)); f.Status != "ready" {
			t.Errorf("%s: the file is %s", name, f.Status)
		}
	}
}

// spec: file-faults, run-pauses-itself
func TestARunWhoseContentIsMissingPausesAndOthersGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, _ := w.run(t)
	read := func() (body struct {
		File   prism.FileID `json:"file_id"`
		Status string       `json:"status"`
		Reason string       `json:"reason"`
	},
	) {
		t.Helper()
		r, err := w.FileRun(t.Context(), w.key, id)
		if err != nil {
			t.Fatal(err)
		}
		decode(t, r, &body)
		return body
	}
	u := w.unreliable()
	u.missing = true
	if _, err := w.FileRows(t.Context(), w.key, read().File, 0, 1); !errors.Is(err, apierr.ContentMissing()) {
		t.Errorf("a preview: %v", err)
	}
	if chunk, err := w.LeaseChunk(t.Context(), prism.UUID{1}); chunk != nil || err != nil {
		t.Errorf("leased %v, %v", chunk, err)
	}
	if body := read(); body.Status != "paused" || body.Reason != "The content of this run's file is missing." {
		t.Errorf("the run is %+v", body)
	}
	u.missing = false
	if _, err := w.ActOnRun(t.Context(), w.key, id, api.ResumeRun); err != nil {
		t.Fatal(err)
	}
	w.leased(t)
}

// spec: file-faults
func TestARunWhoseContentIsNotReadNowGoesOnLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(t)
	u := w.unreliable()
	u.cut = true
	if _, err := w.LeaseChunk(t.Context(), prism.UUID{1}); !errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	u.cut = false
	w.leased(t)
}
