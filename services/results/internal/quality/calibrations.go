package quality

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Store keeps the calibrations of the targets of versions, by their names (prism.TargetName), and which of them are pinned. A calibration never changes.
type Store interface {
	// AddCalibration stores a calibration: ErrNotFound if there is no such prism, ErrArchived.
	AddCalibration(ctx context.Context, account prism.AccountID, c Calibration, by store.By) error
	// ListCalibrations is a page of the calibrations of a version, newest first, or of some of its targets unless there are none.
	ListCalibrations(
		ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, targets []string, page store.Page,
	) (found []Calibration, more bool, err error)
	// Calibration finds one calibration of a version: ErrNotFound.
	Calibration(
		ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, calibration prism.CalibrationID,
	) (Calibration, error)
	// PinCalibrations changes which calibrations are pinned to targets of a version: a zero id unpins, and targets without a
	// change keep theirs. Unless nothing changes, it stores the pins of all versions again under the id pins: ErrNotFound,
	// ErrArchived, *PinError for the first target whose calibration does not exist.
	PinCalibrations(
		ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, changes []Pin, pins prism.PinsID, by store.By,
	) error
	// Pinned returns the calibrations that are pinned to a version under the id pins, by target. The pins under an id never
	// change.
	Pinned(
		ctx context.Context, account prism.AccountID, id prism.PrismID, pins prism.PinsID, version int32,
	) ([]Calibration, error)
}

// Calibration is a stored calibration of a target of a version. Fit and Measures are JSON of the service.
type Calibration struct {
	ID        prism.CalibrationID
	Prism     prism.PrismID
	Version   int32
	Target    string
	Fit       []byte // what maps probabilities
	Measures  []byte // what it was fitted to, and what it gains
	CreatedAt time.Time
}

// Pin is a calibration to pin to a target, or nothing if the id is zero.
type Pin struct {
	Target      string
	Calibration prism.CalibrationID
}
