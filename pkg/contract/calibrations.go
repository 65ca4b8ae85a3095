package contract

import (
	"context"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// CalibrationWait is how long a caller waits for CreateCalibration, which reads thousands of answers and fits to them.
const CalibrationWait = 10 * time.Second

// CalibrationMethod is how a calibration is fitted.
type CalibrationMethod string

// The methods.
const (
	AutoCalibration        CalibrationMethod = "auto" // the best, if it is better than none
	TemperatureCalibration CalibrationMethod = "temperature"
	PlattCalibration       CalibrationMethod = "platt"
	IsotonicCalibration    CalibrationMethod = "isotonic"
)

// CalibrationMethods are all methods, in the order in which error messages list them.
func CalibrationMethods() []CalibrationMethod {
	return []CalibrationMethod{AutoCalibration, TemperatureCalibration, PlattCalibration, IsotonicCalibration}
}

// For tells whether a method fits questions of a type.
func (m CalibrationMethod) For(t prism.QuestionType) bool {
	return m == AutoCalibration || (m == TemperatureCalibration) == slices.Contains([]prism.QuestionType{prism.Choice, prism.Scale}, t)
}

// Calibrations maps the probabilities of a version's questions, as labels teach. Its methods take the digest of a key, as those of
// Results do, and name a version of a prism: apierr.PrismNotFound, apierr.VersionNotFound.
type Calibrations interface {
	// CreateCalibration fits a calibration to the labels of a question, and stores it: apierr.ArchivedUnchangeable, apierr.Invalid
	// for a question that the version does not have, and a method that is not for its type, apierr.TooFewLabels,
	// apierr.TooFewOfClass, apierr.NotFitted, apierr.NoGain. Callers give it CalibrationWait.
	CreateCalibration(ctx context.Context, key KeyDigest, of VersionRef, n NewCalibration) (Response, error)
	// ListCalibrations is a page of the version's calibrations, newest first: {data, next_cursor}.
	ListCalibrations(ctx context.Context, key KeyDigest, of VersionRef, q CalibrationList) (Response, error)
	// Calibration is one calibration: apierr.CalibrationNotFound.
	Calibration(ctx context.Context, key KeyDigest, of VersionRef, id prism.CalibrationID) (Response, error)
	// PinCalibrations pins calibrations to questions of the version, or unpins them, and returns what is pinned then:
	// apierr.ArchivedUnchangeable, apierr.Invalid with paths such as questions.urgent. Reads that begin after it returned show it.
	PinCalibrations(ctx context.Context, key KeyDigest, of VersionRef, pins []CalibrationPin) (Response, error)
	// PinnedCalibrations is what is pinned to the questions of the version.
	PinnedCalibrations(ctx context.Context, key KeyDigest, of VersionRef) (Response, error)
}

// VersionRef names a version of a prism.
type VersionRef struct {
	Prism  prism.Ref
	Number int32
}

// NewCalibration is a calibration to fit.
type NewCalibration struct {
	Question string
	Method   CalibrationMethod
}

// CalibrationList pages the calibrations of a version; of one question unless that is "".
type CalibrationList struct {
	Question string `json:",omitzero"`
	Page     Page
}

// CalibrationPin is the calibration that a question is to have; the zero id is none.
type CalibrationPin struct {
	Question    string
	Calibration prism.CalibrationID `json:",omitzero"`
}
