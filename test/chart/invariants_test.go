package chart

import (
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	psa "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
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
		key := o.kind + o.meta.Namespace + "/" + o.meta.Name
		if seen[key] {
			t.Errorf("%s is there twice", o.what)
		}
		seen[key] = true
		if wrong := validation.IsDNS1123Label(o.meta.Name); wrong != nil {
			t.Errorf("%s: %q", o.what, wrong)
		}
		if _, ok := o.it.(*corev1.Service); ok && validation.IsDNS1035Label(o.meta.Name) != nil {
			t.Errorf("%s is no name for a Service", o.what)
		}
		elsewhere := map[bool]string{true: "", false: namespace}[strings.Contains(o.kind, " Cluster")]
		if o.meta.Namespace != elsewhere && !isExtra(o) && !permitted(r, o) {
			t.Errorf("%s is in namespace %q", o.what, o.meta.Namespace)
		}
	}
}

// permitted tells that an object lets the operator work in a namespace of operator.namespaces.
func permitted(r rendering, o object) bool {
	named, _ := lookUp(r.values, "operator.namespaces").([]any)
	return strings.HasPrefix(o.kind, "rbac.authorization.k8s.io/v1 Role") && slices.Contains(named, any(o.meta.Namespace))
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
		if token := pod.AutomountServiceAccountToken; token == nil || *token != (component(o) == "operator") { // which alone calls Kubernetes
			t.Errorf("%s mounts a token: %v", o.what, token)
		}
		if pod.EnableServiceLinks == nil || *pod.EnableServiceLinks {
			t.Errorf("%s is told of Services in variables", o.what)
		}
		for name, c := range ours(o) {
			if c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem {
				t.Errorf("%s writes to its root", name)
			}
			tmp := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/tmp" && !m.ReadOnly })
			if tmp != (name == "results/results") { // which reads files, and has a part of large ones on the disk
				t.Errorf("%s can write to /tmp: %v", name, tmp)
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
				secret = secret && !strings.HasSuffix(e.Name, "_FILE") // the path of a file of a Secret
				if secret && (e.ValueFrom == nil || e.ValueFrom.SecretKeyRef == nil) {
					t.Errorf("%s has %s in plain text", name, e.Name)
				}
			}
		}
	}
}

// Every mount names a volume, every volume is mounted, and every service account is created here or named by the user.
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
