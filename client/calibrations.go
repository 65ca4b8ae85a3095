package client

import (
	"context"
	"iter"
	"net/http"
	"strconv"
)

// CalibrationMethod is how a calibration maps probabilities.
type CalibrationMethod string

// The methods. AutoCalibration is for NewCalibration alone.
const (
	AutoCalibration        CalibrationMethod = "auto"        // the best one, if it is better than none
	TemperatureCalibration CalibrationMethod = "temperature" // of a choice or scale
	PlattCalibration       CalibrationMethod = "platt"       // of a yes_no
	IsotonicCalibration    CalibrationMethod = "isotonic"    // of a yes_no
)

// NewCalibration is a calibration to fit to the labels of a question.
type NewCalibration struct {
	Question string            `json:"question"`
	Method   CalibrationMethod `json:"method"`
}

// Figure is an estimate with its 95% interval.
type Figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Calibration maps the probabilities of a question of a version. It never changes.
type Calibration struct {
	ID       string            `json:"id"`
	Version  int               `json:"version"`
	Question string            `json:"question"`
	Method   CalibrationMethod `json:"method"`

	Temperature *float64      `json:"temperature"` // T of p^(1/T), of TemperatureCalibration
	A           *float64      `json:"a"`           // of σ(a·logit p + b), of PlattCalibration
	B           *float64      `json:"b"`
	Points      *[][2]float64 `json:"points"` // corners, stored and calibrated, of IsotonicCalibration

	Labels        int     `json:"labels"`          // that it was fitted to
	LogLossBefore float64 `json:"log_loss_before"` // of the stored probabilities
	LogLossAfter  float64 `json:"log_loss_after"`  // in a cross-validation
	Gain          Figure  `json:"gain"`            // how much smaller the log loss becomes
	CreatedAt     Time    `json:"created_at"`
}

// calibrationPins are what to pin.
type calibrationPins struct {
	Questions map[string]*string `json:"questions"`
}

// PinnedCalibrations is what is pinned to a version.
type PinnedCalibrations struct {
	Version   int                `json:"version"`
	Questions map[string]*string `json:"questions"` // by question, the id of its calibration, or nil
}

// ofVersion is a path below a version.
func ofVersion(prism string, version int, more ...string) []string {
	return append([]string{"prisms", prism, "versions", strconv.Itoa(version)}, more...)
}

// CreateCalibration fits a calibration to the labels of a question of a version. It has no effect until it is pinned. Too few
// labels, and AutoCalibration where no method is better than none, are ErrConflict.
func (c *Client) CreateCalibration(
	ctx context.Context, prism string, version int, n NewCalibration, options ...CallOption,
) (Calibration, error) {
	k := request("createCalibration", http.MethodPost, ofVersion(prism, version, "calibrations")...).creating(n)
	return fetch[Calibration](ctx, c, k, options)
}

// ListCalibrations returns one page of the calibrations of a version, newest first; of one question unless question is "".
func (c *Client) ListCalibrations(
	ctx context.Context, prism string, version int, question string, o PageOptions, options ...CallOption,
) (Page[Calibration], error) {
	q := o.query()
	set(q, "question", question)
	k := request("listCalibrations", http.MethodGet, ofVersion(prism, version, "calibrations")...).where(q)
	return fetch[Page[Calibration]](ctx, c, k, options)
}

// Calibrations iterates over the calibrations of a version, newest first, and reads a page at a time. An error ends it.
func (c *Client) Calibrations(
	ctx context.Context, prism string, version int, question string, options ...CallOption,
) iter.Seq2[Calibration, error] {
	return pages(func(cursor string) (Page[Calibration], error) {
		return c.ListCalibrations(ctx, prism, version, question, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// ReadCalibration reads one calibration of a version.
func (c *Client) ReadCalibration(
	ctx context.Context, prism string, version int, id string, options ...CallOption,
) (Calibration, error) {
	k := request("readCalibration", http.MethodGet, ofVersion(prism, version, "calibrations", id)...)
	return fetch[Calibration](ctx, c, k, options)
}

// PinCalibrations pins calibrations to the questions that are named, by their ids; nil unpins. Other questions keep theirs. It
// returns what is pinned then.
func (c *Client) PinCalibrations(
	ctx context.Context, prism string, version int, questions map[string]*string, options ...CallOption,
) (PinnedCalibrations, error) {
	k := request("pinCalibrations", http.MethodPut, ofVersion(prism, version, "calibration")...)
	k.body = calibrationPins{questions}
	return fetch[PinnedCalibrations](ctx, c, k, options)
}

// ReadPinnedCalibrations reads what is pinned to a version.
func (c *Client) ReadPinnedCalibrations(
	ctx context.Context, prism string, version int, options ...CallOption,
) (PinnedCalibrations, error) {
	k := request("readPinnedCalibrations", http.MethodGet, ofVersion(prism, version, "calibration")...)
	return fetch[PinnedCalibrations](ctx, c, k, options)
}
