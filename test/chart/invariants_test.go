package chart

import (
	"slices"
	"strings"
	"sync"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	psa "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// invariants hold for every rendering.
func invariants(t *testing.T, r rendering) {
	t.Helper()
	for _, check := range []func(*testing.T, rendering){
		distinct, labelled, restricted, furnished, selected, scaled, exposed, guarded, monitored, mounted,
	} {
		check(t, r)
	}
}

// Names are names, for one object each, and in the release's namespace.
func distinct(t *testing.T, r rendering) {
	t.Helper()
	seen := map[string]bool{}
	for _, o := range r.objects {
		if seen[o.kind+o.meta.Name] {
			t.Errorf("%s is there twice", o.what)
		}
		seen[o.kind+o.meta.Name] = true
		if wrong := validation.IsDNS1123Label(o.meta.Name); wrong != nil {
			t.Errorf("%s: %q", o.what, wrong)
		}
		if _, ok := o.it.(*corev1.Service); ok && validation.IsDNS1035Label(o.meta.Name) != nil {
			t.Errorf("%s is no name for a Service", o.what)
		}
		if o.meta.Namespace != namespace && !isExtra(o) {
			t.Errorf("%s is in namespace %q", o.what, o.meta.Namespace)
		}
	}
}

// extra objects are the user's own.
func isExtra(o object) bool { return strings.HasPrefix(o.meta.Name, "extra-") }

// Everybody's labels are there, with what the chart's user adds, and Kubernetes takes them.
func labelled(t *testing.T, r rendering) {
	t.Helper()
	common, _ := r.values["commonLabels"].(map[string]any)
	annotations, _ := r.values["commonAnnotations"].(map[string]any)
	for _, o := range r.objects {
		if isExtra(o) {
			continue
		}
		for _, key := range []string{
			"helm.sh/chart", "app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/version",
			"app.kubernetes.io/managed-by", "app.kubernetes.io/part-of",
		} {
			if o.meta.Labels[key] == "" {
				t.Errorf("%s has no label %s", o.what, key)
			}
		}
		if o.meta.Annotations["helm.sh/hook"] != "" && r.values["migrations"] == nil {
			t.Errorf("%s is a hook of Helm", o.what)
		}
		for key, value := range common {
			if o.meta.Labels[key] != value && !strings.HasPrefix(key, "app.kubernetes.io/") {
				t.Errorf("%s has not the common label %s", o.what, key)
			}
		}
		for key, value := range annotations {
			if o.meta.Annotations[key] != value {
				t.Errorf("%s has not the common annotation %s", o.what, key)
			}
		}
		valid(t, o.what, o.meta.Labels)
		if o.template != nil {
			valid(t, "Pods of "+o.what, o.template.Labels)
		}
	}
}

func valid(t *testing.T, what string, set map[string]string) {
	t.Helper()
	for key, value := range set {
		if wrong := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(wrong) > 0 {
			t.Errorf("%s: label %s=%s: %q", what, key, value, wrong)
		}
	}
}

var evaluator = sync.OnceValues(func() (policy.Evaluator, error) { return policy.NewEvaluator(policy.DefaultChecks(), nil) })

// admitted evaluates a Pod as the admission of a cluster does.
func admitted(t *testing.T, pod *corev1.PodTemplateSpec) policy.AggregateCheckResult {
	t.Helper()
	e, err := evaluator()
	if err != nil {
		t.Fatal(err)
	}
	level := psa.LevelVersion{Level: psa.LevelRestricted, Version: psa.LatestVersion()}
	return policy.AggregateCheckResults(e.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec))
}

// Every Pod passes the Pod Security Standard "restricted", and goes further.
func restricted(t *testing.T, r rendering) {
	t.Helper()
	for _, o := range workloads(r) {
		if result := admitted(t, o.template); !result.Allowed {
			t.Errorf("%s: %s", o.what, result.ForbiddenDetail())
		}
		pod := o.template.Spec
		if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
			t.Errorf("%s mounts a token", o.what)
		}
		if pod.EnableServiceLinks == nil || *pod.EnableServiceLinks {
			t.Errorf("%s is told of Services in variables", o.what)
		}
		for name, c := range ours(o) {
			if c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem {
				t.Errorf("%s writes to its root", name)
			}
		}
	}
	for _, account := range of[corev1.ServiceAccount](r) {
		if account.it.AutomountServiceAccountToken == nil || *account.it.AutomountServiceAccountToken {
			t.Errorf("%s gives a token", account.what)
		}
	}
}

