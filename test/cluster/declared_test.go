//go:build cluster

package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/cluster/internal/kube"
)

const (
	// soon is more than the operator needs on a slow machine, a new leader included.
	soon = 5 * time.Minute
	// operatorValues have somebody else's change found sooner than by default.
	operatorValues = "operator.enabled=true,operator.resync=5s"
	refreshed      = "support-triage" // the slug of the prism whose question the cases change
)

// team is a namespace of its own, and the account of docs/gitops.md that allows it.
type team struct {
	*cluster
	t       *testing.T
	space   kube.Namespace
	account string // the PrismAccount, and the name of the account
}

// withOperator installs the release with the operator. At the end its objects of the cluster go too, and the custom resources if they were
// not there before.
func withOperator(t *testing.T) *cluster {
	c := install(t)
	kinds, err := c.ns.Kubectl(t.Context(), "get", "crds", "--output", "name")
	if err != nil {
		t.Fatal(err)
	}
	there := strings.Contains(kinds, ".prism.dev")
	t.Cleanup(func() {
		if c.env.keep {
			return
		}
		ctx := context.WithoutCancel(t.Context())
		_, err := c.ns.Helm(ctx, "uninstall", release, "--wait", "--timeout", "5m")
		if err == nil && !there {
			_, err = c.ns.Kubectl(ctx, "delete", "crds", "prisms.prism.dev", "prismkeys.prism.dev", "prismaccounts.prism.dev", "prismmodels.prism.dev",
				"prismwebhooks.prism.dev", "--ignore-not-found", "--timeout", "2m")
		}
		if err != nil {
			t.Error(err)
		}
	})
	// Another release in the cluster, or one that is gone, may have brought the custom resources.
	c.helmArgs = []string{"--take-ownership"}
	c.upgrade(t.Context(), t, c.current.with(operatorValues))
	return c
}

// settledOperator waits until an operator works.
func (c *cluster) settledOperator(t *testing.T) {
	t.Helper()
	c.at(t, c.current.with(operatorValues))
	c.kubectl(t.Context(), t, "rollout", "status", "deployment/"+operatorName, "--timeout", "10m")
}

