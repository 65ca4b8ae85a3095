package contract

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// ModelWait is how long a call to the model may take over all its attempts (contract 8).
const ModelWait = 15 * time.Second

// TimeoutText is the error text of a result whose model took longer than ModelWait (decisions 4).
const TimeoutText = "The model did not answer within 15 seconds."

// UnreachableText is the error text of a result whose model could not be reached (decisions 4).
const UnreachableText = "The model service could not be reached."

// Models is the decision model.
type Models interface {
	// Ask puts all questions to the model and answers within ModelWait whatever the model does. Every fault of the
	// model is an Outcome; an error means that the model was not called (ErrUnavailable) or that nobody knows.
	Ask(ctx context.Context, a Ask) (Outcome, error)
}

// Ask is the questions of a version and the input to answer them from.
type Ask struct {
	Definition prism.Definition
	Hash       prism.DefinitionHash `json:",omitzero"` // of Definition; zero when nobody computed it
	Fields     []prism.FieldValue   // in the version's order
	Context    string
}

// Outcome is a model's answer, or why there is none.
type Outcome struct {
	// Answers are the bytes of `raw` (see answerjson); nil when the call failed.
	Answers []byte `json:",omitzero"`
	// Error says in words why the call failed; empty when it did not. It holds no upstream body, key, address or value.
	Error  string
	TookMS int64
}

// Failed tells whether the model gave no usable answer.
func (o Outcome) Failed() bool { return o.Error != "" }
