package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/prism-results/prism/pkg/api"
)

type (
	// Drift is how far the answers of a version are from its reference. CountedTo, Reference and Questions are empty for a prism that
	// is not watched.
	Drift = api.Drift
	// DriftReference is what answers are compared with.
	DriftReference = api.DriftReference
	// DriftKind is how a reference was chosen.
	DriftKind = api.DriftKind
	// QuestionDrift is the drift of the answers to a question.
	QuestionDrift = api.DriftOfQuestion
	// DriftWindow is a time that is compared with the reference. The indices are nil if there are too few results.
	DriftWindow = api.DriftWindow
	// DriftIndex is a population stability index.
	DriftIndex = api.DriftIndex
	// DriftChange is whether a prism is watched.
	DriftChange = api.DriftChange
	// DriftPeriod is a time of whole hours of the last 90 days.
	DriftPeriod = api.DriftPeriod
)

// The kinds of a reference.
const (
	FirstResults = api.FirstResults // the first 2,000 results
	SetPeriod    = api.SetPeriod
)

// ReadDrift compares the answers of a version in the last hour and day with its reference; version 0 is the latest.
func (c *Client) ReadDrift(ctx context.Context, prism string, version int, options ...CallOption) (Drift, error) {
	k := declared(api.ReadDrift, prism)
	if version != 0 {
		k.query = url.Values{"version": {strconv.Itoa(version)}}
	}
	return fetch[Drift](ctx, c, k, options)
}

// SetDrift begins or ends watching a prism, and sets the reference of a version. The end deletes what was counted.
func (c *Client) SetDrift(ctx context.Context, prism string, d DriftChange, options ...CallOption) (Drift, error) {
	return fetch[Drift](ctx, c, declared(api.SetDrift, prism).sending(d), options)
}
