package api

import (
	"net/http"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/prism"
)

// CreateCalibration fits a calibration to the labels of a question, and stores it (spec: calibration-create).
var CreateCalibration = Op[CreateCalibrationRequest, Calibration]{Declaration{
	Name: "createCalibration", Method: http.MethodPost, Path: ofVersion + "/calibrations", Tag: "Calibrations", Role: prism.Editor,
	Class: Measuring, Status: http.StatusCreated, Wait: MeasureWait, Errors: []*apierr.Error{
		apierr.PrismNotFound(), apierr.VersionNotFound(), apierr.ArchivedUnchangeable(), apierr.TooFewLabels(64, 100),
		apierr.TooFewOfClass(12, 20), apierr.NotFitted(), apierr.NoGain(),
	},
}}

// ofVersion is the path of a version.
const ofVersion = "/v1/prisms/{prism}/versions/{version}"

// MeasureWait is how long a caller waits for an operation that reads thousands of answers, and computes.
const MeasureWait = 10 * time.Second

// CreateCalibrationRequest is the request of CreateCalibration.
type CreateCalibrationRequest struct {
	VersionRequest
	NewCalibration
}

// NewCalibration is a calibration to fit.
type NewCalibration struct {
	// A question of the version.
	Question string `json:"question" schema:"Key"`
	// The option that is calibrated, of a tags question, as a yes_no is.
	Option string `json:"option,omitzero" schema:"Key"`
	// `temperature`: of a choice or scale, pₖ^(1/T) renormalised, from 100 labels. `platt`: of a yes_no, σ(a·logit p + b), from 200
	// labels of which 20 are yes and 20 are no. `isotonic`: of a yes_no, a rising function, from 1,000 labels. `auto`: the best of
	// those that there are enough labels for, if it is better than none.
	Method CalibrationMethod `json:"method" enum:"auto,temperature,platt,isotonic"`
}

// CalibrationMethod is how a calibration maps probabilities.
type CalibrationMethod string

// The methods. AutoCalibration is for NewCalibration alone.
const (
	AutoCalibration        CalibrationMethod = "auto"        // the best one, if it is better than none
	TemperatureCalibration CalibrationMethod = "temperature" // of a choice or scale
	PlattCalibration       CalibrationMethod = "platt"       // of a yes_no
	IsotonicCalibration    CalibrationMethod = "isotonic"    // of a yes_no
)

// Calibration is what maps the probabilities of a question of a version. It never changes.
type Calibration struct {
	// Pins the calibration.
	ID string `json:"id" form:"uuid"`
	// The version whose answers it was fitted to.
	Version int `json:"version" min:"1"`
	// The question.
	Question string `json:"question" schema:"Key"`
	// The option of it; absent if it was calibrated as a whole.
	Option string `json:"option,omitzero" schema:"Key"`
	// How it maps probabilities.
	Method CalibrationMethod `json:"method" enum:"temperature,platt,isotonic"`
	// T of pₖ^(1/T): above 1 answers become less certain, below 1 more. Of `temperature` alone.
	Temperature *float64 `json:"temperature"`
	// a of σ(a·logit p + b). Of `platt` alone.
	A *float64 `json:"a"`
	// b of σ(a·logit p + b). Of `platt` alone.
	B *float64 `json:"b"`
	// The corners of a rising function, each as [stored, calibrated]. Between two corners it is linear, and constant outside. Of
	// `isotonic` alone.
	Points *[][2]float64 `json:"points" min:"0" max:"1"`
	// How many labels it was fitted to.
	Labels int `json:"labels" min:"1"`
	// The mean log loss of the stored probabilities on these labels.
	LogLossBefore float64 `json:"log_loss_before" min:"0"`
	// The mean log loss of calibrated probabilities, each calibrated by a fit to labels of other inputs (5-fold
	// cross-validation).
	LogLossAfter float64 `json:"log_loss_after" min:"0"`
	// How much smaller the log loss becomes, with its 95% interval.
	Gain Figure `json:"gain"`
	// When it was fitted.
	CreatedAt Time `json:"created_at"`
}

// Figure is an estimate with its 95% interval.
type Figure = calibration.Figure

// ListCalibrations reads a page of the calibrations of a version, newest first (spec: calibration-list).
var ListCalibrations = Op[ListCalibrationsRequest, Page[Calibration]]{Declaration{
	Name: "listCalibrations", Method: http.MethodGet, Path: ofVersion + "/calibrations", Tag: "Calibrations", Role: prism.Reader,
	Class: Listing, Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.VersionNotFound()},
}}

// ListCalibrationsRequest is the request of ListCalibrations.
type ListCalibrationsRequest struct {
	VersionRequest
	// Only calibrations of the question with this key, or of its options.
	Question string `query:"question" max:"200"`
	// Only calibrations of this option of the question.
	Option string `query:"option" max:"200"`
	PageRequest
	Cursor string `query:"cursor" list:"calibrations"`
}

// ReadCalibration reads a calibration of a version (spec: calibration-read).
var ReadCalibration = Op[ReadCalibrationRequest, Calibration]{Declaration{
	Name: "readCalibration", Method: http.MethodGet, Path: ofVersion + "/calibrations/{calibration_id}", Tag: "Calibrations",
	Role: prism.Reader, Class: Keyed,
	Errors: []*apierr.Error{apierr.CalibrationNotFound(), apierr.PrismNotFound(), apierr.VersionNotFound()},
}}

// ReadCalibrationRequest is the request of ReadCalibration.
type ReadCalibrationRequest struct {
	VersionRequest
	Calibration prism.CalibrationID `path:"calibration_id"`
}

// PinCalibrations pins calibrations to questions of a version, or unpins them (spec: calibration-pin-change).
var PinCalibrations = Op[PinCalibrationsRequest, PinnedCalibrations]{Declaration{
	Name: "pinCalibrations", Method: http.MethodPut, Path: ofVersion + "/calibration", Tag: "Calibrations", Role: prism.Editor,
	Class: Keyed, Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.VersionNotFound(), apierr.ArchivedUnchangeable()},
}}

// PinCalibrationsRequest is the request of PinCalibrations.
type PinCalibrationsRequest struct {
	VersionRequest
	CalibrationPins
}

// CalibrationPins are what to pin.
type CalibrationPins struct {
	// By the key of a question of the version, the id of one of its calibrations, or null for none. Of an option of a tags question by both
	// keys with a point between, such as `tags.vip`.
	Questions Pins `json:"questions" max:"200" form:"uuid"`
}

// Pins are the members of an object in the order in which they were sent, in which problems with them are listed.
type Pins []Pin

// MaxPins bounds the pins of one PinCalibrations: the maximum of CalibrationPins.Questions.
const MaxPins = 200

// Pin is the calibration that a target is to have, by its name (prism.TargetName); the zero id is none.
type Pin struct {
	Target      string
	Calibration prism.CalibrationID
}

// ReadPinnedCalibrations reads what is pinned to the questions of a version (spec: calibration-pins).
var ReadPinnedCalibrations = Op[VersionRequest, PinnedCalibrations]{Declaration{
	Name: "readPinnedCalibrations", Method: http.MethodGet, Path: ofVersion + "/calibration", Tag: "Calibrations", Role: prism.Reader,
	Class: Keyed, Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.VersionNotFound()},
}}

// PinnedCalibrations is what is pinned to a version.
type PinnedCalibrations struct {
	// The version.
	Version int `json:"version" min:"1"`
	// By the key of each question of the version, or both keys of each option of a tags question, the id of its calibration, or null.
	Questions map[string]*string `json:"questions" form:"uuid"`
}
