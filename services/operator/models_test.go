package operator

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

const modelsYAML = `
kind: PrismModels
metadata: {name: models, namespace: prism-system}
spec: {default: fast, models: [{name: fast, provider: offline}]}
`

// spec: declared-models
func TestModels(t *testing.T) {
	t.Parallel()
	sync := func(w *world, o *v1alpha1.PrismModels) {
		w.t.Helper()
		if _, _, err := look(w, o, func() *v1alpha1.PrismModels { return &v1alpha1.PrismModels{} }, &models{w.base, newReplicas("")}); err != nil {
			w.t.Fatal(err)
		}
	}
	file := func(w *world) *corev1.ConfigMap {
		w.t.Helper()
		c := &corev1.ConfigMap{ObjectMeta: metaOf("prism-models", release)}
		if err := w.Get(w.t.Context(), requestOf(c).NamespacedName, c); err != nil && !apierrors.IsNotFound(err) {
			w.t.Fatal(err)
		}
		return c
	}
	cases := []struct {
		name string
		test func(t *testing.T, w *world, o *v1alpha1.PrismModels)
	}{
		{"the file is in the ConfigMap that model-proxy mounts", func(t *testing.T, w *world, o *v1alpha1.PrismModels) {
			const want = "default: fast\nmodels:\n- name: fast\n  provider: offline\n"
			if got := file(w).Data[modelsKey]; got != want || o.Status.Hash == "" {
				t.Errorf("got %q, %+v", got, o.Status)
			}
			w.want(o, "Ready=True Synced", "")
		}},
		{"a change reaches it", func(t *testing.T, w *world, o *v1alpha1.PrismModels) {
			before := o.Status.Hash
			edit(w, o, func(o *v1alpha1.PrismModels) {
				o.Spec.Models[0].Raw = []byte(`{"name": "fast", "provider": "offline", "max_in_flight": 3}`)
			})
			sync(w, o)
			if got := file(w).Data[modelsKey]; !strings.Contains(got, "max_in_flight: 3") || o.Status.Hash == before {
				t.Errorf("got %q", got)
			}
			w.want(o, "Drifted=False InSync", "")
		}},
		{"somebody else's change of the ConfigMap is undone, and told", func(t *testing.T, w *world, o *v1alpha1.PrismModels) {
			c := file(w)
			c.Data[modelsKey] = "theirs"
			if err := w.Update(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			sync(w, o)
			if got := file(w).Data[modelsKey]; got == "theirs" {
				t.Errorf("got %q", got)
			}
			w.want(o, "Drifted=False Overwritten", "was undone")
		}},
		{"elsewhere than in the release's namespace it counts for nothing", func(_ *testing.T, w *world, _ *v1alpha1.PrismModels) {
			o := &v1alpha1.PrismModels{}
			w.apply(strings.ReplaceAll(modelsYAML, "prism-system", "team"), o)
			sync(w, o)
			w.want(o, "Ready=False NotAllowed", "only in the namespace prism-system")
		}},
		{"a second one counts for nothing", func(_ *testing.T, w *world, first *v1alpha1.PrismModels) {
			o := &v1alpha1.PrismModels{}
			w.apply(strings.ReplaceAll(strings.ReplaceAll(modelsYAML, "name: models", "name: second"), "fast", "other"), o)
			sync(w, o)
			w.want(o, "Ready=False NotAllowed", "which is models")
			if got := file(w).Data[modelsKey]; strings.Contains(got, "other") {
				w.t.Errorf("got %q", got)
			}
			sync(w, first)
			w.want(first, "Ready=True Synced", "")
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			o := &v1alpha1.PrismModels{}
			w.apply(modelsYAML, o)
			sync(w, o)
			c.test(t, w, o)
		})
	}
}

// pods are the Pods of model-proxy, each with its metrics; one without metrics does not answer. Their addresses are of the loopback network.
func pods(t *testing.T, metrics ...string) *replicas {
	t.Helper()
	r := newReplicas("pods.prism:9092")
	addresses := map[string]string{}
	var hosts []string
	for i, text := range metrics {
		host := "10.0.0." + strconv.Itoa(i+1)
		hosts = append(hosts, host)
		if text == "" {
			continue
		}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/metrics" {
				_, _ = io.WriteString(w, text)
			}
		}))
		t.Cleanup(s.Close)
		addresses[host+":9092"] = s.Listener.Addr().String()
	}
	r.lookup = func(context.Context, string) ([]string, error) {
		if len(hosts) == 0 {
			return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
		}
		return hosts, nil
	}
	r.client.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if addresses[address] == "" {
			return nil, errors.New("connection refused")
		}
		return (&net.Dialer{}).DialContext(ctx, network, addresses[address])
	}}
	return r
}

// spec: declared-models
func TestWhoUsesTheFileOfModels(t *testing.T) {
	t.Parallel()
	const hash = "HASH" // of the object's file
	used := func(hash string) string {
		return "# HELP prism_models_file x\nprism_model_in_flight 1\nprism_models_file{hash=\"" + hash + "\",state=\"used\"} 1\n"
	}
	for name, c := range map[string]struct {
		pods   []string
		loaded string
		synced string
		soon   bool // they are asked again soon
	}{
		"all":                     {[]string{used(hash), used(hash)}, "2/2", "Synced=True Synced", false},
		"one has the file before": {[]string{used(hash), used("before")}, "1/2", "Synced=True Synced", true},
		"one does not answer":     {[]string{"", used(hash)}, "1/2", "Synced=True Synced", true},
		"one has no file":         {[]string{"prism_model_in_flight 1\n", used(hash)}, "1/2", "Synced=True Synced", true},
		"one refuses it":          {[]string{used("before") + `prism_models_file{hash="HASH",state="refused"} 1` + "\n", used(hash)}, "1/2", "Synced=False Invalid", false},
		"one refused the one before": {
			[]string{used("first") + `prism_models_file{hash="before",state="refused"} 1` + "\n", used(hash)}, "1/2", "Synced=True Synced", true,
		},
		"there is none": {nil, "0/0", "Synced=True Synced", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			o := &v1alpha1.PrismModels{}
			w.apply(modelsYAML, o)
			text, err := modelsFile(o.Spec)
			if err != nil {
				t.Fatal(err)
			}
			var metrics []string
			for _, m := range c.pods {
				metrics = append(metrics, strings.ReplaceAll(m, hash, digest([]byte(text))))
			}
			k := &models{w.base, pods(t, metrics...)}
			again, _, err := look(w, o, func() *v1alpha1.PrismModels { return &v1alpha1.PrismModels{} }, k)
			if err != nil || o.Status.LoadedBy != c.loaded || (again.RequeueAfter < w.cfg.Resync) != c.soon {
				t.Errorf("got %q, again after %v, %v", o.Status.LoadedBy, again.RequeueAfter, err)
			}
			w.want(o, c.synced, "")
		})
	}
	found, known := (&replicas{address: "pods.prism:9092", lookup: func(context.Context, string) ([]string, error) {
		return nil, errors.New("the DNS is away")
	}}).ask(t.Context(), hash)
	if known {
		t.Errorf("got %v while the DNS is away", found)
	}
}
