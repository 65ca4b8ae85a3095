package chart

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// What the operator may do is told apart by where: in every namespace whose objects count, and in the release's alone.
func TestTheOperatorMayDoWhatItNeedsAndNothingElse(t *testing.T) {
	t.Parallel()
	const (
		everywhere = "events.k8s.io/events: create patch; prism.dev/prismaccounts: get list patch watch; prism.dev/prismaccounts/status: patch update; " +
			"prism.dev/prismkeys: get list patch watch; prism.dev/prismkeys/finalizers: update; prism.dev/prismkeys/status: patch update; " +
			"prism.dev/prismmodels: get list patch watch; prism.dev/prismmodels/status: patch update; " +
			"prism.dev/prisms: get list patch watch; prism.dev/prisms/finalizers: update; prism.dev/prisms/status: patch update; " +
			"prism.dev/prismwebhooks: get list patch watch; prism.dev/prismwebhooks/finalizers: update; prism.dev/prismwebhooks/status: patch update; " +
			"/secrets: create get list update watch"
		release = "/configmaps prism-models: get update; /configmaps: create; coordination.k8s.io/leases prism-operator: get patch update; " +
			"coordination.k8s.io/leases: create; ,events.k8s.io/events: create patch"
	)
	sorted := func(text string) []string { return slices.Sorted(slices.Values(strings.Split(text, "; "))) }
	for name, c := range map[string]struct {
		values string
		want   map[string]string // rights by namespace and name; "" is every namespace
	}{
		"without it": {``, map[string]string{}},
		"everywhere": {`operator: {enabled: true}`, map[string]string{
			"/" + namespace + "-prism-operator": everywhere, namespace + "/prism-operator-release": release,
		}},
		"in some namespaces": {`operator: {enabled: true, namespaces: [team-a, team-b]}`, map[string]string{
			"team-a/prism-operator": everywhere, "team-b/prism-operator": everywhere, namespace + "/prism-operator": everywhere,
			namespace + "/prism-operator-release": release,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := render(t, with(t, c.values))
			got, bound := map[string][]rbacv1.PolicyRule{}, map[string]bool{}
			for _, o := range of[rbacv1.Role](r) {
				got[o.meta.Namespace+"/"+o.meta.Name] = o.it.Rules
			}
			for _, o := range of[rbacv1.ClusterRole](r) {
				got["/"+o.meta.Name] = o.it.Rules
			}
			check := func(o object, kind string, ref rbacv1.RoleRef, subjects []rbacv1.Subject) {
				if ref.Kind != kind || len(subjects) != 1 || subjects[0] != (rbacv1.Subject{Kind: "ServiceAccount", Name: "prism-operator", Namespace: namespace}) {
					t.Errorf("%s binds %+v to %+v", o.what, subjects, ref)
				}
				bound[o.meta.Namespace+"/"+ref.Name] = true
			}
			for _, o := range of[rbacv1.RoleBinding](r) {
				check(o.object, "Role", o.it.RoleRef, o.it.Subjects)
			}
			for _, o := range of[rbacv1.ClusterRoleBinding](r) {
				check(o.object, "ClusterRole", o.it.RoleRef, o.it.Subjects)
			}
			for role, want := range c.want {
				var rights []string
				for _, rule := range got[role] {
					for _, resource := range rule.Resources {
						text := strings.Join(rule.APIGroups, ",") + "/" + resource
						for _, n := range rule.ResourceNames {
							text += " " + n
						}
						rights = append(rights, text+": "+strings.Join(slices.Sorted(slices.Values(rule.Verbs)), " "))
					}
				}
				if slices.Sort(rights); !slices.Equal(rights, sorted(want)) || !bound[role] {
					t.Errorf("%s (bound: %v) may\n%s\nwant\n%s", role, bound[role], strings.Join(rights, "\n"), strings.Join(sorted(want), "\n"))
				}
			}
			if len(got) != len(c.want) || len(bound) != len(c.want) {
				t.Errorf("roles are %v, bound %v", got, bound)
			}
		})
	}
}

