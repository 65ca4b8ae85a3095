package client

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
)

// NewTry is a definition to try, and what to ask it about. Send either Fields or Text.
type NewTry struct {
	Definition Definition `json:"definition"`
	Lens       *Lens      `json:"lens,omitempty"` // nil: the one derived from the questions
	// Fields has a value for each field of the definition.
	Fields map[string]string `json:"fields,omitempty"`
	// Text is the value of the definition's only field. An empty text can be sent only in Fields.
	Text string `json:"text,omitempty"`
	// Context is what the model should know beside the fields.
	Context string `json:"context,omitempty"`
}

// Try is what a definition answered. Nothing of it is saved.
type Try = api.Try

// TryDefinition asks the model the questions of a definition. Neither the definition nor a result is saved, but the use
// counts, so a call without a response is not repeated. If the model gives no usable answer, the error is a *FailedError with
// the Try.
func (c *Client) TryDefinition(ctx context.Context, t NewTry, options ...CallOption) (Try, error) {
	k := declared(api.TryDefinition).sending(t)
	k.timeout = AnswerTimeout
	return fetch[Try](ctx, c, k, options)
}

// lensPreview is api.LensPreview with ids as texts.
type lensPreview struct {
	Lens
	Results []string `json:"result_ids"`
}

// PreviewedLens is results under a Lens that is not stored.
type PreviewedLens struct {
	Columns []string          `json:"columns"` // their names
	Data    []PreviewedResult `json:"data"`
}

// PreviewedResult is a result under a Lens that is not stored.
type PreviewedResult struct {
	Result Result `json:"result"`
	// Missing says, by the name of each column that is null, why.
	Missing map[string]string `json:"missing"`
}

// PreviewLens shows results of a prism, at most 50, as they would be with another Lens. It stores nothing. An id that no result
// of the prism has is left out.
func (c *Client) PreviewLens(
	ctx context.Context, prism string, l Lens, results []string, options ...CallOption,
) (PreviewedLens, error) {
	k := declared(api.PreviewLens, prism).sending(lensPreview{l, append([]string{}, results...)})
	return fetch[PreviewedLens](ctx, c, k, options)
}
