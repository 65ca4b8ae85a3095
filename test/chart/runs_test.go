package chart

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// Workers scale by how long the oldest run waits if the cluster has a metric for it, and else by CPU.
func TestWorkersScaleByTheirQueue(t *testing.T) {
	t.Parallel()
	scaler := func(values string) []autoscalingv2.MetricSpec {
		r := render(t, with(t, `runs: {autoscaling: {enabled: true}}`, values))
		if n := len(of[autoscalingv2.HorizontalPodAutoscaler](r)); n != 1 {
			t.Fatalf("%d autoscalers", n)
		}
		return one[autoscalingv2.HorizontalPodAutoscaler](t, r, "prism-runs").Spec.Metrics
	}
	byCPU := scaler(`{}`)
	if len(byCPU) != 1 || byCPU[0].Resource.Name != corev1.ResourceCPU {
		t.Errorf("without a metric: %+v", byCPU)
	}
	byQueue := scaler(`runs: {autoscaling: {metric: prism_run_queue_seconds, queueSeconds: 45}}`)
	if len(byQueue) != 1 || byQueue[0].External == nil || byQueue[0].External.Metric.Name != "prism_run_queue_seconds" ||
		byQueue[0].External.Target.Type != autoscalingv2.ValueMetricType || byQueue[0].External.Target.Value.String() != "45" {
		t.Errorf("with a metric: %+v", byQueue)
	}
}

// Nothing of the workers is left when they are switched off, and no other Pod differs.
func TestWithoutWorkersTheRestIsTheSame(t *testing.T) {
	t.Parallel()
	off := render(t, with(t, `{runs: {enabled: false}, migrations: {mode: job}}`))
	for _, o := range off.objects {
		if component(o) == "runs" || strings.Contains(o.text, "component: runs") || strings.Contains(o.text, "prism-runs") {
			t.Errorf("there is %s:\n%s", o.what, o.text)
		}
	}
	if strings.Contains(off.notes, "runs") {
		t.Errorf("the notes name the workers:\n%s", off.notes)
	}
	on := render(t, with(t, `migrations: {mode: job}`))
	for _, o := range workloads(on) {
		same := slices.ContainsFunc(off.objects, func(other object) bool { return other.text == o.text })
		if same == (component(o) == "runs") {
			t.Errorf("%s is the same without workers: %v", o.what, same)
		}
	}
}

// A worker has no port that anybody could call, and no Service.
func TestNobodyCallsAWorker(t *testing.T) {
	t.Parallel()
	r := render(t, with(t, `metrics: {serviceMonitor: {enabled: true}}`))
	for _, o := range of[appsv1.Deployment](r) {
		ports := container(t, o.object).Ports
		if component(o.object) == "runs" && (len(ports) != 1 || ports[0].Name != "admin") {
			t.Errorf("%s has the ports %+v", o.what, ports)
		}
	}
	for _, s := range of[corev1.Service](r) {
		if component(s.object) == "runs" && s.it.Spec.ClusterIP != corev1.ClusterIPNone {
			t.Errorf("%s is for callers", s.what)
		}
	}
}
