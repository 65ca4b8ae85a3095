// Package models has the models that can be asked, with their places for calls and their circuit breakers, and the sets of models
// that configurations define.
package models

import (
	"net/http"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
)

// Spec is the configuration of a model.
type Spec struct {
	Name     string
	Provider string
	BaseURL  string // "" is the provider's own host
	Model    string // what the upstream calls it; "" is the provider's default
	Order    string // of labels: "" is the order of the definition, Cyclic is several orders
	APIKey   string
	Headers  http.Header // sent with every call
	// Proxy is the address of the HTTP proxy, with the user and the password if it has some. "" is the one of the environment, if
	// that is used.
	Proxy string
	// Roots are certificates of authorities, as PEM, that may sign that of the upstream beside those of the system.
	Roots string
	// Profile is what the host wants of a request. nil is the default one.
	Profile *provider.Profile
	// MaxInFlight is the number of calls at once; 0 is no bound.
	MaxInFlight int
	Price       *Price
	Fallback    []string
	// FallbackOn says for classes of failures whether the next model is asked, in place of the default.
	FallbackOn map[failure.Class]bool
	// MinLabelMass is the least part of the probability that the labels of a question must have; nil is 0.05.
	MinLabelMass *float64
}

// Cyclic is the Order of a model that is asked in cyclic orders (spec: label-orders).
const Cyclic = "cyclic"

// Price is what calls of a model cost.
type Price struct {
	Currency string
	// Input and Output are in 10⁻¹² of the currency for a token, which is 10⁻⁶ for a million tokens.
	Input, Output int64
	// CachedInput is the Input of tokens that the upstream read from a cache; nil is Input.
	CachedInput *int64
	// PerCall is what each call of the upstream costs beside its tokens, in 10⁻¹² of the currency.
	PerCall int64
	// Reported: the upstream says what a call cost. The amounts are 0.
	Reported bool
}

// ReportedCurrency is the currency of the costs that upstreams report: OpenRouter counts in US dollars.
const ReportedCurrency = "USD"

// perMillion converts prices: one of the currency for a million tokens is so many of their units.
const perMillion = 1e6

// perCall converts prices of calls: one of the currency for a call is so many of their units.
const perCall = 1e12

func (p *Price) contract() *api.Price {
	if p == nil || p.Reported {
		return nil
	}
	price := &api.Price{Currency: p.Currency, Input: float64(p.Input) / perMillion, Output: float64(p.Output) / perMillion}
	if p.CachedInput != nil {
		price.CachedInput = new(float64(*p.CachedInput) / perMillion)
	}
	if p.PerCall > 0 {
		price.PerCall = new(float64(p.PerCall) / perCall)
	}
	return price
}
