package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Status is what every resource tells of itself.
type Status struct {
	// The generation of the spec that the conditions are about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// `Ready`: it can be used. `Synced`: Prism has what the spec says. `Drifted`: somebody else changed it in Prism.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// The types of conditions.
const (
	Ready   = "Ready"
	Synced  = "Synced"
	Drifted = "Drifted"
)

// The reasons of conditions.
const (
	ReasonSynced      = "Synced"      // Prism has what the spec says
	ReasonInSync      = "InSync"      // nobody else changed it
	ReasonChanged     = "Changed"     // somebody else changed it
	ReasonOverwritten = "Overwritten" // somebody else changed it, and that was undone
	ReasonNotAllowed  = "NotAllowed"  // the account does not list the namespace, or the kind does not count there
	ReasonNoAccount   = "NoAccount"   // there is no such account, or it is not ready yet
	ReasonInvalid     = "Invalid"     // Prism refuses the spec
	ReasonUnavailable = "Unavailable" // Prism does not answer, and is asked again
	ReasonFailed      = "Failed"      // anything else
	ReasonAbandoned   = "Abandoned"   // only of events: the object went, and what it stands for stays in Prism
)

// State is the part of the status that every resource has.
func (o *Prism) State() *Status { return &o.Status.Status }

// State is the part of the status that every resource has.
func (o *PrismKey) State() *Status { return &o.Status.Status }

// State is the part of the status that every resource has.
func (o *PrismAccount) State() *Status { return &o.Status.Status }

// State is the part of the status that every resource has.
func (o *PrismModels) State() *Status { return &o.Status.Status }

// State is the part of the status that every resource has.
func (o *PrismWebhook) State() *Status { return &o.Status.Status }

// AccountName is the name of the PrismAccount that has what the object stands for.
func (o *Prism) AccountName() string { return o.Spec.Account }

// AccountName is the name of the PrismAccount that has what the object stands for.
func (o *PrismKey) AccountName() string { return o.Spec.Account }

// AccountName is the name of the PrismAccount that has what the object stands for.
func (o *PrismWebhook) AccountName() string { return o.Spec.Account }
