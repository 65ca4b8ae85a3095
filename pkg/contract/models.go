package contract

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// ModelWait is how long a call to the model may take over all its attempts (spec: model-wait).
const ModelWait = 15 * time.Second

// TimeoutText is the error text of a result whose model took longer than ModelWait (spec: error-texts).
const TimeoutText = "The model did not answer within 15 seconds."

// UnreachableText is the error text of a result whose model could not be reached (spec: error-texts).
const UnreachableText = "The model service could not be reached."

// Models is the decision model.
type Models interface {
	// Ask puts all questions to the model and returns within ModelWait, whatever the model does (spec: model-wait-is-hard).
	// Every fault of the model is an Outcome. ErrUnavailable means that no model was called: a call in the background that found
	// no place for some seconds gets it too. After any other error it is not known whether a model was called.
	Ask(ctx context.Context, a Ask) (Outcome, error)
	// List is the configured models in the order of the configuration, at least one: exactly one is the default.
	List(ctx context.Context) ([]api.Model, error)
	// States are how the models do, in the same order, as this process sees it.
	States(ctx context.Context) ([]api.ModelState, error)
	// Check asks the model with the name two known questions (spec: model-check). It returns apierr.ModelNotFound if none has it, and
	// ErrUnavailable if the model is being checked already or has no place.
	Check(ctx context.Context, name string) (ModelCheck, error)
}

// ModelCheck is what a check of a model found.
type ModelCheck struct {
	Found api.ModelCheck
	// Definition is what was asked, and Outcome how that ended, with all that the check used.
	Definition prism.Definition
	Outcome    Outcome
}

// Ask is the questions of a version and the input to answer them from.
type Ask struct {
	Definition prism.Definition
	Hash       prism.DefinitionHash `json:",omitzero"` // of Definition; zero when nobody computed it
	Fields     []prism.FieldValue   // in the version's order
	Context    string               `json:",omitzero"`
	// Background: nobody waits for the answer, so calls that somebody waits for have the model's places first
	// (spec: run-leaves-places).
	Background bool `json:",omitzero"`
}

// Outcome is the answers of a model, or why there are none.
type Outcome struct {
	// Answers are the bytes of `raw` (see answerjson); nil when the call failed.
	Answers []byte `json:",omitzero"`
	// Error says in words why the call failed; empty when it did not. It holds no secret
	// (spec: error-texts-hold-no-secrets).
	Error  string `json:",omitzero"`
	TookMS int64
	// Call is what the record keeps of the call.
	Call *prism.ModelCall `json:",omitzero"`
	// Overloaded: a model had too much to do, whether or not it answered in the end, so fewer calls at once are better
	// (spec: run-slows-down).
	Overloaded bool `json:",omitzero"`
	// CallsCome: calls that somebody waits for come too, so those in the background give way (spec: run-yields). Only calls in the
	// background learn it.
	CallsCome bool `json:",omitzero"`
}

// Failed tells whether the model gave no usable answer.
func (o Outcome) Failed() bool { return o.Error != "" }

// HashOfModels is the hash by which the operator and model-proxy speak of a file of models: the first 16 bytes of its SHA-256, in hexadecimal
// digits (spec: declared-models).
func HashOfModels(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:16])
}