// Containers know their image, variables once each, and nothing secret in plain text.
func furnished(t *testing.T, r rendering) {
	t.Helper()
	for _, o := range workloads(r) {
		for name, c := range ours(o) {
			tail := c.Image[strings.LastIndex(c.Image, "/")+1:]
			if !strings.ContainsAny(tail, ":@") || strings.HasSuffix(tail, ":latest") || strings.HasPrefix(c.Image, "/") {
				t.Errorf("%s runs %q", name, c.Image)
			}
			var seen []string
			for _, e := range c.Env {
				if slices.Contains(seen, e.Name) {
					t.Errorf("%s has %s twice", name, e.Name)
				}
				seen = append(seen, e.Name)
				secret := slices.ContainsFunc([]string{"PASSWORD", "TOKEN", "API_KEY", "HEADERS"}, func(s string) bool { return strings.Contains(e.Name, s) })
				if secret && (e.ValueFrom == nil || e.ValueFrom.SecretKeyRef == nil) {
					t.Errorf("%s has %s in plain text", name, e.Name)
				}
			}
		}
	}
}

// matching are the workloads whose Pods a selector finds.
func matching(t *testing.T, r rendering, selector labels.Selector) []object {
	t.Helper()
	return slices.DeleteFunc(workloads(r), func(o object) bool { return !selector.Matches(labels.Set(o.template.Labels)) })
}

func selectorOf(t *testing.T, s *metav1.LabelSelector) labels.Selector {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	return selector
}

// only is the one workload that a selector finds: the object's own.
func only(t *testing.T, r rendering, o object, selector labels.Selector) (found object, ok bool) {
	t.Helper()
	all := matching(t, r, selector)
	if len(all) != 1 || component(all[0]) != component(o) {
		t.Errorf("%s selects %d workloads, want its own: %s", o.what, len(all), selector)
		return object{}, false
	}
	return all[0], true
}

// portOf is the number of a container's port that is given by name or number.
func portOf(o object, port intstr.IntOrString) (number int32, ok bool) {
	for _, c := range o.template.Spec.Containers {
		for _, p := range c.Ports {
			if (port.Type == intstr.String && p.Name == port.StrVal) || (port.Type == intstr.Int && p.ContainerPort == port.IntVal) {
				return p.ContainerPort, true
			}
		}
	}
	return 0, false
}

// Selectors find the Pods that they are for, and only those.
func selected(t *testing.T, r rendering) {
	t.Helper()
	for _, o := range of[appsv1.Deployment](r) {
		only(t, r, o.object, selectorOf(t, o.selector))
		for _, c := range o.it.Spec.Template.Spec.TopologySpreadConstraints {
			only(t, r, o.object, selectorOf(t, c.LabelSelector))
		}
		// A selector cannot be changed, so it holds nothing that a user or a later version changes.
		want := map[string]string{
			"app.kubernetes.io/name": o.meta.Labels["app.kubernetes.io/name"], "app.kubernetes.io/instance": r.release,
			"app.kubernetes.io/component": component(o.object),
		}
		if got := labels.Set(o.selector.MatchLabels).String(); got != labels.Set(want).String() || len(o.selector.MatchExpressions) > 0 {
			t.Errorf("%s selects by %s", o.what, got)
		}
	}
	for _, o := range of[corev1.Service](r) {
		pod, ok := only(t, r, o.object, labels.SelectorFromSet(o.it.Spec.Selector))
		if !ok {
			continue
		}
		for _, p := range o.it.Spec.Ports {
			if _, ok := portOf(pod, p.TargetPort); !ok {
				t.Errorf("%s: %s has no port %s", o.what, pod.what, p.TargetPort.String())
			}
			if private := o.it.Spec.ClusterIP == corev1.ClusterIPNone; (p.TargetPort.StrVal == "admin") != private {
				t.Errorf("%s has port %s", o.what, p.TargetPort.String())
			}
		}
		if component(o.object) != "gateway" && o.it.Spec.Type != corev1.ServiceTypeClusterIP && o.it.Spec.ClusterIP != corev1.ClusterIPNone {
			t.Errorf("%s is of type %s", o.what, o.it.Spec.Type)
		}
	}
	for _, o := range of[policyv1.PodDisruptionBudget](r) {
		only(t, r, o.object, selectorOf(t, o.it.Spec.Selector))
		if (o.it.Spec.MinAvailable == nil) == (o.it.Spec.MaxUnavailable == nil) {
			t.Errorf("%s: minAvailable %v, maxUnavailable %v", o.what, o.it.Spec.MinAvailable, o.it.Spec.MaxUnavailable)
		}
	}
}

