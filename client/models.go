package client

import (
	"context"
	"net/http"
)

// Model is a configured model, which a version can name.
type Model struct {
	Name          string            `json:"name"`
	Provider      string            `json:"provider"` // the API that it is asked through
	Model         string            `json:"model"`    // what its upstream calls it
	Default       bool              `json:"default"`  // it answers the calls of versions that name no model
	Probabilities ProbabilitySource `json:"probabilities"`
	Price         *Price            `json:"price"`    // nil without a configured price
	Fallback      []string          `json:"fallback"` // the models that are asked in its place when it fails, in this order
	Order         *string           `json:"order"`    // "cyclic": each question is asked in several orders of its labels
}

// ProbabilitySource says where a model's probabilities come from.
type ProbabilitySource string

// The sources of probabilities.
const (
	Native    ProbabilitySource = "native"    // the model's API returns them
	Logprobs  ProbabilitySource = "logprobs"  // the log-probabilities of tokens
	Stated    ProbabilitySource = "stated"    // the model states them
	Simulated ProbabilitySource = "simulated" // no model is asked
)

// Price is what a million tokens cost.
type Price struct {
	Currency string  `json:"currency"`
	Input    float64 `json:"input"`
	Output   float64 `json:"output"`
}

// ModelList is all configured models, in the order of the configuration. Exactly one is the default.
type ModelList struct {
	Data []Model `json:"data"`
}

// ListModels returns all configured models.
func (c *Client) ListModels(ctx context.Context, options ...CallOption) (ModelList, error) {
	return fetch[ModelList](ctx, c, request("listModels", http.MethodGet, "models"), options)
}
