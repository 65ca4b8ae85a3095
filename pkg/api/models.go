package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/prism"
)

// ListModels lists the configured models, which model-proxy knows (spec: models-list).
var ListModels = Op[ListModelsRequest, ModelList]{Declaration{
	Name: "listModels", Method: http.MethodGet, Path: "/v1/models", Tag: "Models", Role: prism.Reader, Class: Keyed, ByGateway: true,
}}

// ListModelsRequest is the request of ListModels.
type ListModelsRequest struct{}

// ModelList is all configured models.
type ModelList struct {
	// The models, in the order of the configuration.
	Data []Model `json:"data" min:"1"`
}

// Model is a configured model.
type Model struct {
	// What versions call it.
	Name string `json:"name" form:"slug"`
	// The API that it is asked through, such as `openai-chat`. Later releases may add providers.
	Provider string `json:"provider"`
	// What its upstream calls it.
	Model string `json:"model"`
	// Whether it answers the calls of versions that name no model.
	Default       bool              `json:"default"`
	Probabilities ProbabilitySource `json:"probabilities"`
	// What its calls cost. Null if no price is configured.
	Price *Price `json:"price"`
	// Whether its calls cost what its upstream says with each reply. Then there is no `price`.
	PriceReported bool `json:"price_reported"`
	// The names of the models that are asked in its place when it fails, in this order.
	Fallback []string `json:"fallback"`
	// In which order the model reads options: in several cyclic orders (`cyclic`), whose probabilities are pooled, or in that of
	// the definition (null).
	Order *string `json:"order" enum:"cyclic"`
	// How many answers are drawn for each result. Null unless `probabilities` is `sampled`.
	Samples *int `json:"samples" min:"1" max:"32"`
}

// ProbabilitySource says where a model's probabilities come from (spec: models-list).
type ProbabilitySource string

// The sources of probabilities.
const (
	Native    ProbabilitySource = "native"    // the API of the model returns them
	Logprobs  ProbabilitySource = "logprobs"  // of the tokens of the labels
	Stated    ProbabilitySource = "stated"    // the model states them in words
	Sampled   ProbabilitySource = "sampled"   // the shares of several answers of the model
	Simulated ProbabilitySource = "simulated" // no model is asked
)

// Values are all sources of probabilities.
func (ProbabilitySource) Values() []string {
	return []string{string(Native), string(Logprobs), string(Stated), string(Sampled), string(Simulated)}
}

// Price is what a million tokens cost, and each call.
type Price struct {
	// The currency, such as USD.
	Currency string `json:"currency"`
	// For a million tokens that are sent.
	Input float64 `json:"input" min:"0"`
	// For a million tokens that the model returns.
	Output float64 `json:"output" min:"0"`
	// For a million of the tokens that are sent which the upstream reads from a cache. Null if they cost as much as others.
	CachedInput *float64 `json:"cached_input" min:"0"`
	// For each call of the upstream, beside its tokens. Null if it costs nothing.
	PerCall *float64 `json:"per_call" min:"0"`
}
