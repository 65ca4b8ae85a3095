package operator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

const (
	// managedByLabel is on the Secrets and ConfigMaps of the operator. It watches no other Secrets.
	managedByLabel, managedBy = "app.kubernetes.io/managed-by", "prism-operator"
	// digestAnnotation has the digest of the secret that the operator put into a Secret. The secrets are random, so it tells nothing of them.
	digestAnnotation = "prism.dev/digest"
)

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// intact tells whether a member of a Secret has what the operator wrote there.
func intact(s *corev1.Secret, member string) bool {
	return len(s.Data[member]) > 0 && s.Annotations[digestAnnotation] == digest(s.Data[member])
}

// labelled tells whether the operator is told when somebody else changes a Secret.
func labelled(s *corev1.Secret) bool { return s.Labels[managedByLabel] == managedBy }

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

// writeSecret writes the Secret of an object, if it is as it was read: else it is an error, and somebody else's write counts. What
// intact is asked of is in the member.
func (b *base) writeSecret(ctx context.Context, o kube.Object, s *corev1.Secret, member string) error {
	metav1.SetMetaDataLabel(&s.ObjectMeta, managedByLabel, managedBy)
	metav1.SetMetaDataAnnotation(&s.ObjectMeta, digestAnnotation, digest(s.Data[member]))
	if s.ResourceVersion != "" {
		return b.Update(ctx, s)
	}
	s.Type = corev1.SecretTypeOpaque
	if err := controllerutil.SetControllerReference(o, s, b.Scheme()); err != nil {
		return err
	}
	return b.Create(ctx, s)
}

// record writes the status of an object at once, if nobody else has changed the object since it was read. What happens next relies on it.
func (b *base) record(ctx context.Context, o kube.Object) error { return b.Status().Update(ctx, o) }
