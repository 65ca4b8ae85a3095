//go:build cluster

package operator

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/yaml"

	"github.com/prism-results/prism/client/prismtest"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// budget bounds each wait, on a machine of any load.
const budget = 2 * time.Minute

// apiServer is that of KUBECONFIG, with the custom resources of the chart, and two namespaces.
type apiServer struct {
	kube.Client
	t             *testing.T
	config        *rest.Config
	release, team string
}

func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	if os.Getenv("KUBECONFIG") == "" {
		t.Skip("KUBECONFIG names no API server")
	}
	s := &apiServer{t: t, release: "prism-" + rand.String(5), team: "team-" + rand.String(5)}
	var err error
	if s.config, err = config.GetConfig(); err != nil {
		t.Fatal(err)
	}
	if s.Client, err = kube.New(s.config, kube.Options{Scheme: Scheme()}); err != nil {
		t.Fatal(err)
	}
	root, err := prismtest.Root()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "charts/prism/charts/prism-crds/templates/*.yaml"))
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &o.Object); err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(t.Context(), kube.ApplyConfigurationFromUnstructured(o), kube.ForceOwnership, kube.FieldOwner("test")); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for _, name := range []string{s.release, s.team} {
		n := &corev1.Namespace{ObjectMeta: metaOf(name, "")}
		if err := s.Create(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Delete(context.WithoutCancel(t.Context()), n); err != nil {
				t.Error(err)
			}
		})
	}
	return s
}

// make creates an object from YAML, once the API server knows its kind, and returns what the API server says.
func (s *apiServer) make(o kube.Object, text string) (err error) {
	s.t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), o); err != nil {
		s.t.Fatal(err)
	}
	if o.GetNamespace() == "" {
		o.SetNamespace(s.team)
	}
	s.until("the kind is known", func() bool {
		err = s.Create(s.t.Context(), o)
		return !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err)
	})
	return err
}

func (s *apiServer) until(what string, is func() bool) {
	s.t.Helper()
	end := time.After(budget)
	for !is() {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-end:
			s.t.Fatal("it takes too long until " + what)
		}
	}
}

// ready tells whether an object is, for its generation.
func (s *apiServer) ready(o Object) bool {
	if err := s.Get(s.t.Context(), kube.ObjectKeyFromObject(o), o); err != nil {
		return false
	}
	c := meta.FindStatusCondition(o.State().Conditions, v1alpha1.Ready)
	return c != nil && c.Status == "True" && c.ObservedGeneration == o.GetGeneration()
}

// TestOnAnAPIServer runs the operator against the API server of KUBECONFIG and a real Prism, as the user of PRISM_OPERATOR_AS if it is set.
func TestOnAnAPIServer(t *testing.T) {
	s := newAPIServer(t)
	prism, err := services()
	if err != nil {
		t.Fatal(err)
	}
	metrics := prometheus.NewRegistry()
	as := rest.CopyConfig(s.config)
	as.Impersonate.UserName = os.Getenv("PRISM_OPERATOR_AS")
	operator, err := New(Config{Release: "prism", Namespace: s.release, Namespaces: []string{s.team}, Resync: time.Hour, URL: prism.url}, Deps{
		Kubernetes: as, Accounts: NewAccounts(prism.declarations, prism.url, nil), Declarations: prism.declarations,
		Metrics: metrics, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- operator.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	if err := s.make(&v1alpha1.PrismAccount{}, "metadata: {name: acme, namespace: "+s.release+"}\nspec: {name: Acme "+s.team+", allowedNamespaces: ["+s.team+"]}"); err != nil {
		t.Fatal(err)
	}
	o := &v1alpha1.Prism{}
	if err := s.make(o, strings.Replace(ticketsYAML, "account: acme", "account: acme\n  deletionPolicy: Archive", 1)); err != nil {
		t.Fatal(err)
	}
	k := &v1alpha1.PrismKey{}
	if err := s.make(k, "metadata: {name: app}\nspec: {account: acme, role: reader, secretName: app}"); err != nil {
		t.Fatal(err)
	}
	s.until("the prism is ready", func() bool { return s.ready(o) })
	s.until("the key is ready", func() bool { return s.ready(k) })
	if o.Status.LatestVersion != 1 || len(o.Finalizers) != 1 {
		t.Errorf("got %+v", o)
	}
	secret := &corev1.Secret{ObjectMeta: metaOf("app", s.team)}
	if err := s.Get(t.Context(), kube.ObjectKeyFromObject(secret), secret); err != nil || string(secret.Data[urlData]) != prism.url {
		t.Errorf("got %v, %v", secret.Data, err)
	}
	if got := testutil.ToFloat64(operator.metrics.leader); got != 1 {
		t.Errorf("the leader is %v", got)
	}

	// Config.Resync is an hour: only the watch of Secrets tells of these.
	for what, change := range map[string]func() error{
		"deleted": func() error { return s.Delete(t.Context(), secret) },
		"changed": func() error { secret.Data[keyData] = []byte("theirs"); return s.Update(t.Context(), secret) },
	} {
		before := secret.DeepCopy()
		if err := change(); err != nil {
			t.Fatal(err)
		}
		s.until("the Secret that was "+what+" has another key", func() bool {
			err := s.Get(t.Context(), kube.ObjectKeyFromObject(secret), secret)
			return err == nil && intact(secret, keyData) && secret.Annotations[keyIDAnnotation] != before.Annotations[keyIDAnnotation]
		})
	}

	text("Upset?")(o)
	if err := s.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	s.until("there is a second version", func() bool { return s.ready(o) && o.Status.LatestVersion == 2 })

	for name, c := range map[string]struct{ old, new, want string }{
		"a misspelt member":     {"slug: support", "slug: b\n  instruction: x", "unknown field"},
		"a question twice":      {"key: topic", "key: upset", "Duplicate value"},
		"a member of a type":    {"type: yes_no, ", "type: yes_no, options: [{key: a, label: A}], ", "options is only of"},
		"a Lens of no question": {"slug: support", "slug: b\n  lens: {columns: [{name: x, question: z, show: answer}]}", "must show questions of the prism"},
	} {
		strict := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte("apiVersion: prism.dev/v1alpha1"+strings.Replace(strings.Replace(ticketsYAML, c.old, c.new, 1), "name: tickets", "name: b", 1)), &strict.Object); err != nil {
			t.Fatal(err)
		}
		strict.SetNamespace(s.team)
		if err := s.Create(t.Context(), strict, kube.DryRunAll, kube.FieldValidation("Strict")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the API server says %v, want %s", name, err, c.want)
		}
	}
	another := o.DeepCopy()
	another.Spec.Slug = "another"
	if err := s.Update(t.Context(), another); err == nil || !strings.Contains(err.Error(), "slug can't change") {
		t.Errorf("the API server says %v", err)
	}

	events := &corev1.EventList{}
	s.until("there are events", func() bool {
		return s.List(t.Context(), events, kube.InNamespace(s.team)) == nil && len(events.Items) > 0
	})
	if err := s.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	s.until("the object is gone", func() bool {
		return apierrors.IsNotFound(s.Get(t.Context(), kube.ObjectKeyFromObject(o), o))
	})
}