func TestCustomResourcesComeWithTheOperatorAndStay(t *testing.T) {
	t.Parallel()
	if r := render(t, with(t)); len(r.crds) != 0 {
		t.Error("custom resources without the operator")
	}
	r := render(t, with(t, "operator: {enabled: true}"))
	if len(r.crds) != 5 {
		t.Errorf("%d custom resources", len(r.crds))
	}
	for _, o := range r.crds {
		crd := o.it.(*apiextensionsv1.CustomResourceDefinition)
		if crd.Annotations["helm.sh/resource-policy"] != "keep" { // all objects of the kind would go with it
			t.Errorf("%s goes when the chart is uninstalled", o.what)
		}
		if v := crd.Spec.Versions[0]; v.Subresources == nil || v.Subresources.Status == nil || len(v.AdditionalPrinterColumns) < 4 {
			t.Errorf("%s shows %v", o.what, v.AdditionalPrinterColumns)
		}
	}
}

func TestTheOperatorIsLetThroughToWhatItCalls(t *testing.T) {
	t.Parallel()
	r := render(t, with(t, `{operator: {enabled: true}, networkPolicy: {clients: {from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: gateways}}}]}}}`))
	operator, server := placeOf(workload(t, r, "operator")), place{address: "10.96.0.1"}
	for _, c := range []struct {
		to   place
		port int32
		want bool
	}{
		{placeOf(workload(t, r, "gateway")), 8080, true},
		{placeOf(workload(t, r, "results")), 8081, true},
		{placeOf(workload(t, r, "model-proxy")), 8082, false},
		{placeOf(workload(t, r, "model-proxy")), 9092, false},
		{placeOf(workload(t, r, "gateway")), 9090, false},
		{server, 443, true},
		{server, 6443, true},
		{server, 80, false},
	} {
		if got := lets(t, r, operator, c.to, corev1.ProtocolTCP, c.port); got != c.want {
			t.Errorf("to %s:%d: %v", c.to.name, c.port, got)
		}
	}
	if got := environment(*container(t, workload(t, r, "operator")))["PRISM_URL"]; got != "http://prism-gateway."+namespace {
		t.Errorf("PRISM_URL is %s", got)
	}
}

// Only results and the operator have the token that makes accounts and keys.
// spec: token-for-each-edge
func TestOnlyResultsAndTheOperatorHaveTheOperatorsToken(t *testing.T) {
	t.Parallel()
	const token = "PRISM_OPERATOR_TOKEN=prism-operator-token/token "
	for service, variables := range tokensOf(t, render(t, with(t, "operator: {enabled: true}"))) {
		if got := strings.Contains(variables, token); got != (service == "prism-results" || service == "prism-operator") {
			t.Errorf("%s has %q", service, variables)
		}
	}
}

// With models of custom resources the operator writes the ConfigMap, which the chart must not.
func TestModelsOfCustomResources(t *testing.T) {
	t.Parallel()
	r := render(t, with(t, `{operator: {enabled: true}, models: {declared: true}}`))
	for _, c := range of[corev1.ConfigMap](r) {
		if c.meta.Name == "prism-models" {
			t.Error("the chart has the ConfigMap too")
		}
	}
	w, operator := workload(t, r, "model-proxy"), workload(t, r, "operator")
	pods := one[corev1.Service](t, r, "prism-model-proxy-pods")
	if pods.Spec.ClusterIP != corev1.ClusterIPNone || !pods.Spec.PublishNotReadyAddresses || len(pods.Spec.Ports) != 1 || pods.Spec.Ports[0].Port != 9092 ||
		!selectorOf(t, &metav1.LabelSelector{MatchLabels: pods.Spec.Selector}).Matches(labels.Set(w.template.Labels)) {
		t.Errorf("the operator finds the Pods of model-proxy by %+v", pods.Spec)
	}
	if got := environment(*container(t, operator))["PRISM_OPERATOR_MODEL_PROXIES"]; got != "prism-model-proxy-pods."+namespace+":9092" {
		t.Errorf("PRISM_OPERATOR_MODEL_PROXIES is %q", got)
	}
	if !lets(t, r, placeOf(operator), placeOf(w), corev1.ProtocolTCP, 9092) || lets(t, r, placeOf(operator), placeOf(w), corev1.ProtocolTCP, 8082) {
		t.Error("the operator is not let through to the admin port of model-proxy alone")
	}
	if !slices.ContainsFunc(w.template.Spec.Volumes, func(v corev1.Volume) bool { return v.ConfigMap != nil && v.ConfigMap.Name == "prism-models" }) {
		t.Error("model-proxy does not mount it")
	}
	if got := environment(*container(t, w))["PRISM_MODELS_FILE"]; got != "/etc/prism/models/models.yaml" {
		t.Errorf("PRISM_MODELS_FILE is %q", got)
	}
}

