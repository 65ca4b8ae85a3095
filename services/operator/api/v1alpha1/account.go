package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PrismAccount is an account. It counts only in the release's namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=prismaccounts,scope=Namespaced,categories=prism-dev
// +kubebuilder:printcolumn:name="Name",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Synced",type=string,JSONPath=`.status.conditions[?(@.type=="Synced")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Synced")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PrismAccount struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              PrismAccountSpec `json:"spec"`
	// +optional
	Status PrismAccountStatus `json:"status,omitzero"`
}

// PrismAccountList is a list of accounts.
//
// +kubebuilder:object:root=true
type PrismAccountList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PrismAccount `json:"items"`
}

// PrismAccountSpec is an account, its limits, its members, and who may use it.
//
// +kubebuilder:validation:XValidation:rule="self.name == oldSelf.name",message="name can't change: make another PrismAccount"
type PrismAccountSpec struct {
	// What the account is called in Prism.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Name string `json:"name"`
	// The limits of the account: one that is not given, it does not have. Without it, limits stay as they are.
	// +optional
	Limits *AccountLimits `json:"limits,omitempty"`
	// The rules that the account has, and no others: who signs in with the claim, or by a provider with the address, becomes a member.
	// Members who were invited stay. Without it, rules stay as they are.
	// +optional
	// +kubebuilder:validation:MaxItems=200
	// +listType=map
	// +listMapKey=name
	Members []AccountMember `json:"members,omitempty"`
	// The namespaces whose prisms, keys and webhooks may be of this account.
	// +optional
	// +kubebuilder:validation:MaxItems=1000
	// +listType=set
	AllowedNamespaces []NamespaceName `json:"allowedNamespaces,omitempty"`
}

// NamespaceName is the name of a namespace.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
type NamespaceName string

// AccountLimits are the limits of an account; the schema is that of the API.
type AccountLimits struct {
	RequestsPerSecond *int64 `json:"requests_per_second,omitempty"`
	Concurrency       *int64 `json:"concurrency,omitempty"`
	ResultsPerDay     *int64 `json:"results_per_day,omitempty"`
	StoredBytes       *int64 `json:"stored_bytes,omitempty"`
}

// AccountMember is a member to invite, or with `claim` a rule; the schema is that of the API.
type AccountMember struct {
	Name  string       `json:"name"`
	Email *string      `json:"email,omitempty"`
	Role  string       `json:"role"`
	Claim *MemberClaim `json:"claim,omitempty"`
}

// MemberClaim is a claim of a provider of OpenID Connect.
type MemberClaim struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// PrismAccountStatus is the account in Prism.
type PrismAccountStatus struct {
	Status `json:",inline"`
	// The id of the account.
	// +optional
	ID string `json:"id,omitempty"`
}
