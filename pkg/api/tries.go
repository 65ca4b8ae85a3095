package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/prism"
)

// TryDefinition asks the model the questions of a definition, and saves nothing but what that used (spec: try).
var TryDefinition = Op[TryDefinitionRequest, Try]{Declaration{
	Name: "tryDefinition", Method: http.MethodPost, Path: "/v1/try", Tag: "Prisms", Role: prism.Editor, Class: Keyed,
	ByGateway: true, Failing: true,
}}

// TryDefinitionRequest is the request of TryDefinition.
type TryDefinitionRequest struct{ NewTry }

// NewTry is a definition to try, and what to ask it about. Send either `fields` or `text`, never both.
type NewTry struct {
	Definition Definition `json:"definition"`
	// Without it the Lens is derived from the questions.
	Lens *Lens `json:"lens,omitzero"`
	// Field key to value. Every field key of the definition is required, others are refused. A value has at most 100,000 characters.
	Fields FieldValues `json:"fields,omitzero" max:"100000" notnull:"true"`
	// The value of the definition's only field.
	Text *string `json:"text,omitzero" max:"100000" notnull:"true"`
	// Something the model should know that belongs to no field.
	Context string `json:"context,omitzero" max:"100000" notnull:"true"`
}

// OneOf are the two ways to send values.
func (NewTry) OneOf() []string { return NewResult{}.OneOf() }

// Try is what a definition answered. Nothing of it is saved.
type Try struct {
	Status Status `json:"status"`
	// Why the model gave no usable answer, in words. Null when the status is `ok`.
	Error *string `json:"error"`
	// Why the model gave no usable answer, for programs.
	ErrorCode *ErrorCode `json:"error_code" except:"skipped"`
	// How long the call to the model took, in milliseconds.
	TookMS int64 `json:"took_ms" min:"0"`
	// Question key to answer, in the order of the definition: the answers of a result in format `raw`. Null when the model failed.
	Answers Answers `json:"raw" null:"true"`
	// One member for each Lens column, in Lens order: the answers of a result in format `json`. Null when the model failed.
	Row Row `json:"json" null:"true"`
	CallMembers
}