// When the operator ends, a Job that may do nothing else takes its finalizers away, so that custom resources can be deleted.
// spec: declared-deletion
func TestAJobReleasesCustomResourcesWhenTheOperatorEnds(t *testing.T) {
	t.Parallel()
	running := cluster{"apps/v1 Deployment prism-operator": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
	for name, c := range map[string]struct {
		cluster cluster
		values  string
		event   string // "": nothing
		roles   []string
	}{
		"uninstalled":                     {nil, `operator: {enabled: true}`, "post-delete", []string{"/" + namespace + "-prism-operator-finalizers"}},
		"uninstalled, of some namespaces": {running, `operator: {enabled: true, namespaces: [team]}`, "post-delete", []string{"prism/prism-operator-finalizers", "team/prism-operator-finalizers"}},
		"switched off":                    {running, ``, "post-upgrade", []string{"/" + namespace + "-prism-operator-finalizers"}},
		"never there":                     {nil, ``, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := installation{chart: theChart(t), release: "prism", cluster: c.cluster}.render(t, with(t, c.values))
			var roles []string
			var jobs, accounts, bindings int
			rules := func(o object, rules []rbacv1.PolicyRule) {
				roles = append(roles, o.meta.Namespace+"/"+o.meta.Name)
				if len(rules) != 1 || !slices.Equal(rules[0].APIGroups, []string{"prism.dev"}) || len(rules[0].Resources) != 5 || !slices.Equal(rules[0].Verbs, []string{"list", "patch"}) {
					t.Errorf("%s may %+v", o.what, rules)
				}
			}
			for _, o := range r.hooks {
				if got := o.meta.Annotations; got["helm.sh/hook"] != c.event || got["helm.sh/hook-delete-policy"] != "before-hook-creation,hook-succeeded" {
					t.Errorf("%s has %v", o.what, got)
				}
				if (o.meta.Annotations["helm.sh/hook-weight"] == "0") != (o.template != nil) {
					t.Errorf("%s runs before it can", o.what)
				}
				subjects := []rbacv1.Subject{}
				switch it := o.it.(type) {
				case *rbacv1.Role:
					rules(o, it.Rules)
				case *rbacv1.ClusterRole:
					rules(o, it.Rules)
				case *rbacv1.RoleBinding:
					subjects = it.Subjects
				case *rbacv1.ClusterRoleBinding:
					subjects = it.Subjects
				case *corev1.ServiceAccount:
					accounts++
				default:
					jobs++
					pod := o.template.Spec
					if result := admitted(t, o.template); !result.Allowed {
						t.Error(result.ForbiddenDetail())
					}
					if pod.ServiceAccountName != "prism-operator-finalizers" || !*pod.AutomountServiceAccountToken || pod.RestartPolicy != corev1.RestartPolicyNever {
						t.Errorf("it runs as %+v", pod)
					}
					if main := pod.Containers[0]; !slices.Equal(main.Args, []string{"release"}) || !strings.Contains(main.Image, "prism-operator:") {
						t.Errorf("it runs %s %v", main.Image, main.Args)
					}
				}
				for _, s := range subjects {
					bindings++
					if s != (rbacv1.Subject{Kind: "ServiceAccount", Name: "prism-operator-finalizers", Namespace: namespace}) {
						t.Errorf("%s binds %+v", o.what, s)
					}
				}
			}
			slices.Sort(roles)
			if once := min(len(c.roles), 1); !slices.Equal(roles, c.roles) || bindings != len(c.roles) || jobs != once || accounts != once {
				t.Errorf("the roles are %v, bound %d times, %d Jobs and %d ServiceAccounts", roles, bindings, jobs, accounts)
			}
		})
	}
}
