package chart

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	psa "k8s.io/pod-security-admission/api"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// These tests hold the manifests of k8s/ for development: a namespace, and Postgres and Redis beside the chart.

// manifests are all objects of a folder of k8s/, each decoded strictly as what it says it is.
func manifests(t *testing.T, folder string) rendering {
	t.Helper()
	r := rendering{}
	for _, file := range filesBelow(t, "k8s/"+folder, ".yaml") {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		text := readFile(t, root, file)
		if !strings.HasPrefix(text, "# NOT FOR PRODUCTION") && folder == "stores" {
			t.Errorf("%s does not say that it is not for production", file)
		}
		for d := range strings.SplitSeq("\n"+text, "\n---\n") {
			o, err := decode([]byte(d))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			r.objects = append(r.objects, o)
		}
	}
	return r
}

// filesBelow are the files below a folder of the repository that end in a text, from the top of the repository.
func filesBelow(t *testing.T, folder, end string) (found []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, end) {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("nothing in %s ends in %s: %v", folder, end, err)
	}
	return found
}

func exists(path string) bool {
	_, err := os.Stat(filepath.Join(root, path))
	return err == nil
}

func TestNamespaceEnforcesRestricted(t *testing.T) {
	t.Parallel()
	for _, o := range of[corev1.Namespace](manifests(t, "namespace")) {
		for _, mode := range []string{psa.EnforceLevelLabel, psa.WarnLevelLabel, psa.AuditLevelLabel} {
			if got := o.it.Labels[mode]; got != string(psa.LevelRestricted) {
				t.Errorf("%s: %s is %q", o.what, mode, got)
			}
		}
	}
}

func TestPodsOfTheStores(t *testing.T) {
	t.Parallel()
	pods := workloads(manifests(t, "stores"))
	if len(pods) != 2 {
		t.Fatalf("%d objects make Pods, want Postgres and Redis", len(pods))
	}
	for _, o := range pods {
		if r := admitted(t, o.template); !r.Allowed {
			t.Errorf("%s: %s", o.what, r.ForbiddenDetail())
		}
		spec := o.template.Spec
		if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
			t.Errorf("%s mounts a token", o.what)
		}
		for _, c := range spec.Containers {
			if c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem {
				t.Errorf("%s writes to its root", o.what)
			}
			if c.ReadinessProbe == nil || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
				t.Errorf("%s has no readiness probe, or no bound of memory", o.what)
			}
			if strings.HasSuffix(c.Image, ":latest") || !strings.Contains(c.Image, ":") {
				t.Errorf("%s runs %s, whatever that is today", o.what, c.Image)
			}
			for _, e := range c.Env {
				if strings.Contains(e.Name, "PASSWORD") && e.ValueFrom == nil {
					t.Errorf("%s has the value of %s", o.what, e.Name)
				}
			}
		}
	}
}

// Selectors find the one Pod that they are for, the ports that they name are its, and the policies let in the Pods of the
// chart that need a store and nothing else.
func TestStoresAreReachedByThePodsThatNeedThem(t *testing.T) {
	t.Parallel()
	r := manifests(t, "stores")
	find := func(what, store string, selector labels.Selector) object {
		found := matching(t, r, selector)
		if len(found) != 1 || found[0].meta.Name != store {
			t.Fatalf("%s selects %d workloads, want %s", what, len(found), store)
		}
		return found[0]
	}
	for _, o := range of[corev1.Service](r) {
		pod := find(o.what, o.meta.Name, labels.SelectorFromSet(o.it.Spec.Selector))
		for _, p := range o.it.Spec.Ports {
			if number, ok := portOf(pod, p.TargetPort); !ok || number != p.Port {
				t.Errorf("%s: %s has no port %s that is %d", o.what, pod.what, p.TargetPort.String(), p.Port)
			}
		}
	}
	chart := render(t, with(t, "migrations: {mode: job}"))
	want := map[string][]string{"postgres": {"results", "migrate"}, "redis": {"gateway", "runs"}}
	policies := of[networkingv1.NetworkPolicy](r)
	if len(policies) != len(want) {
		t.Errorf("%d policies", len(policies))
	}
	for _, o := range policies {
		pod := find(o.what, o.meta.Name, selectorOf(t, &o.it.Spec.PodSelector))
		if len(o.it.Spec.Ingress) != 1 || len(o.it.Spec.Ingress[0].From) != 1 {
			t.Fatalf("%s has %d rules", o.what, len(o.it.Spec.Ingress))
		}
		rule := o.it.Spec.Ingress[0]
		for _, p := range rule.Ports {
			if _, ok := portOf(pod, *p.Port); !ok {
				t.Errorf("%s: %s has no port %s", o.what, pod.what, p.Port)
			}
		}
		peer := selectorOf(t, rule.From[0].PodSelector)
		for _, client := range workloads(chart) {
			if got := peer.Matches(labels.Set(client.template.Labels)); got != slices.Contains(want[o.meta.Name], component(client)) {
				t.Errorf("%s lets %s in: %v", o.what, client.what, got)
			}
		}
	}
	// The values for development let the chart's Pods out to the stores.
	values := readValues(t, readFile(t, root, "k8s/overlays/dev/values.yaml"))
	for _, store := range workloads(r) {
		text, err := yaml.Marshal(lookUp(values, "networkPolicy."+store.meta.Name+".to"))
		if err != nil {
			t.Fatal(err)
		}
		var peers []networkingv1.NetworkPolicyPeer
		if err := yaml.UnmarshalStrict(text, &peers); err != nil {
			t.Fatal(err)
		}
		if len(peers) != 1 || !selectorOf(t, peers[0].PodSelector).Matches(labels.Set(store.template.Labels)) {
			t.Errorf("networkPolicy.%s.to does not find %s", store.meta.Name, store.what)
		}
	}
	for path, want := range map[string]string{
		"postgres.host": "postgres", "postgres.existingSecret": "prism-postgres", "tokens.results.existingSecret": "prism-services", "model.provider": "offline",
	} {
		if got := lookUp(values, path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
}

func TestKustomizationsNameWhatExists(t *testing.T) {
	t.Parallel()
	for _, file := range filesBelow(t, "k8s", "kustomization.yaml") {
		var k types.Kustomization
		if err := k.Unmarshal([]byte(readFile(t, root, file))); err != nil { // strict
			t.Errorf("%s: %v", file, err)
			continue
		}
		folder := filepath.Dir(file)
		for _, r := range k.Resources {
			if !exists(filepath.Join(folder, r)) {
				t.Errorf("%s: no %s", file, r)
			}
		}
		for _, c := range k.HelmCharts {
			values := filepath.Join(folder, c.ValuesFile)
			if !exists(filepath.Join(folder, k.HelmGlobals.ChartHome, c.Name, "Chart.yaml")) || !exists(values) {
				t.Errorf("%s: no chart %s or no values %s", file, c.Name, c.ValuesFile)
				continue
			}
			// Kustomize does not read the cluster, so the chart would generate a new token each time.
			for _, path := range []string{"tokens.results.existingSecret", "tokens.modelProxy.existingSecret"} {
				if lookUp(readValues(t, readFile(t, root, values)), path) == nil {
					t.Errorf("%s: no %s", file, path)
				}
			}
		}
		for _, i := range k.Images {
			if _, ok := images[i.Name]; !ok {
				t.Errorf("%s: no image %s", file, i.Name)
			}
		}
	}
}
