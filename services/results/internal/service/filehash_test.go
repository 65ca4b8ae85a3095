package service_test

import (
	"crypto/sha256"
	"errors"
	"sync"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/files"
)

// spec: file-complete
func TestPartsThatWereSentTogetherAreHashedByTheLastCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := table(8 * contract.PartBytes)
	digest := sha256.Sum256(content)
	f := w.upload(t, int64(len(content)), &digest)
	var group sync.WaitGroup
	for n := range f.Parts {
		group.Go(func() { w.put(t, part(f.ID, content, n+1)) })
	}
	group.Wait()
	// Nothing is left for the completion: what a call of a part has not hashed because of its time is little.
	if w.hashed(t, f.ID) == 0 {
		t.Error("no part is hashed")
	}
	if _, err := w.CompleteFile(t.Context(), w.key, f.ID); err != nil && !errors.Is(err, contract.ErrUnavailable) {
		t.Error(err)
	}
}

// hashed is how many parts of a file are hashed.
func (w *world) hashed(t *testing.T, id prism.FileID) int32 {
	t.Helper()
	stored, err := w.store.File(t.Context(), w.account, id)
	if err != nil {
		t.Fatal(err)
	}
	return stored.Hashed.Parts
}

// A call of a part may end without looking for the part behind its own, which then was no call's next one.
// spec: file-complete
func TestHashingThatWasLeftBehindGoesOnBeforeTheCompletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := table(24 * contract.PartBytes)
	digest := sha256.Sum256(content)
	f := w.upload(t, int64(len(content)), &digest)
	for n := range f.Parts {
		if n == 7 { // as if the calls until here had hashed nothing
			if err := w.store.SetHashed(t.Context(), w.account, f.ID, w.hashed(t, f.ID), files.Hashed{}); err != nil {
				t.Fatal(err)
			}
		}
		w.put(t, part(f.ID, content, n+1))
	}
	if w.hashed(t, f.ID) == 0 {
		t.Error("all of it is left for the completion")
	}
}
