package client

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
)

// The configured models, which versions can name.
type (
	// Model is a configured model.
	Model = api.Model
	// ModelList is all configured models, in the order of the configuration. Exactly one is the default.
	ModelList = api.ModelList
	// ModelStateList is how all configured models do.
	ModelStateList = api.ModelStateList
	// ModelState is how a model does.
	ModelState = api.ModelState
	// ModelFailure is a call of a model that failed.
	ModelFailure = api.ModelFailure
	// ModelCheck is what works of a model.
	ModelCheck = api.ModelCheck
	// CheckedPart is a part of a ModelCheck.
	CheckedPart = api.CheckedPart
	// Price is what a million tokens cost, and each call.
	Price = api.Price
	// ProbabilitySource says where a model's probabilities come from.
	ProbabilitySource = api.ProbabilitySource
)

// The sources of probabilities.
const (
	Native    = api.Native    // the model's API returns them
	Logprobs  = api.Logprobs  // the log-probabilities of tokens
	Stated    = api.Stated    // the model states them
	Sampled   = api.Sampled   // the shares of several answers
	Simulated = api.Simulated // no model is asked
)

// CheckModel asks a model two known questions, and says what works. It needs a key of an owner. What the check used counts, so a call
// without a response is not repeated.
func (c *Client) CheckModel(ctx context.Context, name string, options ...CallOption) (ModelCheck, error) {
	k := declared(api.CheckModel, name)
	k.timeout = AnswerTimeout
	return fetch[ModelCheck](ctx, c, k, options)
}
