package chart

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// The Pod of `helm test` is restricted as all are, runs the gateway's image, and is let through to the gateway.
func TestHelmTestCallsTheGateway(t *testing.T) {
	t.Parallel()
	r := render(t, with(t, `{gateway: {service: {port: 8443}}, networkPolicy: {clients: {from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: gateways}}}]}}}`))
	if len(r.tests) != 1 {
		t.Fatalf("%d Pods", len(r.tests))
	}
	pod := r.tests[0].it.(*corev1.Pod)
	if pod.Annotations["helm.sh/hook"] != "test" {
		t.Errorf("annotations are %v", pod.Annotations)
	}
	if result := admitted(t, &corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}); !result.Allowed {
		t.Error(result.ForbiddenDetail())
	}
	c := pod.Spec.Containers[0]
	if gateway := container(t, workload(t, r, "gateway")); c.Image != gateway.Image || *pod.Spec.AutomountServiceAccountToken {
		t.Errorf("it runs %s, and has a token: %v", c.Image, *pod.Spec.AutomountServiceAccountToken)
	}
	if want := []string{"probe", "http://prism-gateway." + namespace + ":8443"}; !slices.Equal(c.Args, want) {
		t.Errorf("it runs %q, want %q", c.Args, want)
	}
	from := place{name: "test", namespace: namespace, labels: pod.Labels, address: "10.1.2.99"}
	if !lets(t, r, from, placeOf(workload(t, r, "gateway")), corev1.ProtocolTCP, 8080) {
		t.Error("it is not let through")
	}
}
