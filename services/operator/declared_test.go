package operator

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// endServices ends what services began.
var endServices = func() error { return nil }

// services is a real Prism of services.
var services = sync.OnceValues(func() (s struct {
	declarations contract.Declarations
	url          string
	account      func(ctx context.Context, name string) (key string, err error) // made by hand
}, err error,
) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	server, err := pgtest.Start(ctx, pgtest.Options{})
	if err != nil {
		return s, err
	}
	endServices = server.Close
	if err := server.MakeTemplate(ctx, "empty", func(context.Context, string) error { return nil }); err != nil {
		return s, err
	}
	database, err := server.CreateDatabase(ctx, "empty")
	if err != nil {
		return s, err
	}
	three, err := launch.Options{Database: server.URL(database)}.Services(ctx)
	if err != nil {
		return s, err
	}
	if err := launch.Start(ctx, three.All()...); err != nil {
		return s, err
	}
	endServices = func() error { return errors.Join(launch.Stop(three.All()...), server.Close()) }
	tokens, err := wire.DeclarationsTokens{List: config.Tokens{launch.OperatorToken}}.Open(slog.New(slog.DiscardHandler))
	if err != nil {
		return s, err
	}
	s.url, s.account = three.Gateway.URL(), three.Results.Account
	s.declarations, err = wire.NewDeclarations(wire.ClientConfig{URL: three.Results.URL(), Tokens: tokens}, wire.ClientDeps{})
	return s, err
})

// steps counts what an operator does outside of itself, and fails one of them.
type steps struct {
	mu   sync.Mutex
	n    int
	fail int   // the number of the step that fails; 0: none
	late bool  // it fails after it took effect
	with error // what it fails with
}

// step does what it is given, unless it is the one that fails.
func (s *steps) step(do func() error) error {
	s.mu.Lock()
	s.n++
	fails := s.n == s.fail
	s.mu.Unlock()
	if fails && !s.late {
		return s.with
	}
	err := do()
	if fails && err == nil {
		return s.with
	}
	return err
}

var errKilled = errors.New("the operator was killed")

// watched is contract.Declarations, each call of which is a step.
type watched struct {
	contract.Declarations
	*steps
}

func (w watched) DeclareAccount(ctx context.Context, a contract.DeclareAccount) (id prism.AccountID, err error) {
	err = w.step(func() (err error) { id, err = w.Declarations.DeclareAccount(ctx, a); return err })
	return id, err
}

func (w watched) DeclareKey(ctx context.Context, k contract.DeclareKey) (made contract.DeclaredKey, err error) {
	err = w.step(func() (err error) { made, err = w.Declarations.DeclareKey(ctx, k); return err })
	return made, err
}

func (w watched) WithdrawKey(ctx context.Context, k contract.WithdrawKey) error {
	return w.step(func() error { return w.Declarations.WithdrawKey(ctx, k) })
}

// cluster is a cluster without an API server, and an account of a real Prism.
type cluster struct {
	*base
	t       *testing.T
	steps   *steps
	offset  time.Duration // of the clock
	began   time.Time
	account *v1alpha1.PrismAccount
	secrets *secretsSeen
}

const inRelease, inTeam = "prism-system", "team"

func newCluster(t *testing.T) *cluster {
	t.Helper()
	s, err := services()
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, steps: &steps{with: errKilled}, began: time.Now(), secrets: &secretsSeen{}}
	stored := fake.NewClientBuilder().WithScheme(Scheme()).WithStatusSubresource(
		&v1alpha1.PrismAccount{}, &v1alpha1.PrismKey{}, &v1alpha1.PrismWebhook{}).Build()
	api := interceptor.NewClient(stored, interceptor.Funcs{
		Create: func(ctx context.Context, k kube.WithWatch, o kube.Object, with ...kube.CreateOption) error {
			return c.steps.step(func() error { return k.Create(ctx, o, with...) })
		},
		Update: func(ctx context.Context, k kube.WithWatch, o kube.Object, with ...kube.UpdateOption) error {
			return c.steps.step(func() error { return k.Update(ctx, o, with...) })
		},
		SubResourceUpdate: func(ctx context.Context, k kube.Client, sub string, o kube.Object, with ...kube.SubResourceUpdateOption) error {
			return c.steps.step(func() error { return k.SubResource(sub).Update(ctx, o, with...) })
		},
	})
	now := func() time.Time { return c.began.Add(c.offset) }
	c.base = &base{
		Client: api, cfg: Config{Release: "prism", Namespace: inRelease, Resync: time.Hour, URL: s.url},
		accounts: newCredentials(s.declarations, s.url, stepping{c.steps, c.secrets}, now),
		events:   events.NewFakeRecorder(1000), metrics: newMetrics(prometheus.NewRegistry()), log: slog.New(slog.DiscardHandler), now: now,
	}
	c.account = &v1alpha1.PrismAccount{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: inRelease}, Spec: v1alpha1.PrismAccountSpec{
		Name: "acme " + rand.Text(), AllowedNamespaces: []v1alpha1.NamespaceName{inTeam},
	}}
	c.create(c.account)
	c.settle(c.account)
	return c
}

// create creates an object as its owner does.
func (c *cluster) create(o kube.Object) {
	c.t.Helper()
	id, err := prism.NewUUID(time.Now(), rand.Reader)
	if err != nil {
		c.t.Fatal(err)
	}
	o.SetUID(types.UID(id.String()))
	o.SetGeneration(1)
	if err := c.Create(c.t.Context(), o); err != nil {
		c.t.Fatal(err)
	}
}

