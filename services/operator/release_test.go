package operator

import (
	"context"
	"log/slog"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// spec: declared-deletion
func TestReleasedObjectsCanBeDeletedWithoutAnOperator(t *testing.T) {
	t.Parallel()
	for _, namespaces := range [][]string{nil, {release, team}} {
		conflicts := 3
		c := fake.NewClientBuilder().WithScheme(Scheme()).WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c kube.WithWatch, o kube.Object, patch kube.Patch, with ...kube.PatchOption) error {
				if conflicts--; conflicts >= 0 {
					return apierrors.NewConflict(schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: "prisms"}, o.GetName(), nil)
				}
				return c.Patch(ctx, o, patch, with...)
			},
		}).Build()
		objects := []kube.Object{
			&v1alpha1.Prism{ObjectMeta: metaOf("a", team)}, &v1alpha1.PrismKey{ObjectMeta: metaOf("a", team)},
			&v1alpha1.PrismWebhook{ObjectMeta: metaOf("a", team)}, &v1alpha1.PrismKey{ObjectMeta: metaOf("a", release)},
			&v1alpha1.PrismKey{ObjectMeta: metaOf("a", other)}, &v1alpha1.PrismAccount{ObjectMeta: metaOf("free", release)},
		}
		for _, o := range objects {
			if o.GetName() != "free" {
				o.SetFinalizers([]string{finalizer})
			}
			if err := c.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		theirs := &v1alpha1.Prism{ObjectMeta: metav1.ObjectMeta{Name: "theirs", Namespace: team, Finalizers: []string{"example.com/theirs", finalizer}}}
		if err := c.Create(t.Context(), theirs); err != nil {
			t.Fatal(err)
		}
		// It hangs already.
		if err := c.Delete(t.Context(), objects[0].DeepCopyObject().(kube.Object)); err != nil {
			t.Fatal(err)
		}
		for range 2 { // a repeat changes nothing
			if err := releaseObjects(t, c, namespaces); err != nil {
				t.Fatal(err)
			}
		}
		for i, o := range objects {
			if i > 0 {
				if err := c.Delete(t.Context(), o.DeepCopyObject().(kube.Object)); err != nil {
					t.Fatal(err)
				}
			}
			gone := apierrors.IsNotFound(c.Get(t.Context(), kube.ObjectKeyFromObject(o), o))
			if want := o.GetNamespace() != other || namespaces == nil; gone != want {
				t.Errorf("%T %s/%s of %v is gone: %v", o, o.GetNamespace(), o.GetName(), namespaces, gone)
			}
		}
		if err := c.Get(t.Context(), kube.ObjectKeyFromObject(theirs), theirs); err != nil || len(theirs.Finalizers) != 1 || theirs.Finalizers[0] != "example.com/theirs" {
			t.Errorf("the finalizers are %v, %v", theirs.Finalizers, err)
		}
	}
}

func TestNothingIsReleasedWithoutCustomResources(t *testing.T) {
	t.Parallel()
	c := fake.NewClientBuilder().WithScheme(Scheme()).WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, kube.WithWatch, kube.ObjectList, ...kube.ListOption) error {
			return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: "Prism"}}
		},
	}).Build()
	if err := releaseObjects(t, c, nil); err != nil {
		t.Error(err)
	}
}

func releaseObjects(t *testing.T, c kube.Client, namespaces []string) error {
	t.Helper()
	return releaseIn(t.Context(), c, namespaces, slog.New(slog.DiscardHandler))
}
