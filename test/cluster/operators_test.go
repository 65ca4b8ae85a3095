//go:build cluster

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/test/cluster/internal/kube"
	"github.com/prism-results/prism/test/internal/load"
)

const (
	operatorName = release + "-operator" // of the Deployment and the lease
	secondName   = "second-operator"
)

// changed makes round n of changes, which are all that an operator has to do: a question, the key by its role, and in each other round a
// Secret that is deleted. It does not wait.
func (w *team) changed(n int) (text string) {
	w.t.Helper()
	text = fmt.Sprintf("What is message %d about?", n)
	w.ask(text)
	w.change("prismkey/app", `{"role":"`+[]string{"reader", "caller"}[n%2]+`"}`)
	if n%2 == 1 {
		if _, err := w.space.Kubectl(w.t.Context(), "delete", "secret", "prism", "--ignore-not-found"); err != nil {
			w.t.Fatal(err)
		}
	}
	return text
}

// synced waits until Prism has what the specs say.
func (w *team) synced() {
	w.t.Helper()
	w.until("prism/triage", "Synced", "True", "")
	w.until("prismkey/app", "Synced", "True", "")
	w.await("there is a Secret", func(ctx context.Context) (bool, string, error) {
		out, err := w.space.Kubectl(ctx, "get", "secret", "prism", "--ignore-not-found", "--output", "name")
		return out != "", out, err
	})
}

// leader waits until a Pod has a lease that another one had, and returns its name.
func (c *cluster) leader(ctx context.Context, t *testing.T, lease, before string) (pod string) {
	t.Helper()
	c.await(ctx, t, "there is a leader", func(ctx context.Context) (bool, string, error) {
		out, err := c.ns.Kubectl(ctx, "get", "lease", lease, "--ignore-not-found", "--output", "jsonpath={.spec.holderIdentity}")
		pod, _, _ = strings.Cut(out, "_")
		return err == nil && pod != "" && pod != before, out, err
	})
	return pod
}

// kill ends a Pod in the middle of what it does, after a moment, as suddenly as Kubernetes can: what is in progress is cut off.
func (c *cluster) kill(ctx context.Context, t *testing.T, pod string) {
	pause := rand.N(700 * time.Millisecond)
	load.Wait(ctx, pause)
	if _, err := c.ns.Kubectl(ctx, "delete", "pod", pod, "--grace-period", "0", "--force", "--ignore-not-found"); err != nil {
		t.Error(err)
	}
	t.Logf("%s was killed after %s", pod, pause)
}

func (c *cluster) killedOperators(t *testing.T) {
	c.settledOperator(t)
	w := c.newTeam(t)
	w.folder()
	texts, pod := []string{firstText}, ""
	for i := range 6 {
		pod = c.leader(t.Context(), t, operatorName, pod)
		var killing sync.WaitGroup
		killing.Go(func() { c.kill(t.Context(), t, pod) })
		texts = append(texts, w.changed(i))
		killing.Wait()
		w.synced()
	}
	w.whole(w.owner(), texts...)
}

// twoOperators has a second Deployment of operators with a lease of its own, so that both work. One of the two is killed now and then.
func (c *cluster) twoOperators(t *testing.T) {
	c.settledOperator(t)
	w := c.newTeam(t)
	c.second(t)
	w.folder()
	texts := []string{firstText}
	leaders := map[string]string{operatorName: "", secondName: ""} // that were killed
	for i := range 8 {
		var killing sync.WaitGroup
		for lease, killed := range maps.Clone(leaders) {
			leader := c.leader(t.Context(), t, lease, killed)
			if i%4 == 3 {
				killing.Go(func() { c.kill(t.Context(), t, leader) })
				leaders[lease] = leader
			}
		}
		texts = append(texts, w.changed(i))
		killing.Wait()
		w.synced()
	}
	w.whole(w.owner(), texts...)
}

