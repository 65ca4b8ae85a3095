package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/client/prismtest"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// running is the real Prism that the tests call.
var running *prismtest.Server

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var err error
	if running, err = prismtest.Start(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := errors.Join(endServices(), running.Stop()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// An API server that is away when the operator starts is waited for: the process lives, and is not ready.
func TestTheOperatorStartsWithoutAnAPIServer(t *testing.T) {
	t.Parallel()
	o, err := New(Config{Release: "prism", Namespace: release, Namespaces: []string{team}, Resync: time.Minute}, Deps{
		Kubernetes: &rest.Config{Host: "http://127.0.0.1:1"}, Metrics: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if o.Ready(t.Context()) == nil {
		t.Error("it is ready")
	}
}

const (
	release = "prism-system" // the namespace of the release
	team    = "team"         // a namespace that the account lists
	other   = "other"        // and one that it does not
)

// world is a cluster without an API server, and an account of a real Prism.
type world struct {
	*base
	t      *testing.T
	prism  *client.Client // as somebody else than the operator
	key    string         // of prism
	events *events.FakeRecorder
	away   error // what the calls of the operator get instead of Prism
	clock  time.Time
}

// Client implements Accounts.
func (w *world) Client(context.Context, *v1alpha1.PrismAccount, prism.Role) (*client.Client, error) {
	return w.prism, w.away
}

func newWorld(t *testing.T) *world {
	t.Helper()
	key, err := running.Account(t.Context(), t.Name())
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Config{URL: running.URL, Key: key, Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, prism: c, key: key, events: events.NewFakeRecorder(100), clock: time.Now()}
	w.base = &base{
		Client: fake.NewClientBuilder().WithScheme(Scheme()).WithStatusSubresource(
			&v1alpha1.Prism{}, &v1alpha1.PrismAccount{}, &v1alpha1.PrismKey{}, &v1alpha1.PrismModels{}, &v1alpha1.PrismWebhook{}).Build(),
		cfg:      Config{Release: "prism", Namespace: release, Resync: time.Minute, URL: running.URL},
		accounts: w, events: w.events, metrics: newMetrics(prometheus.NewRegistry()), log: slog.New(slog.DiscardHandler),
		now: func() time.Time { return w.clock },
	}
	w.apply(`{kind: PrismAccount, metadata: {name: acme, namespace: prism-system}, spec: {name: Acme, allowedNamespaces: [team]}}`, &v1alpha1.PrismAccount{})
	return w
}

// apply creates an object from YAML.
func (w *world) apply(text string, o kube.Object) {
	w.t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), o); err != nil {
		w.t.Fatal(err)
	}
	if o.GetNamespace() == "" {
		o.SetNamespace(team)
	}
	o.SetGeneration(1)
	if err := w.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// edit changes an object as its owner does.
func edit[T kube.Object](w *world, o T, change func(T)) {
	w.t.Helper()
	if err := w.Get(w.t.Context(), kube.ObjectKeyFromObject(o), o); err != nil {
		w.t.Fatal(err)
	}
	change(o)
	o.SetGeneration(o.GetGeneration() + 1)
	if err := w.Update(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// look reconciles an object and reads it again. false: it is gone.
func look[T Object](w *world, o T, empty func() T, k Kind[T]) (ctrl.Result, bool, error) {
	w.t.Helper()
	r := &reconciler[T]{base: w.base, name: fmt.Sprintf("%T", o), make: empty, kind: k}
	result, err := r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: kube.ObjectKeyFromObject(o)})
	found := w.Get(w.t.Context(), kube.ObjectKeyFromObject(o), o)
	if kube.IgnoreNotFound(found) != nil {
		w.t.Fatal(found)
	}
	return result, found == nil, err
}

// want checks a condition, given as `Synced=False Invalid` and a part of its message.
func (w *world) want(o Object, condition, text string) {
	w.t.Helper()
	kind, rest, _ := strings.Cut(condition, "=")
	status, reason, _ := strings.Cut(rest, " ")
	c := meta.FindStatusCondition(o.State().Conditions, kind)
	if c == nil || c.Status != metav1.ConditionStatus(status) || c.Reason != reason || !strings.Contains(c.Message, text) {
		w.t.Errorf("%s: got %+v, want %s %q", kind, c, condition, text)
	}
	if c != nil && c.ObservedGeneration != o.GetGeneration() {
		w.t.Errorf("%s is of generation %d, want %d", kind, c.ObservedGeneration, o.GetGeneration())
	}
}

// told are the events since the last call.
func (w *world) told() (all []string) {
	for {
		select {
		case e := <-w.events.Events:
			all = append(all, e)
		default:
			return all
		}
	}
}

func requestOf(o kube.Object) ctrl.Request {
	return ctrl.Request{NamespacedName: kube.ObjectKeyFromObject(o)}
}

func metaOf(name, namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace}
}

// through calls the account of a world by another address.
type through struct {
	url string
	key string
}

// behind has the account be called through a server that first calls first, which may answer itself.
func (w *world) behind(first func(http.ResponseWriter, *http.Request) (answered bool)) {
	w.t.Helper()
	to, err := url.Parse(running.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !first(rw, r) {
			forward.ServeHTTP(rw, r)
		}
	}))
	w.t.Cleanup(front.Close)
	w.accounts = through{front.URL, w.key}
}

// Client implements Accounts.
func (t through) Client(context.Context, *v1alpha1.PrismAccount, prism.Role) (*client.Client, error) {
	return client.New(client.Config{URL: t.url, Key: t.key, Attempts: 1})
}
