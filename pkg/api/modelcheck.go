package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// CheckModel asks a model two known questions, and says what works (spec: model-check). What that used is counted as a try is.
var CheckModel = Op[CheckModelRequest, ModelCheck]{Declaration{
	Name: "checkModel", Method: http.MethodPost, Path: "/v1/models/{name}/check", Tag: "Models", Role: prism.Owner, Class: Keyed,
	ByGateway: true, Errors: []*apierr.Error{apierr.ModelNotFound()},
}}

// CheckModelRequest is the request of CheckModel.
type CheckModelRequest struct {
	// What versions call the model.
	Name string `path:"name" parameter:"ModelName"`
}

// ModelCheck is what works of a model, as two known questions show (spec: model-check).
type ModelCheck struct {
	// What versions call the model.
	Name string `json:"name" form:"slug"`
	// Whether nothing failed.
	OK bool `json:"ok"`
	// How long the check took, in milliseconds.
	TookMS int64 `json:"took_ms" min:"0"`
	// What was looked at, in this order. What a failure hides is left out.
	Checks []CheckedPart `json:"checks" min:"1"`
}

// CheckedPart is a part of a ModelCheck.
type CheckedPart struct {
	// What was looked at.
	Part ModelPart `json:"part"`
	// Whether it works (`ok`), could work better (`doubt`), or keeps the model from answering (`failed`).
	Status PartStatus `json:"status"`
	// What was found, in words.
	Text string `json:"text"`
	// What to write in the file of models. Null if there is nothing to write.
	Write *string `json:"write"`
}

// ModelPart is what a check of a model looks at.
type ModelPart string

// The parts of a check.
const (
	PartReached          ModelPart = "reached"           // the host answers
	PartKey              ModelPart = "key"               // it takes the key
	PartRequest          ModelPart = "request"           // it takes what Prism sends
	PartJSON             ModelPart = "json"              // it answers in JSON
	PartLogProbabilities ModelPart = "log_probabilities" // it returns them
	PartThinking         ModelPart = "thinking"          // the model answers without thinking first
	PartLabelMass        ModelPart = "label_mass"        // it says one of the labels
	PartAnswers          ModelPart = "answers"           // it answers the known questions as expected
	PartOrderBias        ModelPart = "order_bias"        // the order of the options changes little
	PartTokens           ModelPart = "tokens"            // the host counts tokens
	PartTime             ModelPart = "time"              // the answer comes in half of the 15 seconds
)

// PartStatus is how a part of a check ended.
type PartStatus string

// The statuses of parts.
const (
	PartOK     PartStatus = "ok"
	PartDoubt  PartStatus = "doubt"  // it works, and could work better
	PartFailed PartStatus = "failed" // nothing is answered, or the wrong thing
)

// Values are all parts of a check.
func (ModelPart) Values() (all []string) {
	for _, p := range []ModelPart{
		PartReached, PartKey, PartRequest, PartJSON, PartLogProbabilities, PartThinking, PartLabelMass, PartAnswers, PartOrderBias, PartTokens, PartTime,
	} {
		all = append(all, string(p))
	}
	return all
}

// Values are all statuses of parts.
func (PartStatus) Values() []string {
	return []string{string(PartOK), string(PartDoubt), string(PartFailed)}
}
