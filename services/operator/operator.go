// Package operator has Prism be as the custom resources of a cluster say: a file has the controller of each kind, and reconcile.go and problem.go what they
// share. It calls the public API as any client does, with a credential of its own for each account.
//
//	custom resource ─ watch ─▶ reconciler ─ Kind.Sync ─▶ /v1 of Prism
//	       ▲                       │  ▲
//	       └─ conditions, events ──┘  └─ again: when it, its account or its Secret changed, after Config.Resync, or after a pause when Prism is away
//
// One process of a release works, the leader; the others wait. Each sync reads what Prism has and changes it only if it differs, on the
// condition that it has not changed since, so two leaders for a moment, or a repeat, make nothing twice.
package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// Deps are what a Service works with; all are required.
type Deps struct {
	Kubernetes *rest.Config
	Accounts   Accounts
	// Declarations makes accounts and keys.
	Declarations contract.Declarations
	Metrics      prometheus.Registerer
	Log          *slog.Logger
}

const (
	// firstPause and maxPause are the pauses after which an object is tried again when Prism or the API server is away.
	firstPause, maxPause = time.Second, time.Minute
	// tries and burst bound how many objects are tried again in a second.
	tries, burst = 20, 200
	// atOnce is how many objects of a kind are synced at the same time.
	atOnce = 4
	// syncLimit bounds a look at an object.
	syncLimit = time.Minute
)

// Service is an operator.
type Service struct {
	manager manager.Manager
	metrics *metrics
}

// New makes an operator. It asks the API server which kinds there are. It panics if Deps.Metrics has the collectors of an operator already.
func New(cfg Config, d Deps) (*Service, error) {
	log := logr.FromSlogHandler(d.Log.Handler())
	ctrl.SetLogger(log)
	klog.SetLogger(log) // of client-go, else in plain text
	known := cache.Options{ByObject: map[kube.Object]cache.ByObject{
		&corev1.Secret{}: {Label: labels.SelectorFromSet(labels.Set{managedByLabel: managedBy}), Transform: cache.TransformStripManagedFields()},
	}}
	if len(cfg.Namespaces) > 0 {
		known.DefaultNamespaces = map[string]cache.Config{cfg.Namespace: {}}
		for _, n := range cfg.Namespaces {
			known.DefaultNamespaces[n] = cache.Config{}
		}
	}
	m, err := ctrl.NewManager(d.Kubernetes, manager.Options{
		Scheme: Scheme(), Cache: known, MapperProvider: mapper,
		// Read one by one: of its own Secrets the cache has the metadata alone, and of others nothing.
		Client: kube.Options{Cache: &kube.CacheOptions{DisableFor: []kube.Object{&corev1.Secret{}, &corev1.ConfigMap{}}}},

		LeaderElection: true, LeaderElectionID: cfg.Release + "-operator", LeaderElectionNamespace: cfg.Namespace, LeaderElectionReleaseOnCancel: true,
		Metrics:                server.Options{BindAddress: "0"}, // those of the daemon are enough
		HealthProbeBindAddress: "0",
	})
	if err != nil {
		return nil, fmt.Errorf("operator: %w", err)
	}
	s := &Service{manager: m, metrics: newMetrics(d.Metrics)}
	b := &base{
		Client: m.GetClient(), cfg: cfg, accounts: d.Accounts, events: m.GetEventRecorder("prism-operator"), metrics: s.metrics, log: d.Log, now: time.Now,
	}
	return s, errors.Join(
		watch(m, b, func() *v1alpha1.Prism { return &v1alpha1.Prism{} }, &v1alpha1.PrismList{}, &prisms{b}),
		watch(m, b, func() *v1alpha1.PrismModels { return &v1alpha1.PrismModels{} }, &v1alpha1.PrismModelsList{}, &models{b, newReplicas(cfg.ModelProxies)}),
		watch(m, b, func() *v1alpha1.PrismAccount { return &v1alpha1.PrismAccount{} }, &v1alpha1.PrismAccountList{}, &accounts{b, d.Declarations}),
		watch(m, b, func() *v1alpha1.PrismKey { return &v1alpha1.PrismKey{} }, &v1alpha1.PrismKeyList{}, &keys{b, d.Declarations}),
		watch(m, b, func() *v1alpha1.PrismWebhook { return &v1alpha1.PrismWebhook{} }, &v1alpha1.PrismWebhookList{}, &webhooks{b}),
	)
}

// mapper is that of the API server, which is asked when a kind is needed. The cache needs Secrets at once, when the API server may be away.
func mapper(cluster *rest.Config, caller *http.Client) (meta.RESTMapper, error) {
	asked, err := apiutil.NewDynamicRESTMapper(cluster, caller)
	if err != nil {
		return nil, err
	}
	known := meta.NewDefaultRESTMapper(nil)
	known.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	return meta.FirstHitRESTMapper{MultiRESTMapper: meta.MultiRESTMapper{known, asked}}, nil
}

// Run works until ctx ends, and then ends the lease of a leader.
func (s *Service) Run(ctx context.Context) error {
	go func() {
		select {
		case <-s.manager.Elected():
			s.metrics.leader.Set(1)
		case <-ctx.Done():
		}
	}()
	return s.manager.Start(ctx)
}

// Ready returns an error until the custom resources have been read.
func (s *Service) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if !s.manager.GetCache().WaitForCacheSync(ctx) {
		return errors.New("the custom resources have not been read yet")
	}
	return nil
}

// watch adds the controller of a kind. list is an empty list of the kind. An object is looked at when it changes, when its account does, and
// when somebody changes or deletes its Secret.
func watch[T Object](m manager.Manager, b *base, empty func() T, list kube.ObjectList, k Kind[T]) error {
	gvk, err := apiutil.GVKForObject(empty(), m.GetScheme())
	if err != nil {
		return err
	}
	c := ctrl.NewControllerManagedBy(m).For(empty(), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	if _, ok := any(empty()).(owned); ok {
		c = c.Watches(&v1alpha1.PrismAccount{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, a kube.Object) []reconcile.Request {
			return b.ofAccount(ctx, list, a)
		}))
	}
	switch any(empty()).(type) {
	case *v1alpha1.PrismKey, *v1alpha1.PrismWebhook:
		made := predicate.Funcs{CreateFunc: func(event.CreateEvent) bool { return false }} // by the operator itself
		c = c.Owns(&corev1.Secret{}, builder.OnlyMetadata, builder.WithPredicates(made))
	}
	return c.WithOptions(controller.Options{
		MaxConcurrentReconciles: atOnce, ReconciliationTimeout: syncLimit,
		RateLimiter: workqueue.NewTypedMaxOfRateLimiter(
			workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstPause, maxPause),
			&workqueue.TypedBucketRateLimiter[reconcile.Request]{Limiter: rate.NewLimiter(tries, burst)},
		),
	}).Complete(&reconciler[T]{base: b, name: gvk.Kind, make: empty, kind: k})
}

// ofAccount are the objects of an account, which a change of the account may concern.
func (b *base) ofAccount(ctx context.Context, list kube.ObjectList, account kube.Object) (all []reconcile.Request) {
	if account.GetNamespace() != b.cfg.Namespace {
		return nil
	}
	list = list.DeepCopyObject().(kube.ObjectList)
	if err := b.List(ctx, list); err != nil {
		b.log.WarnContext(ctx, "listing the objects of an account failed", "error", err)
		return nil
	}
	for _, o := range items(list) {
		if o.AccountName() == account.GetName() {
			all = append(all, reconcile.Request{NamespacedName: kube.ObjectKeyFromObject(o)})
		}
	}
	return all
}
