package api

import (
	"encoding/json"
	"net/http"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// ReadUsage adds up what the account's calls used (spec: usage-query).
var ReadUsage = Op[ReadUsageRequest, Usage]{Declaration{
	Name: "readUsage", Method: http.MethodGet, Path: "/v1/usage", Tag: "Usage", Role: prism.Reader, Class: Listing,
	Errors: []*apierr.Error{apierr.PrismNotFound()},
}}

// ReadUsageRequest is the request of ReadUsage. Without a day, results completes the period, since its clock says which day is today.
type ReadUsageRequest struct {
	// The first day, in UTC, or its midnight as a date-time. 30 days before `to` unless given, and at most 366.
	From *prism.Day `query:"from"`
	// The day after the last, likewise. Tomorrow unless given.
	To *prism.Day `query:"to"`
	// What the sums are of.
	By UsageBy `query:"by" default:"day"`
	// Only results of this prism, by its slug or id.
	Prism *prism.Ref `query:"prism" max:"200"`
	// Only results of the configured model with this name.
	Model string `query:"model" max:"200"`
	// Only results of calls with the API key with this id, in any letter case.
	Key *prism.KeyID `query:"key_id"`
}

// UsageBy is what usage is added up by.
type UsageBy string

// What usage is added up by.
const (
	ByDay   UsageBy = "day"
	ByPrism UsageBy = "prism"
	ByModel UsageBy = "model"
	ByKey   UsageBy = "key"
)

// Values are all of them in the order in which error messages list them.
func (UsageBy) Values() []string {
	return []string{string(ByDay), string(ByPrism), string(ByModel), string(ByKey)}
}

// The days of usage (spec: usage-days).
const (
	usageDays     = 30  // without From
	mostUsageDays = 366 // at most
)

// Period returns the first day of a query and the day after its last, or what is wrong with them. Without To the last day is today.
func (q ReadUsageRequest) Period(today prism.Day) (from, to prism.Day, problem *apierr.Problem) {
	to = today + 1
	if q.To != nil {
		to = *q.To
	}
	from = to - usageDays
	if q.From != nil {
		from = *q.From
	}
	switch {
	case from >= to:
		problem = &apierr.Problem{Path: "from", Text: "must be before to"}
	case to-from > mostUsageDays:
		problem = &apierr.Problem{Path: "from", Text: "must be at most 366 days before to"}
	}
	return from, to, problem
}

// Problems implements the rule that days that are both sent are a period.
func (q ReadUsageRequest) Problems(Sent) []apierr.Problem {
	if q.From != nil && q.To != nil {
		if _, _, problem := q.Period(0); problem != nil {
			return []apierr.Problem{*problem}
		}
	}
	return nil
}

// Usage is sums over the results of a period.
type Usage struct {
	// The sums: of prisms, models and keys at most 1,000.
	Data []UsageSum `json:"data"`
	// There are further prisms, models or keys, with fewer results.
	More bool `json:"more"`
	// The first day, in UTC.
	From string `json:"from" form:"date"`
	// The day after the last.
	To string `json:"to" form:"date"`
}

// UsageSum is the sum of the results of one day, prism, model or key whose costs have one currency. It has one of the members
// `day`, `prism`, `model` and `key_id`.
type UsageSum struct {
	// The day in UTC, by `day`.
	Day string `json:"day,omitzero" form:"date"`
	// The prism's slug, by `prism`. Archived prisms have sums too. Null for what tries used.
	Prism *string `json:"prism,omitzero" null:"true"`
	// The name of the configured model, by `model`. Null if it is not known.
	Model *string `json:"model,omitzero" null:"true"`
	// The API key, by `key`. Null if it is not known.
	KeyID *string `json:"key_id,omitzero" form:"uuid" null:"true"`
	// How many results were saved, and tries made.
	Results int64 `json:"results" min:"1"`
	// Those of them that failed.
	Failed int64 `json:"failed" min:"0"`
	// Tokens that models read.
	InputTokens int64 `json:"input_tokens" min:"0"`
	// Tokens that models wrote.
	OutputTokens int64 `json:"output_tokens" min:"0"`
	// The exact sum, in `currency`, with at most 12 digits behind the point. Null without a currency.
	Cost *json.Number `json:"cost"`
	// The currency of the models' prices. Null if none has one.
	Currency *string `json:"currency"`
}
