package deploy

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	psa "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	kind "sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/kustomize/api/types"
)

// object is a manifest, and the Pod that it makes, if any.
type object struct {
	file     string
	meta     metav1.ObjectMeta
	template *corev1.PodTemplateSpec
	selector *metav1.LabelSelector
	it       any
}

// manifests are all objects of k8s/, each decoded strictly as what it says it is.
func manifests(t *testing.T) []object {
	t.Helper()
	var all []object
	for _, file := range files(t, "k8s", ".yaml") {
		switch filepath.Base(file) {
		case "kind.yaml", "kustomization.yaml", "values.yaml": // other tests'
			continue
		}
		for _, d := range documents(read(t, file)) {
			o := manifest(t, d)
			o.file = file
			all = append(all, o)
		}
	}
	return all
}

func manifest(t *testing.T, d []byte) object {
	t.Helper()
	m := parse[map[string]any](t, d)
	what := fmt.Sprint(m["apiVersion"], " ", m["kind"])
	switch what {
	case "v1 Namespace":
		v := parse[corev1.Namespace](t, d)
		return object{meta: v.ObjectMeta, it: v}
	case "v1 Service":
		v := parse[corev1.Service](t, d)
		return object{meta: v.ObjectMeta, it: v}
	case "apps/v1 Deployment":
		v := parse[appsv1.Deployment](t, d)
		return object{meta: v.ObjectMeta, template: &v.Spec.Template, selector: v.Spec.Selector, it: v}
	case "apps/v1 StatefulSet":
		v := parse[appsv1.StatefulSet](t, d)
		return object{meta: v.ObjectMeta, template: &v.Spec.Template, selector: v.Spec.Selector, it: v}
	case "networking.k8s.io/v1 NetworkPolicy":
		v := parse[networkingv1.NetworkPolicy](t, d)
		return object{meta: v.ObjectMeta, it: v}
	}
	t.Fatalf("%s is not known here", what)
	return object{}
}

func pods(t *testing.T) []object {
	t.Helper()
	all := slices.DeleteFunc(manifests(t), func(o object) bool { return o.template == nil })
	if len(all) != 2 {
		t.Fatalf("%d objects make Pods, want Postgres and Redis", len(all))
	}
	return all
}

// allowed evaluates a Pod as the admission of a cluster does.
func allowed(t *testing.T, level psa.Level, pod *corev1.PodTemplateSpec) policy.AggregateCheckResult {
	t.Helper()
	e, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return policy.AggregateCheckResults(e.EvaluatePod(psa.LevelVersion{Level: level, Version: psa.LatestVersion()}, &pod.ObjectMeta, &pod.Spec))
}

func TestNamespaceEnforcesWhatItsPodsKeep(t *testing.T) {
	t.Parallel()
	namespace := parse[corev1.Namespace](t, read(t, "k8s/namespace/namespace.yaml"))
	for _, mode := range []string{psa.EnforceLevelLabel, psa.WarnLevelLabel, psa.AuditLevelLabel} {
		if got := namespace.Labels[mode]; got != string(psa.LevelRestricted) {
			t.Errorf("%s is %q", mode, got)
		}
	}
	for _, o := range pods(t) {
		if r := allowed(t, psa.LevelRestricted, o.template); !r.Allowed {
			t.Errorf("%s: %s: %s", o.file, o.meta.Name, r.ForbiddenDetail())
		}
		loose := o.template.DeepCopy()
		loose.Spec.Containers[0].SecurityContext.Capabilities = nil
		if allowed(t, psa.LevelRestricted, loose).Allowed {
			t.Errorf("%s: allowed with capabilities, so this test is none", o.meta.Name)
		}
	}
}