// Replicas are the Deployment's, or one autoscaler's, which knows the Deployment.
func scaled(t *testing.T, r rendering) {
	t.Helper()
	scalers := map[string]int{}
	for _, o := range of[autoscalingv2.HorizontalPodAutoscaler](r) {
		target := o.it.Spec.ScaleTargetRef
		scalers[target.APIVersion+target.Kind+target.Name]++
		if len(o.it.Spec.Metrics) == 0 || *o.it.Spec.MinReplicas > o.it.Spec.MaxReplicas {
			t.Errorf("%s scales by %d metrics from %d to %d", o.what, len(o.it.Spec.Metrics), *o.it.Spec.MinReplicas, o.it.Spec.MaxReplicas)
		}
	}
	for _, o := range of[scaledObject](r) {
		target := o.it.Spec.ScaleTargetRef
		scalers[target.APIVersion+target.Kind+target.Name]++
		if len(o.it.Spec.Triggers) == 0 || *o.it.Spec.MinReplicaCount > *o.it.Spec.MaxReplicaCount {
			t.Errorf("%s scales by %d triggers from %d to %d", o.what, len(o.it.Spec.Triggers), *o.it.Spec.MinReplicaCount, *o.it.Spec.MaxReplicaCount)
		}
	}
	for _, o := range of[appsv1.Deployment](r) {
		key := "apps/v1Deployment" + o.meta.Name
		if scalers[key] > 1 || (scalers[key] == 1) != (o.it.Spec.Replicas == nil) {
			t.Errorf("%s has %d autoscalers and replicas %v", o.what, scalers[key], o.it.Spec.Replicas)
		}
		delete(scalers, key)
		// Rolling updates take nothing away, unless there is to be one Pod at most.
		if s := o.it.Spec.Strategy; s.Type == appsv1.RecreateDeploymentStrategyType {
			if s.RollingUpdate != nil {
				t.Errorf("%s: Recreate with %v, which Kubernetes refuses", o.what, s.RollingUpdate)
			}
		} else if s.RollingUpdate == nil || s.RollingUpdate.MaxUnavailable.String() != "0" {
			t.Errorf("%s takes Pods away while it rolls", o.what)
		}
	}
	for target := range scalers {
		t.Errorf("an autoscaler is for %s", target)
	}
}

// Who sends callers here names the gateway's Service, and a port that it has.
func exposed(t *testing.T, r rendering) {
	t.Helper()
	service := func(o object, name string, has func(corev1.ServicePort) bool) {
		t.Helper()
		s := one[corev1.Service](t, r, name)
		if s.Labels["app.kubernetes.io/component"] != "gateway" || !slices.ContainsFunc(s.Spec.Ports, has) {
			t.Errorf("%s sends to %s, to a port that it has not", o.what, name)
		}
	}
	for _, o := range of[networkingv1.Ingress](r) {
		for _, rule := range o.it.Spec.Rules {
			for _, path := range rule.HTTP.Paths {
				service(o.object, path.Backend.Service.Name, func(p corev1.ServicePort) bool { return p.Name == path.Backend.Service.Port.Name })
			}
		}
	}
	for _, o := range of[gatewayv1.HTTPRoute](r) {
		for _, rule := range o.it.Spec.Rules {
			if len(rule.BackendRefs) != 1 {
				t.Errorf("%s has %d backends", o.what, len(rule.BackendRefs))
			}
			for _, ref := range rule.BackendRefs {
				service(o.object, string(ref.Name), func(p corev1.ServicePort) bool { return p.Port == *ref.Port })
			}
		}
	}
}

// Where there are policies, each workload has one, for both directions, and rules name ports that there are.
func guarded(t *testing.T, r rendering) {
	t.Helper()
	policies := of[networkingv1.NetworkPolicy](r)
	if len(policies) == 0 {
		if lookUp(r.values, "networkPolicy.enabled") != false {
			t.Error("there are no NetworkPolicies")
		}
		return
	}
	if len(policies) != len(workloads(r)) {
		t.Errorf("%d policies for %d workloads", len(policies), len(workloads(r)))
	}
	for _, o := range policies {
		pod, ok := only(t, r, o.object, selectorOf(t, &o.it.Spec.PodSelector))
		if !ok {
			continue
		}
		if !slices.Contains(o.it.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) || !slices.Contains(o.it.Spec.PolicyTypes, networkingv1.PolicyTypeEgress) {
			t.Errorf("%s is for %v", o.what, o.it.Spec.PolicyTypes)
		}
		for _, rule := range o.it.Spec.Ingress {
			named := slices.ContainsFunc(rule.Ports, func(p networkingv1.NetworkPolicyPort) bool { return p.Port.Type == intstr.String })
			for _, p := range rule.Ports {
				if _, ok := portOf(pod, *p.Port); !ok && named {
					t.Errorf("%s: %s has no port %s", o.what, pod.what, p.Port)
				}
			}
			for _, from := range rule.From {
				if from.PodSelector != nil && from.NamespaceSelector == nil && named && len(matching(t, r, selectorOf(t, from.PodSelector))) != 1 {
					t.Errorf("%s lets in %v, which is nobody", o.what, from.PodSelector)
				}
			}
		}
		for _, rule := range o.it.Spec.Egress {
			if len(rule.Ports) == 0 && len(rule.To) == 0 {
				t.Errorf("%s lets out to everywhere", o.what)
			}
			for _, p := range rule.Ports {
				for _, to := range rule.To {
					if p.Port.Type != intstr.String {
						continue
					}
					found := matching(t, r, selectorOf(t, to.PodSelector))
					if len(found) != 1 {
						t.Errorf("%s lets out to %v, which is nobody", o.what, to.PodSelector)
					} else if _, ok := portOf(found[0], *p.Port); !ok {
						t.Errorf("%s: %s has no port %s", o.what, found[0].what, p.Port)
					}
				}
			}
		}
	}
	reachable(t, r)
}