// change changes the spec of an object as its owner does.
func change[T kube.Object](c *cluster, o T, fn func(T)) {
	c.t.Helper()
	c.reread(o)
	fn(o)
	o.SetGeneration(o.GetGeneration() + 1)
	if err := c.Update(c.t.Context(), o); err != nil {
		c.t.Fatal(err)
	}
}

// reread reads an object again: false if it is gone.
func (c *cluster) reread(o kube.Object) bool {
	c.t.Helper()
	err := c.Get(c.t.Context(), kube.ObjectKeyFromObject(o), o)
	if kube.IgnoreNotFound(err) != nil {
		c.t.Fatal(err)
	}
	return err == nil
}

// reconcile looks at an object once.
func (c *cluster) reconcile(ctx context.Context, o Object) (ctrl.Result, error) {
	q := ctrl.Request{NamespacedName: kube.ObjectKeyFromObject(o)}
	d := watched{declarationsOf(c.t), c.steps}
	switch o.(type) {
	case *v1alpha1.PrismAccount:
		empty := func() *v1alpha1.PrismAccount { return &v1alpha1.PrismAccount{} }
		return (&reconciler[*v1alpha1.PrismAccount]{c.base, "PrismAccount", empty, &accounts{c.base, d}}).Reconcile(ctx, q)
	case *v1alpha1.PrismKey:
		empty := func() *v1alpha1.PrismKey { return &v1alpha1.PrismKey{} }
		return (&reconciler[*v1alpha1.PrismKey]{c.base, "PrismKey", empty, &keys{c.base, d}}).Reconcile(ctx, q)
	default:
		empty := func() *v1alpha1.PrismWebhook { return &v1alpha1.PrismWebhook{} }
		return (&reconciler[*v1alpha1.PrismWebhook]{c.base, "PrismWebhook", empty, &webhooks{c.base}}).Reconcile(ctx, q)
	}
}

// reconcileByTwo has two operators look at an object at once, some times.
func (c *cluster) reconcileByTwo(o Object) {
	c.t.Helper()
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for range 5 {
				_, _ = c.reconcile(context.WithoutCancel(c.t.Context()), o)
			}
		})
	}
	both.Wait()
}

func declarationsOf(t *testing.T) contract.Declarations {
	t.Helper()
	s, err := services()
	if err != nil {
		t.Fatal(err)
	}
	return s.declarations
}

// settle looks at an object until that succeeds, as the queue does, and reads it again.
func (c *cluster) settle(o Object) {
	c.t.Helper()
	var err error
	for range 20 {
		if _, err = c.reconcile(c.t.Context(), o); err == nil {
			c.reread(o)
			return
		}
	}
	c.t.Fatalf("it does not settle: %v", err)
}

// condition is the status and the reason of a condition.
func condition(o Object, kind string) string {
	found := meta.FindStatusCondition(o.State().Conditions, kind)
	if found == nil {
		return ""
	}
	return string(found.Status) + " " + found.Reason
}

// owner calls the account as an owner.
func (c *cluster) owner() *client.Client {
	c.t.Helper()
	id, err := accountID(c.account)
	if err != nil {
		c.t.Fatal(err)
	}
	key, err := declarationsOf(c.t).OperatorKey(c.t.Context(), contract.OperatorKey{Account: id, Role: prism.Owner})
	if err != nil {
		c.t.Fatal(err)
	}
	owner, err := client.New(client.Config{URL: c.cfg.URL, Key: key.Key})
	if err != nil {
		c.t.Fatal(err)
	}
	return owner
}

// works tells whether Prism accepts a key.
func (c *cluster) works(key string) bool {
	c.t.Helper()
	k, err := client.New(client.Config{URL: c.cfg.URL, Key: key})
	if err != nil {
		c.t.Fatal(err)
	}
	_, err = k.ReadAccount(c.t.Context())
	if err != nil && !errors.Is(err, client.ErrUnauthorized) {
		c.t.Fatal(err)
	}
	return err == nil
}

// active are the ids of the account's keys that are not revoked.
func (c *cluster) active() (ids []string) {
	c.t.Helper()
	for k, err := range c.owner().Keys(c.t.Context()) {
		if err != nil {
			c.t.Fatal(err)
		}
		if k.RevokedAt == nil {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

// secret is the Secret with a name; nil if there is none.
func (c *cluster) secret(name string) *corev1.Secret {
	c.t.Helper()
	s := &corev1.Secret{}
	err := c.Get(c.t.Context(), kube.ObjectKey{Namespace: inTeam, Name: name}, s)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// stepping makes each call that changes something a step, and keeps the secrets of webhooks.
type stepping struct {
	*steps
	seen *secretsSeen
}

// secretsSeen are the last secrets of webhooks, by their ids.
type secretsSeen struct {
	mu   sync.Mutex
	last map[string]string
}

// RoundTrip implements http.RoundTripper.
func (s stepping) RoundTrip(q *http.Request) (a *http.Response, err error) {
	call := func() (err error) { a, err = http.DefaultTransport.RoundTrip(q); return err }
	if q.Method == http.MethodGet {
		return a, call()
	}
	err = s.step(func() error {
		if err := call(); err != nil {
			return err
		}
		body, err := io.ReadAll(a.Body)
		_ = a.Body.Close()
		a.Body = io.NopCloser(strings.NewReader(string(body)))
		var made struct{ ID, Secret string }
		if json.Unmarshal(body, &made) == nil && made.Secret != "" {
			s.seen.mu.Lock()
			defer s.seen.mu.Unlock()
			if s.seen.last == nil {
				s.seen.last = map[string]string{}
			}
			s.seen.last[made.ID] = made.Secret
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("no response: %w", err)
	}
	return a, nil
}
