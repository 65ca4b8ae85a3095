package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// Drift is how far the answers of a version are from its reference. CountedTo, Reference and Questions are empty for a prism that
// is not watched.
type Drift struct {
	Version   int             `json:"version"`
	Watched   bool            `json:"watched"`
	CountedTo *Time           `json:"counted_to"` // results that began before are counted
	Reference *DriftReference `json:"reference"`
	Questions []QuestionDrift `json:"questions"` // those of the version, in its order
}

// DriftReference is what answers are compared with.
type DriftReference struct {
	Kind    DriftKind `json:"kind"`
	From    *Time     `json:"from"` // nil while there is no result
	To      *Time     `json:"to"`
	Results int64     `json:"results"` // fewer than 500 are not compared with
}

// DriftKind is how a reference was chosen.
type DriftKind string

// The kinds.
const (
	FirstResults DriftKind = "first" // the first 2,000 results
	SetPeriod    DriftKind = "set"
)

// QuestionDrift is the drift of the answers to a question.
type QuestionDrift struct {
	Question string        `json:"question"`
	Index    int           `json:"index"` // from 0; metrics name the question by it
	Type     QuestionType  `json:"type"`
	Metrics  bool          `json:"metrics"` // it has metrics, and so alerts
	Hour     DriftWindow   `json:"hour"`    // the last one
	Day      DriftWindow   `json:"day"`     // the last one
	Hours    []DriftWindow `json:"hours"`   // of the last 48, those with results
	Days     []DriftWindow `json:"days"`    // of the last 30, those with results
}

// DriftWindow is a time that is compared with the reference. The indices are nil if there are too few results.
type DriftWindow struct {
	From        Time        `json:"from"`
	To          Time        `json:"to"`
	Results     int64       `json:"results"`
	Alarm       bool        `json:"alarm"`       // of either index
	Probability *DriftIndex `json:"probability"` // of the top probability
	Classes     *DriftIndex `json:"classes"`     // of the shares of the answers
}

// DriftIndex is a population stability index.
type DriftIndex struct {
	PSI   float64 `json:"psi"`
	Limit float64 `json:"limit"`
	Alarm bool    `json:"alarm"` // the index is above its limit
}

// ReadDrift compares the answers of a version in the last hour and day with its reference; version 0 is the latest.
func (c *Client) ReadDrift(ctx context.Context, prism string, version int, options ...CallOption) (Drift, error) {
	k := request("readDrift", http.MethodGet, "prisms", prism, "drift")
	if version != 0 {
		k.query = url.Values{"version": {strconv.Itoa(version)}}
	}
	return fetch[Drift](ctx, c, k, options)
}

// DriftChange is whether a prism is watched.
type DriftChange struct {
	Watched   bool         `json:"watched"`
	Version   int          `json:"version,omitempty"`   // 0: the latest
	Reference *DriftPeriod `json:"reference,omitempty"` // of the version; nil: its first 2,000 results
}

// DriftPeriod is a time of whole hours of the last 90 days.
type DriftPeriod struct {
	From Time `json:"from"`
	To   Time `json:"to"`
}

// SetDrift begins or ends watching a prism, and sets the reference of a version. The end deletes what was counted.
func (c *Client) SetDrift(ctx context.Context, prism string, d DriftChange, options ...CallOption) (Drift, error) {
	k := request("setDrift", http.MethodPut, "prisms", prism, "drift")
	k.body = d
	return fetch[Drift](ctx, c, k, options)
}
