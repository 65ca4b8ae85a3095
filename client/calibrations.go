package client

import (
	"context"
	"iter"
	"strconv"

	"github.com/prism-results/prism/pkg/api"
)

// Calibrations.
type (
	// NewCalibration is a calibration to fit to the labels of a question.
	NewCalibration = api.NewCalibration
	// CalibrationMethod is how a calibration maps probabilities.
	CalibrationMethod = api.CalibrationMethod
	// Calibration maps the probabilities of a question of a version. It never changes.
	Calibration = api.Calibration
	// Figure is an estimate with its 95% interval.
	Figure = api.Figure
	// PinnedCalibrations is what is pinned to a version.
	PinnedCalibrations = api.PinnedCalibrations
)

// The methods. AutoCalibration is for NewCalibration alone.
const (
	AutoCalibration        = api.AutoCalibration        // the best one, if it is better than none
	TemperatureCalibration = api.TemperatureCalibration // of a choice or scale
	PlattCalibration       = api.PlattCalibration       // of a yes_no
	IsotonicCalibration    = api.IsotonicCalibration    // of a yes_no
)

// calibrationPins are what to pin.
type calibrationPins struct {
	Questions map[string]*string `json:"questions"`
}

// CreateCalibration fits a calibration to the labels of a question of a version. It has no effect until it is pinned. Too few
// labels, and AutoCalibration where no method is better than none, are ErrConflict.
func (c *Client) CreateCalibration(
	ctx context.Context, prism string, version int, n NewCalibration, options ...CallOption,
) (Calibration, error) {
	return fetch[Calibration](ctx, c, declared(api.CreateCalibration, prism, strconv.Itoa(version)).sending(n), options)
}

// ListCalibrations returns one page of the calibrations of a version, newest first; of one question unless question is "", or of an
// option of a Tags such as tags.vip.
func (c *Client) ListCalibrations(
	ctx context.Context, prism string, version int, question string, o PageOptions, options ...CallOption,
) (Page[Calibration], error) {
	q := o.query()
	setTarget(q, question)
	return fetch[Page[Calibration]](ctx, c, declared(api.ListCalibrations, prism, strconv.Itoa(version)).where(q), options)
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
	return fetch[Calibration](ctx, c, declared(api.ReadCalibration, prism, strconv.Itoa(version), id), options)
}

// PinCalibrations pins calibrations to the questions that are named, by their ids; nil unpins. Other questions keep theirs. It
// returns what is pinned then.
func (c *Client) PinCalibrations(
	ctx context.Context, prism string, version int, questions map[string]*string, options ...CallOption,
) (PinnedCalibrations, error) {
	k := declared(api.PinCalibrations, prism, strconv.Itoa(version)).sending(calibrationPins{questions})
	return fetch[PinnedCalibrations](ctx, c, k, options)
}

// ReadPinnedCalibrations reads what is pinned to a version.
func (c *Client) ReadPinnedCalibrations(
	ctx context.Context, prism string, version int, options ...CallOption,
) (PinnedCalibrations, error) {
	return fetch[PinnedCalibrations](ctx, c, declared(api.ReadPinnedCalibrations, prism, strconv.Itoa(version)), options)
}
