package operator

import (
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
		if _, _, err := look(w, o, func() *v1alpha1.PrismModels { return &v1alpha1.PrismModels{} }, &models{w.base}); err != nil {
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
