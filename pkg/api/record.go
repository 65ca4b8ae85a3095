package api

import (
	"encoding/json"

	"github.com/prism-results/prism/pkg/prism"
)

// Record is everything that is kept of a call. A member that is not known is null.
type Record struct {
	// The id of the result.
	ID string `json:"id" form:"uuid"`
	// The prism's slug.
	Prism string `json:"prism"`
	// The prism version that answered.
	Version int    `json:"version" min:"1"`
	Status  Status `json:"status"`
	// Why the result failed, in words. Null when the status is `ok`.
	Error *string `json:"error"`
	// Why the result failed, for programs.
	ErrorCode *ErrorCode `json:"error_code" except:"skipped"`
	// When the result was saved.
	CreatedAt Time `json:"created_at"`
	// How long the call to the model took, in milliseconds.
	TookMS int64 `json:"took_ms" min:"0"`
	// The ref sent with the call.
	Ref *string `json:"ref"`
	// The context sent with the call.
	Context *string `json:"context"`
	// The value of each field, in the order of the version.
	Fields map[string]string `json:"fields"`
	// The idempotency key that the result holds. A retry takes it from the result that it retries.
	IdempotencyKey *string `json:"idempotency_key"`
	// The result that this one retried.
	RetryOf *string `json:"retry_of" form:"uuid"`
	// The result that retried this one.
	RetriedBy *string `json:"retried_by" form:"uuid"`
	// The API key that made the call.
	KeyID *string `json:"key_id" form:"uuid"`
	// The file run that made the result.
	RunID *string `json:"run_id" form:"uuid"`
	// The number of its row. The first is 1.
	RunRow *int64 `json:"run_row"`
	CallMembers
	Labels map[string]Label `json:"labels" schema:"Labels"`
}

// CallMembers are what is known of the call of a model. A member that is not known is null.
type CallMembers struct {
	// The model whose answers these are, or that was asked last if there are none.
	Model *RecordModel `json:"model"`
	// What all tries took together, as far as upstreams said.
	Usage *RecordUsage `json:"usage"`
	// By question, the part of the model's probability that its labels had. For models that return log-probabilities.
	LabelMass LabelMass `json:"label_mass" min:"0" max:"1" null:"true"`
	// By question, the options or levels, or `yes` or `no`, whose labels were not among the tokens that the model returned. Null without any. For models that return log-probabilities.
	Absent Absent `json:"absent" null:"true"`
	// By question, how far the orders of its labels disagreed: the mean total variation distance of the orders from the answer, from 0 (all gave the same probabilities) to 1. For models that are asked in several orders.
	OrderDisagreement OrderDisagreement `json:"order_disagreement" min:"0" max:"1" null:"true"`
	// By question, how many groups of its options were asked in each round, and how many options they had together. For questions with more options than the model is asked at once.
	Rounds Rounds `json:"rounds" null:"true"`
	// Both models, if an answer of the first one was doubtful. Null if no second model was wanted.
	Escalation *Escalation `json:"escalation"`
}

// LabelMass is, by question, the part of the model's probability that its labels had.
type LabelMass map[string]float64

// Absent is, by question, the options or levels, or yes or no, whose labels were not among the tokens that the model returned.
type Absent map[string][]string

// OrderDisagreement is, by question, how far the orders of its labels disagreed: from 0, where all gave the same probabilities,
// to 1.
type OrderDisagreement map[string]float64

// Rounds are, by question, the rounds in which its options were asked.
type Rounds map[string][]Round

// Round is one round of calls about a question.
type Round = prism.Round

// ErrorCode says why a result failed, for programs.
type ErrorCode = prism.ErrorCode

// RecordModel is the configured model whose answers these are, or that was asked last if there are none.
type RecordModel struct {
	// Its name.
	Name *string `json:"name"`
	// Its provider.
	Provider *string `json:"provider"`
	// What its upstream calls it.
	Model *string `json:"model"`
	// Where its probabilities came from.
	Probabilities *ProbabilitySource `json:"probabilities"`
	// Calls of upstreams, for all questions and models.
	Tries int `json:"tries" min:"0"`
	// Whether it is a fallback of the model that was asked first.
	FellBack bool `json:"fell_back"`
}

// Escalation is both models of a call whose first answers were doubtful.
type Escalation struct {
	// The questions whose first answers were doubtful, in the order of the version.
	Questions []string `json:"questions" min:"1"`
	// Why the first answers are the result. Null if those of the second model are. `skipped`: its last calls failed, so it was not asked.
	ErrorCode *ErrorCode `json:"error_code"`
	// The model of the version, or its fallback.
	First AnsweredModel `json:"first"`
	// The model that was escalated to, or its fallback.
	Second AnsweredModel `json:"second"`
}

// AnsweredModel is a model of an escalation.
type AnsweredModel struct {
	// Its name.
	Name *string `json:"name"`
	// Its provider.
	Provider *string `json:"provider"`
	// What its upstream calls it.
	Model *string `json:"model"`
	// Whether it is a fallback of the model that was asked first, or of the one that was escalated to.
	FellBack bool `json:"fell_back"`
	// Question key to answer, in the order of the version, as in format `raw`. Null if it gave none.
	Answers Answers `json:"answers" null:"true"`
}

// RecordUsage is tokens and their cost.
type RecordUsage struct {
	// Tokens that the model read.
	InputTokens *int64 `json:"input_tokens"`
	// Tokens that the model wrote.
	OutputTokens *int64 `json:"output_tokens"`
	// Those of `input_tokens` that the upstream read from a cache.
	CachedInputTokens *int64 `json:"cached_input_tokens"`
	// The exact price of the tokens, in `currency`, with at most 12 digits behind the point.
	Cost *json.Number `json:"cost"`
	// The currency of the model's price.
	Currency *string `json:"currency"`
}
