package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PrismWebhook is a URL to which events of an account are sent.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=prismwebhooks,scope=Namespaced,categories=prism-dev
// +kubebuilder:printcolumn:name="Account",type=string,JSONPath=`.spec.account`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.spec.url`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Synced",type=string,JSONPath=`.status.conditions[?(@.type=="Synced")].status`
// +kubebuilder:printcolumn:name="Drifted",type=string,JSONPath=`.status.conditions[?(@.type=="Drifted")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Synced")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PrismWebhook struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              PrismWebhookSpec `json:"spec"`
	// +optional
	Status PrismWebhookStatus `json:"status,omitzero"`
}

// PrismWebhookList is a list of webhooks.
//
// +kubebuilder:object:root=true
type PrismWebhookList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PrismWebhook `json:"items"`
}

// PrismWebhookSpec is a webhook as the API has it, and where its secret is.
//
// +kubebuilder:validation:XValidation:rule="self.account == oldSelf.account",message="account can't change: make another PrismWebhook"
// +kubebuilder:validation:XValidation:rule="self.secretName == oldSelf.secretName",message="secretName can't change: make another PrismWebhook"
type PrismWebhookSpec struct {
	// The PrismAccount in the release's namespace that has the webhook.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Account string `json:"account"`
	// The Secret of this namespace that has what events are signed with, as `PRISM_WEBHOOK_SECRET`. The operator makes it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName"`

	Webhook `json:",inline"`
}

// Webhook is what a webhook sends, and where; the schema is that of the API.
type Webhook struct {
	URL       string            `json:"url"`
	Events    []string          `json:"events"`
	Prisms    []string          `json:"prisms,omitempty"`
	Status    *string           `json:"status,omitempty"`
	Condition *WebhookCondition `json:"condition,omitempty"`
	Answers   *bool             `json:"answers,omitempty"`
	RunRows   *bool             `json:"run_rows,omitempty"`
	Enabled   *bool             `json:"enabled,omitempty"`
}

// WebhookCondition is a condition on the Lens of the prism of a result.
type WebhookCondition struct {
	Column string `json:"column"`
	Op     string `json:"op"`
	Value  string `json:"value"`
}

// PrismWebhookStatus is the webhook in Prism.
type PrismWebhookStatus struct {
	Status `json:",inline"`
	// The id of the webhook.
	// +optional
	ID string `json:"id,omitempty"`
	// Set while the webhook is being made, or gets another secret.
	// +optional
	Pending *PendingWebhook `json:"pending,omitempty"`
}

// PendingWebhook is a webhook, or a secret of it, that the Secret does not have yet.
type PendingWebhook struct {
	// When it was begun.
	Since metav1.Time `json:"since"`
	// How often it was tried.
	Try int64 `json:"try"`
}
