package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PrismKey is an API key in a Secret, with `PRISM_URL` and `PRISM_API_KEY`.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=prismkeys,scope=Namespaced,categories=prism-dev
// +kubebuilder:printcolumn:name="Account",type=string,JSONPath=`.spec.account`
// +kubebuilder:printcolumn:name="Role",type=string,JSONPath=`.spec.role`
// +kubebuilder:printcolumn:name="Secret",type=string,JSONPath=`.spec.secretName`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Expires",type=string,JSONPath=`.status.expiresAt`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Synced")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PrismKey struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              PrismKeySpec `json:"spec"`
	// +optional
	Status PrismKeyStatus `json:"status,omitzero"`
}

// PrismKeyList is a list of keys.
//
// +kubebuilder:object:root=true
type PrismKeyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PrismKey `json:"items"`
}

// PrismKeySpec is what a key may do, for how long, and where it is.
//
// +kubebuilder:validation:XValidation:rule="self.account == oldSelf.account",message="account can't change: make another PrismKey"
// +kubebuilder:validation:XValidation:rule="self.secretName == oldSelf.secretName",message="secretName can't change: make another PrismKey"
// +kubebuilder:validation:XValidation:rule="!has(self.rotateEvery) || duration(self.rotateEvery) >= duration('1m')",message="rotateEvery must be at least 1m"
// +kubebuilder:validation:XValidation:rule="!has(self.expiresIn) || duration(self.expiresIn) >= duration('1m')",message="expiresIn must be at least 1m"
// +kubebuilder:validation:XValidation:rule="!has(self.overlap) || duration(self.overlap) >= duration('0s')",message="overlap must not be negative"
// +kubebuilder:validation:XValidation:rule="!has(self.rotateEvery) || !has(self.expiresIn) || duration(self.expiresIn) >= duration(self.rotateEvery) + (has(self.overlap) ? duration(self.overlap) : duration('1h'))",message="expiresIn must be at least rotateEvery and overlap together, or keys end while they are used"
type PrismKeySpec struct {
	// The PrismAccount in the release's namespace that the key is of.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Account string `json:"account"`
	// What the key may do.
	// +kubebuilder:validation:Enum=editor;caller;labeller;reader
	Role string `json:"role"`
	// How long each key is valid, such as `720h`. Without it, a key is valid until it is replaced.
	// +optional
	ExpiresIn *metav1.Duration `json:"expiresIn,omitempty"`
	// The Secret of this namespace that has the key. The operator makes it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName"`
	// How often a new key replaces the one in the Secret, such as `168h`. Without it, none does.
	// +optional
	RotateEvery *metav1.Duration `json:"rotateEvery,omitempty"`
	// How long a replaced key is still valid.
	// +optional
	// +kubebuilder:default="1h"
	Overlap *metav1.Duration `json:"overlap,omitempty"`
}

// PrismKeyStatus is the key that the Secret has.
type PrismKeyStatus struct {
	Status `json:",inline"`
	// The id of the key.
	// +optional
	KeyID string `json:"keyID,omitempty"`
	// When the key ends.
	// +optional
	ExpiresAt *metav1.Time `json:"expiresAt,omitempty"`
	// The id of the account that the keys are of.
	// +optional
	AccountID string `json:"accountID,omitempty"`
	// The id of the key that is being made.
	// +optional
	PendingKeyID string `json:"pendingKeyID,omitempty"`
	// When the key was made.
	// +optional
	IssuedAt *metav1.Time `json:"issuedAt,omitempty"`
	// The keys that were replaced and are still valid.
	// +optional
	// +listType=map
	// +listMapKey=keyID
	Replaced []ReplacedKey `json:"replaced,omitempty"`
}

// ReplacedKey is a key that was replaced.
type ReplacedKey struct {
	// The id of the key.
	KeyID string `json:"keyID"`
	// When the operator revokes it.
	RevokeAt metav1.Time `json:"revokeAt"`
}
