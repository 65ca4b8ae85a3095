package operator

import (
	"cmp"
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// kinds are the names of the kinds.
var kinds = []string{"Prism", "PrismAccount", "PrismKey", "PrismModels", "PrismWebhook"}

// Scheme has the types that the operator reads and writes.
func Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(s), v1alpha1.AddToScheme(s)); err != nil {
		panic("operator: the types are broken: " + err.Error())
	}
	return s
}

// Object is a custom resource.
type Object interface {
	kube.Object
	State() *v1alpha1.Status
}

// owned is an object of an account.
type owned interface {
	Object
	AccountName() string
}

// Kind is what the operator does for the objects of one kind. Its errors become conditions: a *Problem as it says, an error of Prism by its
// code, and any other one as a failure that is tried again.
type Kind[T Object] interface {
	// Sync has Prism be as the object says, and fills its status. It is called again when the object or its account changes, and after a
	// pause; 0 means Config.Resync.
	Sync(ctx context.Context, o T) (again time.Duration, err error)
	// Ends tells whether there is something to end in Prism when the object is deleted.
	Ends(o T) bool
	// End ends it. What is not there is no error. After abandonAfter of errors it is left as it is.
	End(ctx context.Context, o T) error
}

// older tells which of two objects counts, if one alone can: the older one, and of two of one second the first by namespace and name.
func older(a, b kube.Object) bool {
	at, other := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if at.Equal(&other) {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName())) < 0
	}
	return at.Before(&other)
}

// items are the objects of a list that are of accounts.
func items(list kube.ObjectList) (all []owned) {
	switch l := list.(type) {
	case *v1alpha1.PrismList:
		for i := range l.Items {
			all = append(all, &l.Items[i])
		}
	case *v1alpha1.PrismKeyList:
		for i := range l.Items {
			all = append(all, &l.Items[i])
		}
	case *v1alpha1.PrismWebhookList:
		for i := range l.Items {
			all = append(all, &l.Items[i])
		}
	}
	return all
}
