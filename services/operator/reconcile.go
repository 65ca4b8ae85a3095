package operator

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

const (
	// finalizer holds back the deletion of an object until what it stands for is ended in Prism, or abandonAfter is over.
	finalizer = "prism.dev/operator"
	// abandonAfter is how long a deletion waits for Prism (spec: declared-deletion).
	abandonAfter = 2 * time.Minute
	// maxText bounds the text of a condition; the API server takes 32,768 characters.
	maxText = 4096
)

// Accounts call the public API for accounts.
type Accounts interface {
	// Client calls as the operator's own credential of the account with the role, an editor's or an owner's. Its error is a *Problem while there is none.
	Client(ctx context.Context, account *v1alpha1.PrismAccount, role prism.Role) (*client.Client, error)
}

// base is what the kinds share.
type base struct {
	kube.Client
	cfg      Config
	accounts Accounts
	events   events.EventRecorder
	metrics  *metrics
	log      *slog.Logger
	now      func() time.Time
}

// client calls as an editor for the account of an object.
func (b *base) client(ctx context.Context, o owned) (*client.Client, error) {
	a, err := b.account(ctx, o)
	if err != nil {
		return nil, err
	}
	return b.accounts.Client(ctx, a, prism.Editor)
}

// account is the account of an object, if the account lists its namespace (spec: declared-namespaces). If it does not, the account comes
// with the error.
func (b *base) account(ctx context.Context, o owned) (*v1alpha1.PrismAccount, error) {
	a := &v1alpha1.PrismAccount{}
	err := b.Get(ctx, kube.ObjectKey{Namespace: b.cfg.Namespace, Name: o.AccountName()}, a)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	// The same answer whether there is the account or not: a namespace learns nothing of accounts that are not its own.
	refusal := notAllowed("no PrismAccount %s of the namespace %s allows the namespace %s", o.AccountName(), b.cfg.Namespace, o.GetNamespace())
	switch {
	case err != nil:
		return nil, refusal
	case !slices.Contains(a.Spec.AllowedNamespaces, v1alpha1.NamespaceName(o.GetNamespace())):
		return a, refusal
	}
	return a, nil
}

// reconciler makes a Kind a reconciler of controller-runtime.
type reconciler[T Object] struct {
	*base
	name string // of the kind, for metrics
	make func() T
	kind Kind[T]
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler[T]) Reconcile(ctx context.Context, q ctrl.Request) (ctrl.Result, error) {
	o := r.make()
	if err := r.Get(ctx, q.NamespacedName, o); err != nil {
		if apierrors.IsNotFound(err) {
			r.metrics.gone(r.name, q.String())
		}
		return ctrl.Result{}, kube.IgnoreNotFound(err)
	}
	defer r.metrics.observe(r.name, time.Now())
	if !o.GetDeletionTimestamp().IsZero() {
		return r.end(ctx, o)
	}
	if err := r.hold(ctx, o); err != nil {
		return ctrl.Result{}, err
	}
	before := o.DeepCopyObject().(T)
	again, err := r.kind.Sync(ctx, o)
	if apierrors.IsConflict(err) {
		return ctrl.Result{}, err // somebody has written since it was read, often this operator a moment ago: nothing to tell of
	}
	r.tell(o, err)
	r.announce(before, o)
	if !reflect.DeepEqual(before, o) {
		// Not what somebody else wrote meanwhile: what a status says was made is relied on.
		if failed := r.Status().Update(ctx, o); failed != nil {
			return ctrl.Result{}, kube.IgnoreNotFound(failed)
		}
	}
	if err == nil {
		r.metrics.done(r.name, q.String(), v1alpha1.ReasonSynced)
		return ctrl.Result{RequeueAfter: jitter(cmp.Or(again, r.cfg.Resync))}, nil
	}
	p := problemOf(err)
	r.metrics.done(r.name, q.String(), p.Reason)
	switch {
	case !p.Retry:
		return ctrl.Result{RequeueAfter: jitter(r.cfg.Resync)}, nil
	case p.After > 0:
		return ctrl.Result{RequeueAfter: jitter(p.After)}, nil
	default:
		return ctrl.Result{}, err
	}
}

// jitter keeps objects that were synced together, as at the start, from being so for ever.
func jitter(d time.Duration) time.Duration {
	return d + rand.N(d/4+1) //nolint:gosec // no secret
}

