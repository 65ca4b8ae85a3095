package v1alpha1

import (
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PrismModels is the file of models. It counts only in the release's namespace, where only the oldest one does.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=prismmodels,scope=Namespaced,categories=prism-dev
// +kubebuilder:printcolumn:name="Default",type=string,JSONPath=`.spec.default`
// +kubebuilder:printcolumn:name="Loaded",type=string,JSONPath=`.status.loadedBy`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Synced",type=string,JSONPath=`.status.conditions[?(@.type=="Synced")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Synced")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PrismModels struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              PrismModelsSpec `json:"spec"`
	// +optional
	Status PrismModelsStatus `json:"status,omitzero"`
}

// PrismModelsList is a list of files of models.
//
// +kubebuilder:object:root=true
type PrismModelsList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PrismModels `json:"items"`
}

// PrismModelsSpec is the file of models; docs/providers.md has its members.
//
// +kubebuilder:validation:XValidation:rule="self.models.exists(m, m.name == self.default)",message="default must be the name of a model"
type PrismModelsSpec struct {
	// The name of the default model.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Default string `json:"default"`
	// The models.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	Models []apiextensions.JSON `json:"models"`
}

// PrismModelsStatus is the file that the operator wrote for model-proxy, and who uses it.
type PrismModelsStatus struct {
	Status `json:",inline"`
	// The hash of the file.
	// +optional
	Hash string `json:"hash,omitempty"`
	// How many Pods of model-proxy use the file with this hash, of how many there are, as `2/2`. Empty while that is not known.
	// +optional
	LoadedBy string `json:"loadedBy,omitempty"`
}
