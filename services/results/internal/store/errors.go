package store

import (
	"errors"
	"time"
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
