// Package v1alpha1 has the custom resources of prism.dev/v1alpha1: what an account has, declared in a cluster. Members of the operator are
// in camel case; what a prism file, the API or the file of models defines has its names there, and its schema comes from there too.
//
// +kubebuilder:object:generate=true
// +groupName=prism.dev
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GroupVersion is the group of the resources, and their version.
var GroupVersion = schema.GroupVersion{Group: "prism.dev", Version: "v1alpha1"}

// AddToScheme adds the resources to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&Prism{}, &PrismList{}, &PrismKey{}, &PrismKeyList{}, &PrismAccount{}, &PrismAccountList{},
		&PrismModels{}, &PrismModelsList{}, &PrismWebhook{}, &PrismWebhookList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
