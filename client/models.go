package client

import "github.com/prism-results/prism/pkg/api"

// The configured models, which versions can name.
type (
	// Model is a configured model.
	Model = api.Model
	// ModelList is all configured models, in the order of the configuration. Exactly one is the default.
	ModelList = api.ModelList
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