// newTeam makes the namespace and the account, which docs/gitops.md has first.
func (c *cluster) newTeam(t *testing.T) *team {
	t.Helper()
	name := "prism-test-" + strings.ToLower(rand.Text()[:10])
	w := &team{cluster: c, t: t, space: kube.Namespace{Name: name}, account: name}
	if err := w.space.Apply(t.Context(), kube.Restricted(name)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			w.tell()
		}
		if !c.env.keep {
			ctx := context.WithoutCancel(t.Context())
			_, err := w.space.Kubectl(ctx, "delete", "namespace", name, "--ignore-not-found", "--timeout", "5m")
			if err == nil {
				_, err = c.ns.Kubectl(ctx, "delete", "prismaccount", w.account, "--ignore-not-found", "--timeout", "2m")
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	w.apply(c.ns, w.manifests(0))
	return w
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(apiVersion: prism.dev/.*?)```")

// manifests are those of docs/gitops.md with the names of this team: 0 is the account, and 1 the folder.
func (w *team) manifests(n int) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs/gitops.md"))
	if err != nil {
		w.t.Fatal(err)
	}
	blocks := yamlBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 2 || strings.Count(blocks[1][1], "kind: Prism\n") != 3 || !strings.Contains(blocks[0][1], "allowedNamespaces: [support]") {
		w.t.Fatal("docs/gitops.md has another account and folder than those that are tried here")
	}
	return strings.NewReplacer(
		"namespace: prism}", "namespace: "+w.ns.Name+"}", "namespace: support}", "namespace: "+w.space.Name+"}",
		"name: support,", "name: "+w.account+",", "account: support\n", "account: "+w.account+"\n", "name: Support\n", "name: "+w.account+"\n",
		"[support]", "["+w.space.Name+"]",
	).Replace(blocks[n][1])
}

// apply applies a folder with the manifests of a namespace, and with further objects.
func (w *team) apply(in kube.Namespace, manifests string, more ...any) {
	w.t.Helper()
	dir := w.t.TempDir()
	files := map[string][]byte{"prisms.yaml": []byte(manifests)}
	for i, o := range more {
		text, err := json.Marshal(o)
		if err != nil {
			w.t.Fatal(err)
		}
		files[fmt.Sprintf("more-%d.json", i)] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := in.ApplyFolder(w.t.Context(), dir); err != nil {
		w.t.Fatal(err)
	}
}

// folder applies the folder of docs/gitops.md, with a key that is revoked as soon as another takes its place, and waits for it.
func (w *team) folder() {
	w.t.Helper()
	w.apply(w.space, strings.Replace(w.manifests(1), "overlap: 1h", "overlap: 0s", 1))
	w.ready()
}

func (w *team) ready() {
	w.t.Helper()
	for _, what := range []string{"prism/triage", "prism/mood", "prism/urgency", "prismkey/app"} {
		w.until(what, "Ready", "True", "")
	}
}

// declared is what is read of a custom resource.
type declared struct {
	Metadata struct {
		Name       string
		Generation int64
	}
	Status struct {
		ID, KeyID, PendingKeyID string
		LatestVersion           int
		Replaced                []struct{ KeyID string }
		Conditions              []struct {
			Type, Status, Reason, Message string
			ObservedGeneration            int64
		}
	}
}

func (w *team) read(what string) (o declared) {
	w.t.Helper()
	if err := w.space.Get(w.t.Context(), &o, what); err != nil {
		w.t.Fatal(err)
	}
	return o
}

// await is the cluster's, for as long as the operator may need.
func (w *team) await(what string, done func(ctx context.Context) (bool, string, error)) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), soon)
	defer cancel()
	if err := kube.Await(ctx, what, done); err != nil {
		w.t.Fatal(err)
	}
}

// until waits for a condition of the spec as it is. An empty reason is any.
func (w *team) until(what, kind, status, reason string) {
	w.t.Helper()
	w.await(fmt.Sprintf("%s has %s=%s %s", what, kind, status, reason), func(ctx context.Context) (bool, string, error) {
		var o declared
		if err := w.space.Get(ctx, &o, what); err != nil {
			return false, "", err
		}
		for _, c := range o.Status.Conditions {
			if c.Type == kind && c.Status == status && c.ObservedGeneration == o.Metadata.Generation && (reason == "" || c.Reason == reason) {
				return true, "", nil
			}
		}
		return false, fmt.Sprintf("generation %d, %+v", o.Metadata.Generation, o.Status), nil
	})
}

// change merges JSON into the spec of an object.
func (w *team) change(what, spec string) {
	w.t.Helper()
	if _, err := w.space.Kubectl(w.t.Context(), "patch", what, "--type", "merge", "--patch", `{"spec":`+spec+`}`); err != nil {
		w.t.Fatal(err)
	}
}

// ask changes the question of the prism triage.
func (w *team) ask(text string) {
	w.t.Helper()
	w.change("prism/triage", `{"questions":[{"key":"topic","type":"choice","text":"`+text+
		`","options":[{"key":"billing","label":"Billing"},{"key":"other","label":"Something else"}]}]}`)
}

// prism calls the API with a key. It ends with the test.
func (w *team) prism(key string) *client.Client {
	w.t.Helper()
	var address string
	w.await("the gateway answers", func(context.Context) (ok bool, _ string, err error) {
		address, err = w.ns.Forward(w.t.Context(), "deployment/"+release+"-gateway", 8080)
		return err == nil, address, err
	})
	c, err := client.New(client.Config{URL: "http://" + address, Key: key})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// owner calls the API as a person who owns the account.
func (w *team) owner() *client.Client {
	w.t.Helper()
	return w.prism(strings.TrimSpace(w.operate(w.t.Context(), w.t, "key", "create", "--account", w.account)))
}

// secret is the key in a Secret, and its id.
func (w *team) secret(name string) (key, id string) {
	w.t.Helper()
	var s struct {
		Metadata struct{ Annotations map[string]string }
		Data     map[string][]byte
	}
	if err := w.space.Get(w.t.Context(), &s, "secret", name); err != nil {
		w.t.Fatal(err)
	}
	return string(s.Data["PRISM_API_KEY"]), s.Metadata.Annotations["prism.dev/key-id"]
}

// deleteSecret deletes the Secret of the key, and waits until there is another one with another key.
func (w *team) deleteSecret() (before string) {
	w.t.Helper()
	before, was := w.secret("prism")
	if _, err := w.space.Kubectl(w.t.Context(), "delete", "secret", "prism"); err != nil {
		w.t.Fatal(err)
	}
	w.await("the Secret has another key", func(ctx context.Context) (bool, string, error) {
		out, err := w.space.Kubectl(ctx, "get", "secret", "prism", "--output", `jsonpath={.metadata.annotations.prism\.dev/key-id}`)
		return err == nil && out != "" && out != was, out, err
	})
	return before
}

// active are the ids of the keys of PrismKeys that are not revoked, sorted.
func (w *team) active(ctx context.Context, c *client.Client, of string) (ids []string, err error) {
	for k, err := range c.Keys(ctx) {
		if err != nil {
			return nil, err
		}
		if k.RevokedAt == nil && k.Name == w.space.Name+"/"+of {
			ids = append(ids, k.ID)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// versions are the texts of the first question of each version, the oldest first.
func (w *team) versions(c *client.Client, slug string) (texts []string) {
	w.t.Helper()
	for v, err := range c.Versions(w.t.Context(), slug) {
		if err != nil {
			w.t.Fatal(err)
		}
		texts = append(texts, v.Questions[0].Text)
	}
	slices.Reverse(texts)
	return texts
}

// whole holds that nothing was made twice and nothing lost: the versions of triage are those texts, the other prisms have one, the
// Secret has a key that works, and it is the only one.
func (w *team) whole(c *client.Client, texts ...string) {
	w.t.Helper()
	w.ready()
	for slug, want := range map[string][]string{
		refreshed: texts, "support-mood": {"Is the writer upset?"}, "support-urgency": {"How urgent is it?"},
	} {
		if got := w.versions(c, slug); !slices.Equal(got, want) {
			w.t.Errorf("the versions of %s are %q, want %q", slug, got, want)
		}
	}
	w.await("the key of the Secret is the only one", func(ctx context.Context) (bool, string, error) {
		ids, err := w.active(ctx, c, "app")
		_, id := w.secret("prism")
		o := w.read("prismkey/app").Status
		return len(ids) == 1 && ids[0] == id && o.KeyID == id && o.PendingKeyID == "" && len(o.Replaced) == 0,
			fmt.Sprintf("Prism has %q, the Secret %s, the status %+v", ids, id, o), err
	})
	key, _ := w.secret("prism")
	if _, err := w.prism(key).ReadPrism(w.t.Context(), refreshed); err != nil {
		w.t.Errorf("the key of the Secret: %v", err)
	}
}

// refused fails unless a key is a 401.
func (w *team) refused(key string) {
	w.t.Helper()
	c := w.prism(key)
	w.await("the key is refused", func(ctx context.Context) (bool, string, error) {
		_, err := c.ReadPrism(ctx, refreshed)
		var refusal *client.Error
		return errors.As(err, &refusal) && refusal.Status == 401, fmt.Sprint(err), nil
	})
}

// tell shows the objects of the team, without keys.
func (w *team) tell() {
	for _, args := range [][]string{
		{"get", "prisms,prismkeys,prismwebhooks,pods", "--output", "wide"},
		{"get", "prisms,prismkeys", "--output", "jsonpath={range .items[*]}{.metadata.name}: {.status}{\"\\n\"}{end}"},
		{"get", "events", "--sort-by", ".lastTimestamp"},
	} {
		out, err := w.space.Kubectl(context.WithoutCancel(w.t.Context()), args...)
		w.t.Logf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	out, err := w.ns.Kubectl(context.WithoutCancel(w.t.Context()), "logs", "--selector", selector("operator"), "--prefix", "--tail", "60")
	w.t.Logf("the operators: %v\n%s", err, out)
}