// Monitors find the admin ports of all three services, each once.
func monitored(t *testing.T, r rendering) {
	t.Helper()
	for _, o := range of[monitoringv1.ServiceMonitor](r) {
		var found []string
		selector := selectorOf(t, &o.it.Spec.Selector)
		for _, s := range of[corev1.Service](r) {
			if !selector.Matches(labels.Set(s.meta.Labels)) {
				continue
			}
			found = append(found, component(s.object))
			if !slices.ContainsFunc(s.it.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == o.it.Spec.Endpoints[0].Port }) {
				t.Errorf("%s: %s has no such port", o.what, s.what)
			}
		}
		if !slices.Equal(found, []string{"gateway", "results", "model-proxy"}) {
			t.Errorf("%s finds %q", o.what, found)
		}
		if got := o.it.Spec.NamespaceSelector.MatchNames; !slices.Equal(got, []string{namespace}) {
			t.Errorf("%s looks in %q", o.what, got)
		}
	}
	for _, o := range of[monitoringv1.PodMonitor](r) {
		var found []string
		for _, pod := range matching(t, r, selectorOf(t, &o.it.Spec.Selector)) {
			if _, ok := portOf(pod, intstr.FromString(*o.it.Spec.PodMetricsEndpoints[0].Port)); ok {
				found = append(found, component(pod))
			}
		}
		slices.Sort(found)
		if !slices.Equal(found, []string{"gateway", "model-proxy", "results"}) {
			t.Errorf("%s finds %q", o.what, found)
		}
	}
}

// What is mounted is a volume, volumes are mounted, and accounts are made or named.
func mounted(t *testing.T, r rendering) {
	t.Helper()
	for _, o := range workloads(r) {
		pod := o.template.Spec
		unused := map[string]bool{}
		for _, v := range pod.Volumes {
			unused[v.Name] = true
		}
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			for _, m := range c.VolumeMounts {
				if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
					t.Errorf("%s: %s mounts %s, which is no volume", o.what, c.Name, m.Name)
				}
				delete(unused, m.Name)
			}
		}
		for name := range unused {
			t.Errorf("%s: nobody mounts %s", o.what, name)
		}
		made := slices.ContainsFunc(of[corev1.ServiceAccount](r), func(a named[corev1.ServiceAccount]) bool { return a.meta.Name == pod.ServiceAccountName })
		if own := strings.HasPrefix(pod.ServiceAccountName, "own-"); made == (own || pod.ServiceAccountName == "default") {
			t.Errorf("%s runs as %q; made here: %v", o.what, pod.ServiceAccountName, made)
		}
	}
}

func TestARestrictedPodIsToldFromOneThatIsNot(t *testing.T) {
	t.Parallel()
	for _, o := range workloads(render(t, with(t, "migrations: {mode: job}"))) {
		loose := o.template.DeepCopy()
		loose.Spec.Containers[0].SecurityContext.Capabilities = nil
		if admitted(t, loose).Allowed {
			t.Errorf("%s: allowed with capabilities, so the check is none", o.what)
		}
	}
}

func TestAFieldThatIsNoneFails(t *testing.T) {
	t.Parallel()
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 1}]}"
	if _, err := decode([]byte(service)); err != nil {
		t.Error(err)
	}
	for from, to := range map[string]string{
		"spec: {":     "spec: {portss: [], ",
		"{port: 1}":   "{Port: 1}",
		"kind: Serv":  "kind: serv",
		"port: 1":     `port: "1"`,
		"metadata: {": "metadata: {name: b, ",
	} {
		if o, err := decode([]byte(strings.Replace(service, from, to, 1))); err == nil {
			t.Errorf("%q was read as %+v", to, o.it)
		}
	}
}
