package prism

// ErrorCode says why a result failed, for programs (spec: error-codes).
type ErrorCode string

// The error codes.
const (
	CodeTimeout            ErrorCode = "timeout"
	CodeUnreachable        ErrorCode = "unreachable"
	CodeRefused            ErrorCode = "refused"
	CodeLimited            ErrorCode = "limited"
	CodeExhausted          ErrorCode = "exhausted"
	CodeRefusedKey         ErrorCode = "refused_key"
	CodeNotFound           ErrorCode = "not_found"
	CodeContent            ErrorCode = "content"
	CodeTooLong            ErrorCode = "too_long"
	CodeParameter          ErrorCode = "parameter"
	CodeUnreadable         ErrorCode = "unreadable"
	CodeNoUsableAnswer     ErrorCode = "no_usable_answer"
	CodeLabelMassLow       ErrorCode = "label_mass_low"
	CodeNoLogProbabilities ErrorCode = "no_log_probabilities"
	CodeModelNotConfigured ErrorCode = "model_not_configured"
	// CodeSkipped occurs only in an Escalation: the circuit breaker skipped the second model.
	CodeSkipped ErrorCode = "skipped"
)

// Values are all error codes.
func (ErrorCode) Values() (all []string) {
	for _, c := range []ErrorCode{
		CodeTimeout, CodeUnreachable, CodeRefused, CodeLimited, CodeExhausted, CodeRefusedKey, CodeNotFound, CodeContent, CodeTooLong,
		CodeParameter, CodeUnreadable, CodeNoUsableAnswer, CodeLabelMassLow, CodeNoLogProbabilities, CodeModelNotConfigured, CodeSkipped,
	} {
		all = append(all, string(c))
	}
	return all
}

// ModelCall is what a result's record has of the call of its model (spec: record-members).
type ModelCall struct {
	ErrorCode ErrorCode `json:",omitzero"` // empty if the result is ok
	Name      string    `json:",omitzero"` // of the configured model whose answers these are, or that was asked last
	Provider  string    `json:",omitzero"` // of that model
	Model     string    `json:",omitzero"` // what its upstream calls it
	// Probabilities says where its probabilities came from.
	Probabilities string `json:",omitzero"`
	Tries         int32  `json:",omitzero"` // calls of upstreams, of all questions and models
	FellBack      bool   `json:",omitzero"` // whether it is a fallback of the model that was asked first
	// Usage is what all tries took together, as far as upstreams said.
	Usage Usage `json:",omitzero"`
	// LabelMass is the part of the model's probability that each question's labels had, where it is known.
	LabelMass []LabelMass `json:",omitzero"`
	// Absent are the labels that were not among the tokens that the model returned, of each question that has some.
	Absent []Absent `json:",omitzero"`
	// Disagreement is how far the orders of each question's labels disagreed, where more than one was asked.
	Disagreement []Disagreement `json:",omitzero"`
	// Rounds are those of each question whose options were asked in groups.
	Rounds     []Rounds    `json:",omitzero"`
	Escalation *Escalation `json:",omitzero"` // nil: no second model was wanted
}

// Escalation is what a record has of a call whose first answers were doubtful (spec: escalation). The model of the ModelCall is
// the one whose answers are the result.
type Escalation struct {
	Questions []string // whose first answers were doubtful
	// ErrorCode says why the first answers are the result. It is empty if the answers of the second model are.
	ErrorCode ErrorCode `json:",omitzero"`
	// The other model: the first one, or, with an ErrorCode, the second one. Of a second model that is not configured only the
	// name is known.
	Name     string
	Provider string `json:",omitzero"`
	Model    string `json:",omitzero"` // what its upstream calls it
	FellBack bool   `json:",omitzero"` // whether it is a fallback of the model that was asked first, or of the second one
	// Answers are the bytes of `raw` of the first model when they are not the result.
	Answers []byte `json:",omitzero"`
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

// Absent are the labels of one question that were not among the tokens that the model returned (spec: absent-labels).
type Absent struct {
	Question string
	Keys     []string // of options or levels, yes, and no, in the order of the definition
}

// Rounds are the rounds in which the options of one question were asked (spec: option-groups).
type Rounds struct {
	Question string
	Rounds   []Round
}

// Round is one round of calls about a question.
type Round struct {
	// How many groups of its options were asked, each by itself.
	Groups int `json:"groups" min:"1"`
	// How many options they had together.
	Options int `json:"options" min:"1"`
}

// Disagreement is how far the orders of one question's labels disagreed (spec: order-disagreement).
type Disagreement struct {
	Question string
	Distance float64 // from 0 to 1
}
