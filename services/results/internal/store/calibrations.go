package store

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// PinError reports that a question cannot have the calibration that was to be pinned: the version has none of this id for it.
type PinError struct{ Question string }

func (e *PinError) Error() string { return "store: no such calibration of the question" }

// Calibrations keeps calibrations of the questions of versions, which never change, and which of them are pinned.
type Calibrations interface {
	// AddCalibration stores a calibration: ErrNotFound if there is no such prism, ErrArchived.
	AddCalibration(ctx context.Context, account prism.AccountID, c Calibration, by By) error
	// ListCalibrations is a page of the calibrations of a version, newest first, or of one question of it unless that is "".
	ListCalibrations(
		ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, question string, page Page,
	) ([]Calibration, error)
	// Calibration finds one calibration of a version: ErrNotFound.
	Calibration(
		ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, calibration prism.CalibrationID,
	) (Calibration, error)
	// PinCalibrations changes which calibrations questions of a version have: a zero id unpins, and questions without a pin in
	// changes keep theirs. It stores the pins of all versions anew, with the id pins, unless nothing changes: ErrNotFound,
	// ErrArchived, *PinError for the first question whose calibration does not exist.
	PinCalibrations(
		ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, changes []Pin, pins prism.PinsID, by By,
	) error
	// Pinned returns what is pinned to a version by pins, by question. What an id of pins stands for never changes.
	Pinned(
		ctx context.Context, account prism.AccountID, id prism.PrismID, pins prism.PinsID, version int32,
	) ([]Calibration, error)
}

// Calibration is a stored calibration of a question of a version. Fit and Measures are JSON of the service.
type Calibration struct {
	ID        prism.CalibrationID
	Prism     prism.PrismID
	Version   int32
	Question  string
	Fit       []byte // what maps probabilities
	Measures  []byte // what it was fitted to, and what it gains
	CreatedAt time.Time
}

// Pin is a calibration to pin to a question, or nothing if the id is zero.
type Pin struct {
	Question    string
	Calibration prism.CalibrationID
}
