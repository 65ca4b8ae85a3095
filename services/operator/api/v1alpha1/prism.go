package v1alpha1

import (
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Prism is a prism of an account: questions about some text fields, and the columns that show their answers.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=prisms,scope=Namespaced,categories=prism-dev
// +kubebuilder:printcolumn:name="Slug",type=string,JSONPath=`.spec.slug`
// +kubebuilder:printcolumn:name="Account",type=string,JSONPath=`.spec.account`
// +kubebuilder:printcolumn:name="Version",type=integer,JSONPath=`.status.latestVersion`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Synced",type=string,JSONPath=`.status.conditions[?(@.type=="Synced")].status`
// +kubebuilder:printcolumn:name="Drifted",type=string,JSONPath=`.status.conditions[?(@.type=="Drifted")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Synced")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Prism struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              PrismSpec `json:"spec"`
	// +optional
	Status PrismStatus `json:"status,omitzero"`
}

// PrismList is a list of prisms.
//
// +kubebuilder:object:root=true
type PrismList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Prism `json:"items"`
}

// PrismSpec is a prism file and what the operator does with it.
//
// +kubebuilder:validation:XValidation:rule="self.slug == oldSelf.slug",message="slug can't change: make another Prism"
// +kubebuilder:validation:XValidation:rule="self.account == oldSelf.account",message="account can't change: make another Prism"
type PrismSpec struct {
	// The PrismAccount in the release's namespace that has the prism.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Account string `json:"account"`
	// What happens to the prism when this object is deleted: `Retain` leaves it as it is, `Archive` archives it.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
	// What happens when somebody else changes the prism in Prism: `Warn` tells, `Overwrite` undoes.
	// +optional
	// +kubebuilder:default=Warn
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`
	// Days after which results are deleted. Without it, retention is not managed here.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3650
	RetentionDays *int32 `json:"retentionDays,omitempty"`
	// Whether answers are watched for drift, with the first 2,000 results of the latest version as the reference. Without it, that is not managed here.
	// +optional
	Drift *PrismDrift `json:"drift,omitempty"`

	Definition `json:",inline"`
}

// Definition is what a prism file has; docs/schemas/prism.schema.json is its schema.
type Definition struct {
	Slug         string               `json:"slug"`
	Name         *string              `json:"name,omitempty"`
	Searchable   *bool                `json:"searchable,omitempty"`
	Instructions *string              `json:"instructions,omitempty"`
	Model        *string              `json:"model,omitempty"`
	Escalate     *apiextensions.JSON  `json:"escalate,omitempty"`
	Fields       []apiextensions.JSON `json:"fields"`
	Questions    []apiextensions.JSON `json:"questions"`
	Examples     []apiextensions.JSON `json:"examples,omitempty"`
	Lens         *apiextensions.JSON  `json:"lens,omitempty"`
}

// DeletionPolicy is what happens to a prism whose object is deleted.
//
// +kubebuilder:validation:Enum=Retain;Archive
type DeletionPolicy string

// The policies.
const (
	Retain  DeletionPolicy = "Retain"
	Archive DeletionPolicy = "Archive"
)

// DriftPolicy is what happens when somebody else changes a prism.
//
// +kubebuilder:validation:Enum=Warn;Overwrite
type DriftPolicy string

// The policies.
const (
	Warn      DriftPolicy = "Warn"
	Overwrite DriftPolicy = "Overwrite"
)

// PrismDrift is whether answers are watched for drift.
type PrismDrift struct {
	// Whether answers are counted.
	Watched bool `json:"watched"`
}

// PrismStatus is what Prism has.
type PrismStatus struct {
	Status `json:",inline"`
	// The id of the prism.
	// +optional
	ID string `json:"id,omitempty"`
	// The version that answers.
	// +optional
	LatestVersion int `json:"latestVersion,omitempty"`
	// The hash of what was applied last: the definition, the Lens and what else the spec says.
	// +optional
	VersionHash string `json:"versionHash,omitempty"`
	// The hashes of what a change that has not been told of yet makes of the prism, so that it is known as the operator's own.
	// +optional
	// +listType=set
	Pending []string `json:"pending,omitempty"`
}
