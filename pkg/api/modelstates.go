package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/prism"
)

// ListModelStates says how the configured models do, which model-proxy knows (spec: model-states).
var ListModelStates = Op[ListModelStatesRequest, ModelStateList]{Declaration{
	Name: "listModelStates", Method: http.MethodGet, Path: "/v1/models/states", Tag: "Models", Role: prism.Owner, Class: Keyed, ByGateway: true,
}}

// ListModelStatesRequest is the request of ListModelStates.
type ListModelStatesRequest struct{}

// ModelStateList is the states of all configured models.
type ModelStateList struct {
	// The states, in the order of the configuration.
	Data []ModelState `json:"data" min:"1"`
}

// ModelState is how a configured model does, as the process that answers sees it.
type ModelState struct {
	// What versions call the model.
	Name string `json:"name" form:"slug"`
	// Whether calls go to the model (`asked`), its circuit breaker skips it (`skipped`), one call shows whether it answers again
	// (`on_trial`), or it is passed over for want of a balance (`no_balance`).
	State ModelStatus `json:"state"`
	// How many calls have a place, of all accounts.
	Running int `json:"running" min:"0"`
	// How many calls may have a place at once. Null if there is no bound.
	MaxInFlight *int `json:"max_in_flight" min:"1"`
	// The last failures of the model since the start of the process, newest first. What says something of a text alone is left out.
	Failures []ModelFailure `json:"failures" max:"10"`
}

// ModelStatus is whether a model is asked.
type ModelStatus string

// The states of models.
const (
	ModelAsked     ModelStatus = "asked"
	ModelOnTrial   ModelStatus = "on_trial"   // one call shows whether it answers again
	ModelSkipped   ModelStatus = "skipped"    // by its circuit breaker, while another one is left
	ModelNoBalance ModelStatus = "no_balance" // passed over for a minute
)

// Values are all states of models.
func (ModelStatus) Values() []string {
	return []string{string(ModelAsked), string(ModelOnTrial), string(ModelSkipped), string(ModelNoBalance)}
}

// ModelFailure is a call of a model that failed.
type ModelFailure struct {
	// The class of the failure.
	Reason FailureClass `json:"reason"`
	// When the call ended.
	At Time `json:"at"`
}

// FailureClass is a kind of failure that says something of a model (spec: failure-classes).
type FailureClass string

// The classes of failures.
const (
	FailedUnavailable FailureClass = "unavailable" // not reached, or not ready
	FailedLimited     FailureClass = "limited"     // too many calls for the host
	FailedExhausted   FailureClass = "exhausted"   // no balance left
	FailedKey         FailureClass = "refused_key" // the host refused the key
	FailedNotFound    FailureClass = "not_found"   // the host does not know the model
	FailedParameter   FailureClass = "parameter"   // the host refused a parameter, or the call
	FailedUnreadable  FailureClass = "unreadable"  // the host did not answer in JSON
)

// Values are all classes of failures of a model.
func (FailureClass) Values() (all []string) {
	for _, c := range []FailureClass{
		FailedUnavailable, FailedLimited, FailedExhausted, FailedKey, FailedNotFound, FailedParameter, FailedUnreadable,
	} {
		all = append(all, string(c))
	}
	return all
}