// second makes the Deployment of further operators, and the right to their lease.
func (c *cluster) second(t *testing.T) {
	t.Helper()
	var d struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       struct {
			Replicas int            `json:"replicas"`
			Selector map[string]any `json:"selector"`
			Template struct {
				Metadata struct {
					Labels map[string]any `json:"labels"`
				} `json:"metadata"`
				Spec map[string]any `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := c.ns.Get(t.Context(), &d, "deployment", operatorName); err != nil {
		t.Fatal(err)
	}
	d.Metadata = map[string]any{"name": secondName}
	d.Spec.Replicas = 1
	d.Spec.Template.Metadata.Labels["second"] = "true"
	d.Spec.Selector = map[string]any{"matchLabels": d.Spec.Template.Metadata.Labels}
	container := d.Spec.Template.Spec["containers"].([]any)[0].(map[string]any)
	for _, v := range container["env"].([]any) {
		if v := v.(map[string]any); v["name"] == "PRISM_OPERATOR_RELEASE" {
			v["value"] = "second"
		}
	}
	const rbac = "rbac.authorization.k8s.io"
	metadata := map[string]any{"name": secondName}
	objects := []any{
		map[string]any{"apiVersion": rbac + "/v1", "kind": "Role", "metadata": metadata, "rules": []any{map[string]any{
			"apiGroups": []any{"coordination.k8s.io"}, "resources": []any{"leases"}, "resourceNames": []any{secondName}, "verbs": []any{"get", "update", "patch"},
		}}},
		map[string]any{
			"apiVersion": rbac + "/v1", "kind": "RoleBinding", "metadata": metadata,
			"roleRef":  map[string]any{"apiGroup": rbac, "kind": "Role", "name": secondName},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": d.Spec.Template.Spec["serviceAccountName"], "namespace": c.ns.Name}},
		},
		d,
	}
	t.Cleanup(func() {
		_, err := c.ns.Kubectl(context.WithoutCancel(t.Context()), "delete", "deployment/"+secondName, "role/"+secondName, "rolebinding/"+secondName, "lease/"+secondName,
			"--ignore-not-found", "--timeout", "2m")
		if err != nil {
			t.Error(err)
		}
	})
	if err := c.ns.Apply(t.Context(), objects...); err != nil {
		t.Fatal(err)
	}
	c.kubectl(t.Context(), t, "rollout", "status", "deployment/"+secondName, "--timeout", "10m")
}

// away scales the gateway and results to nothing, which ends every connection to them, and returns what brings them back.
func (c *cluster) away(t *testing.T) (back func()) {
	t.Helper()
	return c.scaleTo0(t, "gateway", "results")
}

// scaleTo0 leaves no Pod of services, and returns what brings them back, which may be called again.
func (c *cluster) scaleTo0(t *testing.T, services ...string) (back func()) {
	t.Helper()
	before := map[string]string{}
	for _, service := range services {
		name := "deployment/" + release + "-" + service
		before[name] = c.kubectl(t.Context(), t, "get", name, "--output", "jsonpath={.spec.replicas}")
		c.kubectl(t.Context(), t, "scale", name, "--replicas=0")
	}
	for _, service := range services {
		c.await(t.Context(), t, "no "+service+" is left", func(ctx context.Context) (bool, string, error) {
			pods, err := c.ns.Pods(ctx, selector(service))
			return err == nil && len(pods) == 0, summary(pods), err
		})
	}
	return sync.OnceFunc(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, name := range slices.Sorted(maps.Keys(before)) {
			c.kubectl(ctx, t, "scale", name, "--replicas="+before[name])
		}
		for name := range before {
			c.kubectl(ctx, t, "rollout", "status", name, "--timeout", "10m")
		}
	})
}

func (c *cluster) withoutPrism(t *testing.T) {
	c.settledOperator(t)
	w := c.newTeam(t)
	w.folder()
	back := c.away(t)
	defer back()
	w.changed(0)
	last := w.changed(1)
	w.until("prism/triage", "Synced", "False", "Unavailable")
	w.until("prismkey/app", "Synced", "False", "Unavailable")
	for _, pod := range c.pods(t.Context(), t, "operator") { // the next ones begin without Prism
		c.kubectl(t.Context(), t, "delete", "pod", pod.Metadata.Name, "--grace-period", "0", "--force")
	}
	c.leader(t.Context(), t, operatorName, "")
	back()
	w.synced()
	w.whole(w.owner(), firstText, last)
}

// withoutAPIServer takes all rights from the operators. What they watch they still see, so that they act, and can't write what they did;
// then they lose their lease and end.
func (c *cluster) withoutAPIServer(t *testing.T) {
	c.settledOperator(t)
	w := c.newTeam(t)
	w.folder()
	give := c.takeRights(t)
	defer give()
	first := w.changed(1)
	c.await(t.Context(), t, "the operators have ended", func(ctx context.Context) (bool, string, error) {
		pods, err := c.ns.Pods(ctx, selector("operator"))
		ended := false
		for _, pod := range pods {
			ended = ended || pod.Restarts() > 0
		}
		return err == nil && ended, summary(pods), err
	})
	owner := w.owner()
	made := w.versions(owner, refreshed)
	last := w.changed(2)
	give()
	c.kubectl(t.Context(), t, "rollout", "restart", "deployment/"+operatorName)
	c.kubectl(t.Context(), t, "rollout", "status", "deployment/"+operatorName, "--timeout", "10m")
	w.synced()
	texts := []string{firstText, last}
	if len(made) > 1 { // it made the version, and could not say so
		texts = []string{firstText, first, last}
	}
	t.Logf("without rights it made %d versions", len(made)-1)
	w.whole(owner, texts...)
}

// takeRights takes all rights of the operators, and returns what gives them back, which may be called again.
func (c *cluster) takeRights(t *testing.T) (give func()) {
	t.Helper()
	var subjects string
	bindings := []string{"clusterrolebinding/" + c.ns.Name + "-" + operatorName, "rolebinding/" + operatorName + "-release"}
	for _, binding := range bindings {
		var b struct{ Subjects json.RawMessage }
		if err := c.ns.Get(t.Context(), &b, binding); err != nil {
			t.Fatal(err)
		}
		subjects = string(b.Subjects)
		c.kubectl(t.Context(), t, "patch", binding, "--type", "merge", "--patch", `{"subjects":null}`)
	}
	return sync.OnceFunc(func() {
		for _, binding := range bindings {
			c.kubectl(context.WithoutCancel(t.Context()), t, "patch", binding, "--type", "merge", "--patch", `{"subjects":`+subjects+`}`)
		}
	})
}

// rotatedKeys has the load read its keys from mounted Secrets. They change every minute, and the kubelet takes up to two to bring them.
func (c *cluster) rotatedKeys(t *testing.T) {
	c.settledOperator(t)
	names := []string{"load-a", "load-b"}
	for _, name := range names {
		account := c.ns.Name + "-" + name
		object := func(kind, name string, spec map[string]any) any {
			return map[string]any{"apiVersion": "prism.dev/v1alpha1", "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec}
		}
		if err := c.ns.Apply(t.Context(),
			object("PrismAccount", account, map[string]any{"name": account, "allowedNamespaces": []any{c.ns.Name}}),
			object("PrismKey", name, map[string]any{"account": account, "role": "editor", "secretName": name, "rotateEvery": "1m", "overlap": "3m"}),
		); err != nil {
			t.Fatal(err)
		}
	}
	id := func(ctx context.Context, name string) (string, error) {
		return c.ns.Kubectl(ctx, "get", "prismkey", name, "--output", "jsonpath={.status.keyID}")
	}
	t.Cleanup(func() {
		if _, err := c.ns.Kubectl(context.WithoutCancel(t.Context()), "delete", "prismkeys,prismaccounts", "--all", "--timeout", "5m"); err != nil {
			t.Error(err)
		}
	})
	tool := kube.Tool{Mounts: names, Args: []string{"-key-files", "/keys/load-a/PRISM_API_KEY,/keys/load-b/PRISM_API_KEY"}}
	pod := ""
	report := c.loadWith(t, tool, max(c.env.requests, 10_000), func(ctx context.Context) {
		seen := map[string]map[string]bool{names[0]: {}, names[1]: {}}
		for len(seen[names[0]]) < 5 || len(seen[names[1]]) < 5 {
			pod = c.leader(ctx, t, operatorName, pod)
			c.kill(ctx, t, pod)
			for _, name := range names {
				is, err := id(ctx, name)
				if err != nil {
					t.Fatal(err)
				}
				seen[name][is] = true
			}
		}
	})
	if err := report.Unbroken(); err != nil {
		t.Error(err)
	}
	if report.Seen.Calls < 10_000 {
		t.Errorf("there were %d calls", report.Seen.Calls)
	}
	for _, name := range names {
		c.keysOf(t, name)
	}
}

// keysOf holds that the load has used several keys of a PrismKey in the release's namespace, and that Prism has no other ones than its
// status says, the Secret's among them.
func (c *cluster) keysOf(t *testing.T, name string) {
	t.Helper()
	var k struct{ Spec struct{ Account string } }
	if err := c.ns.Get(t.Context(), &k, "prismkey", name); err != nil {
		t.Fatal(err)
	}
	w := &team{cluster: c, t: t, space: c.ns, account: k.Spec.Account}
	owner, used := w.owner(), 0
	for key, err := range owner.Keys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if key.Name == c.ns.Name+"/"+name && key.LastUsedAt != nil {
			used++
		}
	}
	if used < 4 {
		t.Errorf("%d keys of %s were used", used, name)
	}
	w.await("Prism has the keys of the status", func(ctx context.Context) (bool, string, error) {
		active, err := w.active(ctx, owner, name)
		o := w.read("prismkey/" + name).Status
		known := []string{o.KeyID}
		for _, r := range o.Replaced {
			known = append(known, r.KeyID)
		}
		slices.Sort(known)
		_, id := w.secret(name)
		return o.PendingKeyID == "" && id == o.KeyID && slices.Equal(active, known), fmt.Sprintf("Prism has %q, the Secret %s, the status %+v", active, id, o), err
	})
}
