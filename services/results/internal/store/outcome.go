package store

import (
	"errors"

	"github.com/prism-results/prism/pkg/contract"
)

// IsNotFound tells whether err says that the account does not have what a call names.
func IsNotFound(err error) bool {
	_, unknownPin := errors.AsType[*PinError](err)
	return unknownPin || isAny(err, ErrNotFound, ErrNoDelivery, ErrLinkInvalid)
}

// IsConflict tells whether err says that what is stored does not allow a change.
func IsConflict(err error) bool {
	_, retried := errors.AsType[*RetriedError](err)
	_, mismatch := errors.AsType[*MatchError](err)
	_, wait := errors.AsType[*WaitError](err)
	_, noRoom := errors.AsType[*NoRoomError](err)
	return retried || mismatch || wait || noRoom || isAny(err,
		contract.ErrKeyTaken, contract.ErrLeaseLost, ErrSlugTaken, ErrNameTaken, ErrArchived, ErrStale, ErrTooManyKeys, ErrTooManyAdHoc, ErrTooManyViews, ErrTooManyComments, ErrNotAuthor, ErrNoMember,
		ErrFileState, ErrFileUsed, ErrTooManyUploads, ErrRunOver, ErrNoFailedRows, ErrTooManyRuns, ErrTooManyDeletions, ErrChangesRemoved, ErrNoSuchChange,
		ErrRetrying, ErrLastOwner, ErrTooManyWebhooks, ErrWebhookDisabled, ErrDeliveryWaits)
}

func isAny(err error, known ...error) bool {
	for _, k := range known {
		if errors.Is(err, k) {
			return true
		}
	}
	return false
}
