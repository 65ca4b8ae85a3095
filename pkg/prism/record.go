package prism

// ErrorCode says why a result failed, for programs (spec: error-codes).
type ErrorCode string

// The error codes.
const (
	CodeTimeout            ErrorCode = "timeout"
	CodeUnreachable        ErrorCode = "unreachable"
	CodeRefused            ErrorCode = "refused"
	CodeNoUsableAnswer     ErrorCode = "no_usable_answer"
	CodeNoLogProbabilities ErrorCode = "no_log_probabilities"
	CodeModelNotConfigured ErrorCode = "model_not_configured"
)

// ModelCall is what a result's record has of the call of its model (spec: record-members).
type ModelCall struct {
	ErrorCode ErrorCode `json:",omitzero"` // empty if the result is ok
	Name      string    `json:",omitzero"` // of the configured model that was asked last
	Provider  string    `json:",omitzero"` // of that model
	Model     string    `json:",omitzero"` // what its upstream calls it
	Tries     int32     `json:",omitzero"` // calls of upstreams, of all questions and models
	FellBack  bool      `json:",omitzero"` // whether it is a fallback of the model that was asked first
	// Usage is what all tries took together, as far as upstreams said.
	Usage Usage `json:",omitzero"`
	// LabelMass is the part of the model's probability that each question's labels had, where it is known.
	LabelMass []LabelMass `json:",omitzero"`
}

// Usage is tokens and their cost. A nil member is not known.
type Usage struct {
	InputTokens  *int64 `json:",omitzero"`
	OutputTokens *int64 `json:",omitzero"`
	// CachedInputTokens are those of InputTokens that the upstream read from a cache.
	CachedInputTokens *int64 `json:",omitzero"`
	// Cost is in 10⁻¹² of Currency: so tokens times a price per million tokens with six decimals is exact.
	Cost     *int64 `json:",omitzero"`
	Currency string `json:",omitzero"` // of the model's price; empty without one
}

// LabelMass is the label mass of one question, from 0 to 1.
type LabelMass struct {
	Question string
	Mass     float64
}
