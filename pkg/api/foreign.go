package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/prism"
)

// The formats in which clients of others are answered (spec: formats-of-others). No call can ask for them: they belong to their path.
const (
	Decisions Format = "decisions" // OpenAI's
	SystemOne Format = "systemone" // TypeSafe's
)

// Foreign reports whether the format is one of others.
func (f Format) Foreign() bool { return f == Decisions || f == SystemOne }

// CreateDecision is CreateResult in OpenAI's decisions format (spec: decisions-call).
var CreateDecision = Op[CreateDecisionRequest, Decision]{foreignCall("createDecision", "/v1/decisions")}

// CreateSystemOne is CreateResult in TypeSafe's System One format (spec: systemone-call).
var CreateSystemOne = Op[CreateSystemOneRequest, SystemOneAnswers]{foreignCall("createSystemOne", "/v1/systemone")}

func foreignCall(name, path string) Declaration {
	return Declaration{
		Name: name, Method: http.MethodPost, Path: path, Tag: "Formats of others", Role: prism.Caller, Class: Keyed,
		ByGateway: true, Failing: true, Foreign: true, Errors: CreateResult.Errors,
	}
}

// ForeignCall is the create call that a call in a format of others stands for.
type ForeignCall struct {
	CreateResultRequest
	// Questions are those that were sent, as they were sent; nil: those of the prism are asked.
	Questions []byte
	// AdHoc are those of a call that names a model instead of a prism (spec: adhoc-call).
	AdHoc *AdHoc
}

// AdHoc is what a call asks that names a model.
type AdHoc struct {
	Definition prism.Definition
	// Names has what the call calls the questions, in their order.
	Names []NamesOfQuestion
}

// NamesOfQuestion are what a call in a format of others calls a question and its options or levels.
type NamesOfQuestion struct {
	// Name is nil of a question without one.
	Name *string `json:",omitzero"`
	// Values are the options or levels in order, as JSON: texts, and in OpenAI's format true and false.
	Values []string `json:",omitzero"`
}

// ForeignHeaders are the headers of a call in a format of others.
type ForeignHeaders struct {
	IdempotencyKey string `header:"Idempotency-Key" parameter:"IdempotencyKey"`
	// Your own name for the call, kept with the result: its `ref`.
	Ref string `header:"Prism-Ref" max:"200" example:"order-4711"`
}

// CreateDecisionRequest is the request of CreateDecision.
type CreateDecisionRequest struct {
	ForeignHeaders
	NewDecision
	Call ForeignCall
}

// NewDecision is a call in OpenAI's decisions format. Members that are not named here are ignored.
type NewDecision struct {
	// The slug or id of a prism, or `slug@3` for its version 3. Or `model/` and the name of a configured model, which answers the questions of the call.
	Model string `json:"model" max:"200"`
	// A text, or messages with texts. It is the value of the version's only field.
	Input any `json:"input" schema:"DecisionInput"`
	// Absent, empty, or the questions of the prism, which are asked in any case. Required if `model` names a model.
	Questions any `json:"questions,omitzero" schema:"DecisionQuestions"`
	// Ignored.
	SafetyIdentifier *string `json:"safety_identifier,omitzero"`
}

// Decision is the answers of a result in OpenAI's decisions format.
type Decision struct {
	// In the order of the questions. A tags question has an answer for each of its options, named `question.option`.
	Answers []DecisionAnswer `json:"answers"`
	// The prism and the version that answered, such as `tickets@3`.
	Model string        `json:"model"`
	Usage DecisionUsage `json:"usage"`
}

// DecisionAnswer is the answer to a question in OpenAI's decisions format. Its schema is kept by hand.
type DecisionAnswer struct{}

// DecisionUsage is what a call used, in tokens; 0 where it is not known, and for a stored result.
type DecisionUsage struct {
	// All input tokens.
	InputTokens        int64               `json:"input_tokens" min:"0"`
	InputTokensDetails DecisionInputTokens `json:"input_tokens_details"`
	// All output tokens.
	OutputTokens        int64                `json:"output_tokens" min:"0"`
	OutputTokensDetails DecisionOutputTokens `json:"output_tokens_details"`
	// Both together.
	TotalTokens int64 `json:"total_tokens" min:"0"`
}

// DecisionInputTokens is what is known of input tokens.
type DecisionInputTokens struct {
	// Always 0: nothing tells them.
	CacheWriteTokens int64 `json:"cache_write_tokens" min:"0"`
	// Those that the upstream read from a cache.
	CachedTokens int64 `json:"cached_tokens" min:"0"`
}

// DecisionOutputTokens is what is known of output tokens.
type DecisionOutputTokens struct {
	// Always 0: they count as output.
	ReasoningTokens int64 `json:"reasoning_tokens" min:"0"`
}

// CreateSystemOneRequest is the request of CreateSystemOne.
type CreateSystemOneRequest struct {
	ForeignHeaders
	NewSystemOne
	Call ForeignCall
}

// NewSystemOne is a call in TypeSafe's System One format. Members that are not named here are ignored.
type NewSystemOne struct {
	// The slug or id of a prism, or `slug@3` for its version 3. Or `model/` and the name of a configured model, which answers the questions of the call.
	Model string `json:"model" max:"200"`
	// A text or an array, which is the value of the version's only field, or an object whose members are the values of fields. A value that is no text is its JSON.
	State any `json:"state" schema:"SystemOneState"`
	// Absent, empty, or the questions of the prism, which are asked in any case. Required if `model` names a model.
	Questions any `json:"questions,omitzero" schema:"SystemOneQuestions"`
}

// SystemOneAnswers are the answers of a result in TypeSafe's System One format.
type SystemOneAnswers struct {
	// The prism and the version that answered, such as `tickets@3`.
	Model string `json:"model"`
	// Question key to answer. A tags question has an answer for each of its options, at `question.option`.
	Answers map[string]SystemOneAnswer `json:"answers"`
	Usage   SystemOneUsage             `json:"usage"`
}

// SystemOneAnswer is the answer to a question in TypeSafe's System One format. Its schema is kept by hand.
type SystemOneAnswer struct{}

// SystemOneUsage is what a call used, in tokens; 0 where it is not known, and for a stored result.
type SystemOneUsage struct {
	// All input tokens.
	InputTokens int64 `json:"input_tokens" min:"0"`
	// All output tokens.
	OutputTokens int64 `json:"output_tokens" min:"0"`
}
