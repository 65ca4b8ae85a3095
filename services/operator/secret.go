package operator

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// secretOf reads the Secret of an object; an empty one if there is none. It is an error if the Secret is not the object's: what somebody
// else keeps there is not overwritten.
func (b *base) secretOf(ctx context.Context, o kube.Object, name string) (*corev1.Secret, error) {
	s := &corev1.Secret{}
	err := b.Get(ctx, kube.ObjectKey{Namespace: o.GetNamespace(), Name: name}, s)
	switch {
	case apierrors.IsNotFound(err):
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: name}}, nil
	case err != nil:
		return nil, err
	case !metav1.IsControlledBy(s, o):
		return nil, &Problem{
			Reason: v1alpha1.ReasonInvalid, Text: "the Secret " + name + " exists and belongs to something else", Unusable: true,
		}
	}
	return s, nil
}

// writeSecret writes the Secret of an object, if it is as it was read: else it is an error, and somebody else's write counts.
func (b *base) writeSecret(ctx context.Context, o kube.Object, s *corev1.Secret) error {
	if s.ResourceVersion != "" {
		return b.Update(ctx, s)
	}
	s.Type = corev1.SecretTypeOpaque
	s.Labels = map[string]string{"app.kubernetes.io/managed-by": "prism-operator"}
	if err := controllerutil.SetControllerReference(o, s, b.Scheme()); err != nil {
		return err
	}
	return b.Create(ctx, s)
}

// record writes the status of an object at once, if nobody else has changed the object since it was read. What happens next relies on it.
func (b *base) record(ctx context.Context, o kube.Object) error { return b.Status().Update(ctx, o) }
