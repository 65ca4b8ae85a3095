package operator

import (
	"context"
	"fmt"
	"log/slog"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

const (
	// releasePage is how many objects are listed at once.
	releasePage = 500
	// releaseTries is how often objects that somebody else changes meanwhile are looked at.
	releaseTries = 10
)

// ReleaseUsage is the text of --help about the command release.
const ReleaseUsage = "  release  take the operator's finalizer from all custom resources, so that they can be deleted when no operator runs any more\n"

// Release takes the finalizer of the operator from every object in the namespaces, all if there are none, so that objects can be deleted when
// no operator runs any more (spec: declared-deletion). What they stand for stays in Prism. A running operator would give the finalizers back.
func Release(ctx context.Context, cluster *rest.Config, namespaces []string, log *slog.Logger) error {
	c, err := kube.New(cluster, kube.Options{Scheme: Scheme()})
	if err != nil {
		return fmt.Errorf("operator: %w", err)
	}
	return releaseIn(ctx, c, namespaces, log)
}

func releaseIn(ctx context.Context, c kube.Client, namespaces []string, log *slog.Logger) error {
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, kind := range kinds {
		for _, namespace := range namespaces {
			released, err := releaseKind(ctx, c, kind, namespace)
			if err != nil {
				return fmt.Errorf("operator: releasing each %s: %w", kind, err)
			}
			if released > 0 {
				log.InfoContext(ctx, "objects released", "kind", kind, "namespace", namespace, "objects", released)
			}
		}
	}
	return nil
}

// releaseKind returns how many objects of a kind had the finalizer.
func releaseKind(ctx context.Context, c kube.Client, kind, namespace string) (released int, err error) {
	for range releaseTries {
		var n int
		n, err = releaseAll(ctx, c, kind, namespace)
		released += n
		if !apierrors.IsConflict(err) && !apierrors.IsResourceExpired(err) {
			break
		}
	}
	if meta.IsNoMatchError(err) { // the kind is gone, and all its objects with it
		return 0, nil
	}
	return released, err
}

func releaseAll(ctx context.Context, c kube.Client, kind, namespace string) (released int, err error) {
	gvk := v1alpha1.GroupVersion.WithKind(kind)
	page := &metav1.PartialObjectMetadataList{}
	for {
		page.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind + "List"))
		if err := c.List(ctx, page, kube.InNamespace(namespace), kube.Limit(releasePage), kube.Continue(page.Continue)); err != nil {
			return released, err
		}
		for i := range page.Items {
			o := &page.Items[i]
			o.SetGroupVersionKind(gvk)
			before := o.DeepCopy()
			if !controllerutil.RemoveFinalizer(o, finalizer) {
				continue
			}
			err := c.Patch(ctx, o, kube.MergeFromWithOptions(before, kube.MergeFromWithOptimisticLock{}))
			if kube.IgnoreNotFound(err) != nil {
				return released, err
			}
			released++
		}
		if page.Continue == "" {
			return released, nil
		}
	}
}