func TestPodsOfTheStores(t *testing.T) {
	t.Parallel()
	for _, o := range pods(t) {
		spec := o.template.Spec
		if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
			t.Errorf("%s mounts a token", o.meta.Name)
		}
		for _, c := range spec.Containers {
			if c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem {
				t.Errorf("%s writes to its root", o.meta.Name)
			}
			if c.ReadinessProbe == nil {
				t.Errorf("%s is ready untried", o.meta.Name)
			}
			if c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
				t.Errorf("%s has no bound of memory", o.meta.Name)
			}
			if strings.HasSuffix(c.Image, ":latest") || !strings.Contains(c.Image, ":") {
				t.Errorf("%s runs %s, whatever that is today", o.meta.Name, c.Image)
			}
			for _, m := range c.VolumeMounts {
				if !slices.Contains(volumes(o), m.Name) {
					t.Errorf("%s mounts %s, which is no volume", o.meta.Name, m.Name)
				}
			}
			for _, e := range c.Env {
				if strings.Contains(e.Name, "PASSWORD") && e.ValueFrom == nil {
					t.Errorf("%s has the value of %s", o.meta.Name, e.Name)
				}
			}
		}
	}
}

func volumes(o object) []string {
	var names []string
	for _, v := range o.template.Spec.Volumes {
		names = append(names, v.Name)
	}
	if set, ok := o.it.(appsv1.StatefulSet); ok {
		for _, c := range set.Spec.VolumeClaimTemplates {
			names = append(names, c.Name)
		}
	}
	return names
}

// Selectors of workloads, Services and policies find the Pod that they are for, and the ports that they name are its.
func TestStoresHangTogether(t *testing.T) {
	t.Parallel()
	all, workloads := manifests(t), pods(t)
	find := func(name string, selector labels.Selector) object {
		for _, o := range workloads {
			if selector.Matches(labels.Set(o.template.Labels)) {
				return o
			}
		}
		t.Fatalf("%s selects no Pod", name)
		return object{}
	}
	var seen []string
	for _, o := range all {
		switch v := o.it.(type) {
		case corev1.Service:
			pod := find(o.meta.Name, labels.SelectorFromSet(v.Spec.Selector))
			for _, p := range v.Spec.Ports {
				seen = append(seen, "Service "+o.meta.Name)
				if !hasPort(pod, p.TargetPort.StrVal, p.Port) {
					t.Errorf("Service %s: %s has no port %s that is %d", o.meta.Name, pod.meta.Name, p.TargetPort.String(), p.Port)
				}
			}
		case networkingv1.NetworkPolicy:
			pod := find(o.meta.Name, selectorOf(t, &v.Spec.PodSelector))
			for _, rule := range v.Spec.Ingress {
				if len(rule.From) == 0 {
					t.Errorf("NetworkPolicy %s lets everybody in", o.meta.Name)
				}
				for _, p := range rule.Ports {
					seen = append(seen, "NetworkPolicy "+o.meta.Name)
					if !hasPort(pod, p.Port.StrVal, 0) {
						t.Errorf("NetworkPolicy %s: %s has no port %s", o.meta.Name, pod.meta.Name, p.Port)
					}
				}
			}
		default:
			if o.template != nil {
				if find(o.meta.Name, selectorOf(t, o.selector)).meta.Name != o.meta.Name {
					t.Errorf("%s does not select its own Pods", o.meta.Name)
				}
			}
		}
	}
	slices.Sort(seen)
	if want := []string{"NetworkPolicy postgres", "NetworkPolicy redis", "Service postgres", "Service redis"}; !slices.Equal(seen, want) {
		t.Errorf("saw %q, want %q", seen, want)
	}
}

func selectorOf(t *testing.T, s *metav1.LabelSelector) labels.Selector {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	return selector
}

// hasPort is whether a container has a port of the name, and of the number if that is not 0.
func hasPort(o object, name string, number int32) bool {
	for _, c := range o.template.Spec.Containers {
		for _, p := range c.Ports {
			if p.Name == name && (number == 0 || p.ContainerPort == number) {
				return true
			}
		}
	}
	return false
}