// hold gives an object the finalizer, or takes it, as its kind says.
func (r *reconciler[T]) hold(ctx context.Context, o T) error {
	before := o.DeepCopyObject().(T)
	var changed bool
	if r.kind.Ends(o) {
		changed = controllerutil.AddFinalizer(o, finalizer)
	} else {
		changed = controllerutil.RemoveFinalizer(o, finalizer)
	}
	if !changed {
		return nil
	}
	return r.Patch(ctx, o, kube.MergeFromWithOptions(before, kube.MergeFromWithOptimisticLock{}))
}

// end ends in Prism what a deleted object stands for, and lets the object go: also if Prism is away, after a while, since the deletion of a
// namespace waits for it.
func (r *reconciler[T]) end(ctx context.Context, o T) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(o, finalizer) {
		return ctrl.Result{}, nil
	}
	err := r.kind.End(ctx, o)
	if err != nil {
		left := o.GetDeletionTimestamp().Add(abandonAfter).Sub(r.now())
		if p := problemOf(err); left > 0 && p.Reason != v1alpha1.ReasonNotAllowed {
			r.log.WarnContext(ctx, "ending a deleted object failed", "kind", r.name, "namespace", o.GetNamespace(), "name", o.GetName(), "error", err)
			return ctrl.Result{RequeueAfter: min(left, jitter(5*time.Second))}, nil
		}
		r.metrics.abandoned(r.name)
		r.log.WarnContext(ctx, "a deleted object was abandoned", "kind", r.name, "namespace", o.GetNamespace(), "name", o.GetName(), "error", err)
		r.events.Eventf(o, nil, corev1.EventTypeWarning, v1alpha1.ReasonAbandoned, "Delete", "What it stands for stays in Prism: %s", cut(err.Error()))
	}
	before := o.DeepCopyObject().(T)
	controllerutil.RemoveFinalizer(o, finalizer)
	return ctrl.Result{}, kube.IgnoreNotFound(r.Patch(ctx, o, kube.MergeFrom(before)))
}

// tell has the conditions say how a sync went. A kind sets Drifted itself.
func (r *reconciler[T]) tell(o T, err error) {
	s := o.State()
	s.ObservedGeneration = o.GetGeneration()
	if err == nil {
		r.set(o, v1alpha1.Synced, metav1.ConditionTrue, v1alpha1.ReasonSynced, "Prism has what the spec says")
		r.set(o, v1alpha1.Ready, metav1.ConditionTrue, v1alpha1.ReasonSynced, "It can be used")
		return
	}
	p := problemOf(err)
	r.set(o, v1alpha1.Synced, metav1.ConditionFalse, p.Reason, p.Text)
	if ready := meta.FindStatusCondition(s.Conditions, v1alpha1.Ready); ready != nil && !p.Unusable {
		ready.ObservedGeneration = o.GetGeneration() // what Prism has, it has still
	} else {
		r.set(o, v1alpha1.Ready, metav1.ConditionFalse, p.Reason, p.Text)
	}
}

// untouched is the message of Drifted=False.
const untouched = "Nobody else has changed it"

// set sets a condition.
func (b *base) set(o Object, kind string, status metav1.ConditionStatus, reason, text string) {
	meta.SetStatusCondition(&o.State().Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: cut(text), ObservedGeneration: o.GetGeneration(),
		LastTransitionTime: metav1.NewTime(b.now()),
	})
}

func cut(text string) string {
	if runes := []rune(text); len(runes) > maxText {
		return string(runes[:maxText]) + "…"
	}
	return text
}

// announce makes an event of each condition that changed to what somebody should know.
func (r *reconciler[T]) announce(before, after T) {
	for _, c := range after.State().Conditions {
		was := meta.FindStatusCondition(before.State().Conditions, c.Type)
		if c.Type == v1alpha1.Ready || was != nil && was.Status == c.Status && was.Reason == c.Reason && was.Message == c.Message {
			continue
		}
		kind := corev1.EventTypeNormal
		if (c.Status == metav1.ConditionTrue) == (c.Type == v1alpha1.Drifted) {
			kind = corev1.EventTypeWarning
		}
		if was == nil && c.Type == v1alpha1.Drifted && kind == corev1.EventTypeNormal {
			continue // a new object has not drifted
		}
		r.events.Eventf(after, nil, kind, c.Reason, "Sync", "%s", c.Message)
	}
}
