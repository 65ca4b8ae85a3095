package chart

import (
	"slices"
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
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

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
				if from.PodSelector != nil && from.NamespaceSelector == nil && named && from.PodSelector.MatchLabels["app.kubernetes.io/component"] != "test" && len(matching(t, r, selectorOf(t, from.PodSelector))) != 1 {
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
					if p.Port == nil || p.Port.Type != intstr.String {
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

// Monitors find the admin ports of all services, each once.
func monitored(t *testing.T, r rendering) {
	t.Helper()
	want := []string{"gateway", "results", "model-proxy"}
	for _, optional := range []string{"runs", "console", "webhooks"} {
		if lookUp(r.values, optional+".enabled") != false {
			want = append(want, optional)
		}
	}
	if lookUp(r.values, "operator.enabled") == true {
		want = append(want, "operator")
	}
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
		if !slices.Equal(found, want) {
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
		if slices.Sort(found); !slices.Equal(found, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s finds %q", o.what, found)
		}
	}
}
