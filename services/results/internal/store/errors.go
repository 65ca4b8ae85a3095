package store

import (
	"errors"
	"strconv"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Errors of members.
var (
	// ErrLastOwner: no other owner of the account has ever signed in.
	ErrLastOwner = errors.New("store: last owner")
	// ErrLinkInvalid: the sign-in link is unknown, used or expired.
	ErrLinkInvalid = errors.New("store: sign-in link invalid")
)

// WaitError is a change that is made too often.
type WaitError struct{ Wait time.Duration } // after which a repeat succeeds

func (e *WaitError) Error() string { return "store: too often" }

// PinError reports that the version has no calibration with the id that was to be pinned to the target.
type PinError struct{ Target string }

func (e *PinError) Error() string { return "store: no such calibration of the target" }

// ErrRetrying reports that results of the prism are being retried.
var ErrRetrying = errors.New("store: results are being retried")

// MatchError reports that the number of results that match is not the one that the caller expected.
type MatchError struct{ Matches int64 }

func (e *MatchError) Error() string {
	return "store: " + strconv.FormatInt(e.Matches, 10) + " results match"
}

// Errors of runs that callers of a store distinguish.
var (
	// ErrRunOver: the run is finished or cancelled.
	ErrRunOver = errors.New("store: run over")
	// ErrNoFailedRows: no row of the run failed.
	ErrNoFailedRows = errors.New("store: no failed rows")
	// ErrTooManyRuns: the account has MaxRuns runs that are not over.
	ErrTooManyRuns = errors.New("store: too many runs")
)

// MoveError is a refusal of a change because its account moves to another database (spec: account-moves). It is an ErrUnavailable.
type MoveError struct {
	Account prism.AccountID
	// Moved: the account is in another database. Otherwise that is just being decided, and a repeat is refused no more, or differently.
	Moved bool
}

func (e *MoveError) Error() string {
	if e.Moved {
		return "store: account " + e.Account.String() + " has moved"
	}
	return "store: account " + e.Account.String() + " is being moved"
}

func (e *MoveError) Unwrap() error { return ErrUnavailable }

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
	_, declared := errors.AsType[contract.DeclareError](err)
	return retried || mismatch || wait || noRoom || declared || isAny(err,
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
