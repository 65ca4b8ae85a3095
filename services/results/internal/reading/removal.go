package reading

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// removeEvery is the time between two looks for files that have expired or were deleted.
	removeEvery = time.Minute
	// removeAfter is the time between the deletion of a file and the removal of its content. Until then every call that was
	// storing a part has ended, so no content arrives after the removal.
	removeAfter = time.Minute
	// removeBatch bounds how many files one look finds.
	removeBatch = 100
	// removeLimit bounds the removal of the content of one file.
	removeLimit = 5 * time.Minute
	// removeFailures ends a look, as other removals would probably fail too.
	removeFailures = 5
)

// Remove deletes files that have expired, and removes the content of files that were deleted. It returns true if there may be
// more (spec: file-expiry, file-delete).
func (w *Worker) Remove(ctx context.Context) (more bool, err error) {
	expired, err := w.deps.Store.ExpiredFiles(ctx, prism.Now(w.deps.Now), removeBatch)
	if err != nil {
		return false, err
	}
	for _, f := range expired {
		by, err := w.deps.By(store.Actor{Kind: store.RetentionActor, Name: string(store.RetentionActor)})
		if err != nil {
			return false, err
		}
		err = w.deps.Store.DeleteFile(ctx, f.Account, f.ID, by)
		// Another replica was first, or a run begins to use the file.
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrFileUsed) {
			return false, err
		}
	}
	deleted, err := w.deps.Store.DeletedFiles(ctx, prism.Now(w.deps.Now).Add(-removeAfter), removeBatch)
	if err != nil {
		return false, err
	}
	var failed []error
	for _, f := range deleted {
		forgotten, err := w.remove(ctx, f)
		switch {
		case err != nil: // the other files must be removed nevertheless
			w.removals.WithLabelValues(failedOutcome).Inc()
			failed = append(failed, err)
		case forgotten:
			w.removals.WithLabelValues(okOutcome).Inc()
		}
		if len(failed) == removeFailures {
			break
		}
	}
	return len(expired) == removeBatch || len(deleted) == removeBatch, errors.Join(failed...)
}

// remove removes the content of a file, and forgets the file when a look at the end finds nothing more. Otherwise the next look at
// the file is a minute later, and other files come first.
func (w *Worker) remove(ctx context.Context, f files.DeletedFile) (forgotten bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	parts, err := w.deps.Store.DeletedParts(ctx, f.FileOwner)
	if err != nil {
		return false, err
	}
	again, err := w.deps.Blobs.Delete(ctx, f.FileOwner, "", blobs.Known(parts, f.Copy)...)
	if err != nil || again {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
		defer cancel()
		return false, errors.Join(err, w.deps.Store.PutOffRemoval(bounded, f.FileOwner, prism.Now(w.deps.Now)))
	}
	crash.At(crash.InRemoval)
	return true, w.deps.Store.ForgetFile(ctx, f.FileOwner)
}