// The policies of the stores let in the Pods of the chart that need them, which carry these labels, and nothing else.
func TestPoliciesKnowTheChartsPods(t *testing.T) {
	t.Parallel()
	of := func(component string) labels.Set {
		return labels.Set{"app.kubernetes.io/name": "prism", "app.kubernetes.io/instance": "prism", "app.kubernetes.io/component": component}
	}
	want := map[string][]string{"postgres": {"results", "migrate"}, "redis": {"gateway"}}
	for _, o := range manifests(t) {
		v, ok := o.it.(networkingv1.NetworkPolicy)
		if !ok {
			continue
		}
		peer := selectorOf(t, v.Spec.Ingress[0].From[0].PodSelector)
		for _, component := range []string{"gateway", "results", "model-proxy", "migrate"} {
			if got := peer.Matches(of(component)); got != slices.Contains(want[o.meta.Name], component) {
				t.Errorf("%s lets %s in: %v", o.meta.Name, component, got)
			}
		}
	}
}

// The values for development name the Services, the Secrets and the labels that the manifests and cluster.sh make.
func TestDevelopmentValuesNameTheStores(t *testing.T) {
	t.Parallel()
	values := parse[map[string]any](t, read(t, "k8s/overlays/dev/values.yaml"))
	for path, want := range map[string]any{
		"postgres.host":                "postgres",
		"postgres.existingSecret":      "prism-postgres",
		"internalToken.existingSecret": "prism-services",
		"model.provider":               "offline",
	} {
		if got := lookUp(values, path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if got, ok := lookUp(values, "redis.addresses").([]any); !ok || len(got) != 1 || got[0] != "redis:6379" {
		t.Errorf("redis.addresses is %v", lookUp(values, "redis.addresses"))
	}
	for _, store := range pods(t) {
		peers := decode[[]networkingv1.NetworkPolicyPeer](t, lookUp(values, "networkPolicy."+store.meta.Name+".to"))
		if len(peers) != 1 || !selectorOf(t, peers[0].PodSelector).Matches(labels.Set(store.template.Labels)) {
			t.Errorf("networkPolicy.%s.to does not find its Pod", store.meta.Name)
		}
	}
}

func TestKustomizationsNameWhatExists(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "k8s", "kustomization.yaml") {
		var k types.Kustomization
		if err := k.Unmarshal(read(t, file)); err != nil { // strict
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
			if !exists(filepath.Join(folder, k.HelmGlobals.ChartHome, c.Name, "Chart.yaml")) || !exists(filepath.Join(folder, c.ValuesFile)) {
				t.Errorf("%s: no chart %s or no values %s", file, c.Name, c.ValuesFile)
			}
			// Kustomize does not read the cluster, so the chart would generate a new token each time.
			if lookUp(parse[map[string]any](t, read(t, filepath.Join(folder, c.ValuesFile))), "internalToken.existingSecret") == nil {
				t.Errorf("%s: no internalToken.existingSecret", file)
			}
		}
		for _, i := range k.Images {
			if _, ok := images()[i.Name]; !ok {
				t.Errorf("%s: no image %s", file, i.Name)
			}
		}
	}
}

func TestWhatIsNotForProductionSaysSo(t *testing.T) {
	t.Parallel()
	for _, file := range append(files(t, "k8s/stores", ".yaml"), files(t, "k8s/overlays/dev", ".yaml")...) {
		if !strings.HasPrefix(string(read(t, file)), "# NOT FOR PRODUCTION") {
			t.Errorf("%s does not begin with it", file)
		}
	}
}

func TestKindConfiguration(t *testing.T) {
	t.Parallel()
	c := parse[kind.Cluster](t, read(t, "k8s/kind.yaml"))
	if c.Kind != "Cluster" || c.APIVersion != "kind.x-k8s.io/v1alpha4" || c.Name != "prism" {
		t.Errorf("%s %s %s", c.Kind, c.APIVersion, c.Name)
	}
	roles := map[kind.NodeRole]int{}
	for _, n := range c.Nodes {
		roles[n.Role]++
	}
	if roles[kind.ControlPlaneRole] != 1 || roles[kind.WorkerRole] != 2 {
		t.Errorf("nodes %v", roles)
	}
}
