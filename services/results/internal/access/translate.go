package access

import (
	"errors"
	"fmt"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Translate turns a store's error into an error of contract.Results. notFound is what store.ErrNotFound means there; nil if it is a
// fault.
func Translate(err error, notFound *apierr.Error) error {
	noRoom, _ := errors.AsType[*store.NoRoomError](err)
	tooOften, _ := errors.AsType[*store.WaitError](err)
	switch {
	case tooOften != nil:
		return apierr.UnavailableFor(tooOften.Wait)
	case notFound != nil && errors.Is(err, store.ErrNotFound):
		return notFound
	case errors.Is(err, store.ErrUnavailable):
		return fmt.Errorf("%w: %w", contract.ErrUnavailable, err)
	case errors.Is(err, store.ErrSlugTaken):
		return apierr.SlugTaken()
	case errors.Is(err, store.ErrTooManyKeys):
		return apierr.TooManyKeys()
	case errors.Is(err, store.ErrTooManyAdHoc):
		return apierr.TooManyAdHoc()
	case errors.Is(err, store.ErrTooManyViews):
		return apierr.TooManyViews()
	case errors.Is(err, store.ErrTooManyWebhooks):
		return apierr.TooManyWebhooks()
	case errors.Is(err, store.ErrWebhookDisabled):
		return apierr.WebhookDisabled()
	case errors.Is(err, store.ErrNoDelivery):
		return apierr.DeliveryNotFound()
	case errors.Is(err, store.ErrDeliveryWaits):
		return apierr.StillWaiting()
	case errors.Is(err, store.ErrTooManyComments):
		return apierr.TooManyComments()
	case errors.Is(err, store.ErrNotAuthor):
		return apierr.RoleNotAllowed()
	case errors.Is(err, store.ErrNoMember):
		return apierr.MemberNotFound()
	case errors.Is(err, store.ErrTooManyRuns):
		return apierr.TooManyRuns()
	case errors.Is(err, store.ErrTooManyDeletions):
		return apierr.TooManyDeletions()
	case errors.Is(err, store.ErrChangesRemoved), errors.Is(err, store.ErrNoSuchChange):
		return apierr.ChangesGone()
	case errors.Is(err, store.ErrArchived):
		return apierr.ArchivedUnchangeable()
	case noRoom != nil:
		return apierr.NoRoom(noRoom.Limit)
	case errors.Is(err, store.ErrTooManyUploads):
		return apierr.TooManyUploads(store.MaxUploads)
	case errors.Is(err, store.ErrContentMissing):
		return apierr.ContentMissing()
	case errors.Is(err, store.ErrFileUsed):
		return apierr.FileUsed()
	case errors.Is(err, store.ErrFileState):
		return apierr.FileNotReady()
	case errors.Is(err, store.ErrRunOver):
		return apierr.RunOver()
	case errors.Is(err, store.ErrNoFailedRows):
		return apierr.NoFailedRows()
	case errors.Is(err, store.ErrLastOwner):
		return apierr.LastOwner()
	case errors.Is(err, store.ErrLinkInvalid):
		return apierr.LinkInvalid()
	}
	return err
}
