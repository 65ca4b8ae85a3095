//go:build cluster

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/definition"
	"github.com/prism-results/prism/test/cluster/internal/kube"
)

// TestOperator's cases are each of a namespace and an account of their own.
func TestOperator(t *testing.T) {
	c := withOperator(t)
	t.Run("a folder of manifests is a working account with three prisms, a key and an app that calls one within 30 s", c.folder)
	t.Run("a changed question is one version of that prism alone and nothing else", c.question)
	t.Run("a change by somebody else is told, and undone with Overwrite", c.drift)
	t.Run("a namespace that the account does not allow gets nothing", c.notAllowed)
	t.Run("a Secret that was deleted comes back with another key, and the one before is refused", c.deletedSecret)
	t.Run("keys rotate under load, and operators are killed, without a failed request", c.rotatedKeys)
	t.Run("an operator that is killed again and again makes nothing twice and loses nothing", c.killedOperators)
	t.Run("two operators at once make nothing twice and lose nothing", c.twoOperators)
	t.Run("operators that do not reach Prism make nothing twice and lose nothing", c.withoutPrism)
	t.Run("operators that the API server refuses make nothing twice and lose nothing", c.withoutAPIServer)
	t.Run("the deletion of a namespace ends while Prism is away", c.deletionWithoutPrism)
	t.Run("the deletion of a namespace without an operator ends when there is one", c.deletionWithoutOperator)
}

const firstText = "What is the message about?" // of triage

func (c *cluster) folder(t *testing.T) {
	c.settledOperator(t)
	w := c.newTeam(t)
	app := kube.Tool{Name: "app", Image: c.env.image("prism-cluster-load"), Secret: "prism", Args: []string{"call", "-prism", "support-mood"}}
	began := time.Now()
	w.apply(w.space, w.manifests(1), app.Pod())
	var phase string
	w.await("the app has called", func(ctx context.Context) (_ bool, _ string, err error) {
		phase, err = w.space.Kubectl(ctx, "get", "pod", "app", "--output", "jsonpath={.status.phase}")
		return phase == "Succeeded" || phase == "Failed", phase, err
	})
	w.ready()
	took := time.Since(began)
	out, err := w.space.Kubectl(t.Context(), "logs", "app")
	var result client.Result
	if err != nil || json.Unmarshal([]byte(out), &result) != nil || phase != "Succeeded" || result.Status != "ok" || result.Version != 1 {
		t.Errorf("the app %s: %v, %q", phase, err, out)
	}
	t.Logf("it took %s, of which the model took 5 s", took.Round(time.Second/10))
	if took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	var slugs []string
	for p, err := range w.owner().Prisms(t.Context(), client.PrismFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		slugs = append(slugs, p.Slug)
	}
	slices.Sort(slugs)
	if want := []string{"support-mood", refreshed, "support-urgency"}; !slices.Equal(slugs, want) {
		t.Errorf("there are %q", slugs)
	}
}

func (c *cluster) question(t *testing.T) {
	c.settledOperator(t)
	w := c.newTeam(t)
	w.folder()
	owner := w.owner()
	kept, err := owner.ReadPrism(t.Context(), "support-mood")
	if err != nil {
		t.Fatal(err)
	}
	_, before := w.secret("prism")
	w.ask("What does the writer want?")
	w.until("prism/triage", "Synced", "True", "")
	w.whole(owner, firstText, "What does the writer want?")
	if got := w.read("prism/triage").Status.LatestVersion; got != 2 {
		t.Errorf("the status has version %d", got)
	}
	w.change("prism/triage", `{"retentionDays":30}`)
	w.until("prism/triage", "Synced", "True", "")
	w.whole(owner, firstText, "What does the writer want?")
	now, err := owner.ReadPrism(t.Context(), "support-mood")
	if _, after := w.secret("prism"); err != nil || after != before || !reflect.DeepEqual(now, kept) {
		t.Errorf("the key was %s and is %s; the prism %+v became %+v: %v", before, after, kept, now, err)
	}
}

func (c *cluster) drift(t *testing.T) {
	c.settledOperator(t)
	w := c.newTeam(t)
	w.folder()
	owner := w.owner()
	p, err := owner.ReadPrism(t.Context(), "support-mood")
	if err != nil {
		t.Fatal(err)
	}
	theirs := definition.FromPrism(p).NewVersion
	theirs.Questions[0].Text = "Is the writer angry?"
	if _, err := owner.CreateVersion(t.Context(), "support-mood", theirs); err != nil {
		t.Fatal(err)
	}
	w.until("prism/mood", "Drifted", "True", "Changed")
	w.until("prism/mood", "Synced", "False", "Drifted")
	w.until("prism/mood", "Ready", "True", "")
	if got := w.versions(owner, "support-mood"); !slices.Equal(got, []string{"Is the writer upset?", "Is the writer angry?"}) {
		t.Errorf("the versions are %q", got)
	}
	w.await("an event tells of it", func(ctx context.Context) (bool, string, error) {
		out, err := w.space.Kubectl(ctx, "get", "events", "--field-selector", "involvedObject.name=mood,type=Warning", "--output", "jsonpath={.items[*].reason}")
		return strings.Contains(out, "Changed"), out, err
	})
	w.change("prism/mood", `{"driftPolicy":"Overwrite"}`)
	w.until("prism/mood", "Drifted", "False", "Overwritten")
	w.until("prism/mood", "Synced", "True", "")
	if got := w.versions(owner, "support-mood"); !slices.Equal(got, []string{"Is the writer upset?", "Is the writer angry?", "Is the writer upset?"}) {
		t.Errorf("the versions are %q", got)
	}
}

// notAllowed also allows the namespace, and then no longer.
func (c *cluster) notAllowed(t *testing.T) {
	c.settledOperator(t)
	w := c.newTeam(t)
	allow := func(names string) {
		c.kubectl(t.Context(), t, "patch", "prismaccount", w.account, "--type", "merge", "--patch", `{"spec":{"allowedNamespaces":[`+names+`]}}`)
	}
	c.await(t.Context(), t, "the account is ready", func(ctx context.Context) (bool, string, error) {
		out, err := c.ns.Kubectl(ctx, "get", "prismaccount", w.account, "--output", "jsonpath={.status.id}")
		return out != "", out, err
	})
	allow("")
	w.apply(w.space, w.manifests(1))
	owner := w.owner()
	all := []string{"prism/triage", "prism/mood", "prism/urgency", "prismkey/app"}
	nothing := func() {
		t.Helper()
		for _, what := range all {
			w.until(what, "Ready", "False", "NotAllowed")
		}
		w.await("no key is left", func(ctx context.Context) (bool, string, error) {
			ids, err := w.active(ctx, owner, "app")
			return len(ids) == 0, fmt.Sprint(ids), err
		})
	}
	nothing()
	if out, err := w.space.Kubectl(t.Context(), "get", "secrets", "--output", "name"); err != nil || strings.TrimSpace(out) != "" {
		t.Errorf("there are Secrets: %q, %v", out, err)
	}
	for p, err := range owner.Prisms(t.Context(), client.PrismFilter{}) {
		t.Errorf("there is the prism %s: %v", p.Slug, err)
	}
	allow(`"` + w.space.Name + `"`)
	w.ready()
	key, _ := w.secret("prism")
	if _, err := w.prism(key).ReadPrism(t.Context(), refreshed); err != nil {
		t.Error(err)
	}
	allow("")
	nothing()
	w.refused(key)
	if got := w.versions(owner, refreshed); !slices.Equal(got, []string{firstText}) {
		t.Errorf("the versions are %q", got)
	}
}

func (c *cluster) deletedSecret(t *testing.T) {
	c.settledOperator(t)
	w := c.newTeam(t)
	w.folder()
	w.refused(w.deleteSecret())
	w.whole(w.owner(), firstText)
}

// deletionWithoutPrism deletes a namespace with a key to revoke and a prism to archive.
func (c *cluster) deletionWithoutPrism(t *testing.T) {
	c.settledOperator(t)
	w := c.newTeam(t)
	w.folder()
	w.change("prism/mood", `{"deletionPolicy":"Archive"}`)
	w.until("prism/mood", "Ready", "True", "")
	back := c.away(t)
	defer back()
	began := time.Now()
	if _, err := w.space.Kubectl(t.Context(), "delete", "namespace", w.space.Name, "--timeout", soon.String()); err != nil {
		t.Fatal(err)
	}
	t.Logf("it took %s", time.Since(began).Round(time.Second))
}

func (c *cluster) deletionWithoutOperator(t *testing.T) {
	c.settledOperator(t)
	w := c.newTeam(t)
	w.folder()
	w.change("prism/mood", `{"deletionPolicy":"Archive"}`)
	w.until("prism/mood", "Ready", "True", "")
	owner := w.owner()
	key, _ := w.secret("prism")
	back := c.scaleTo0(t, "operator")
	defer back()
	if _, err := w.space.Kubectl(t.Context(), "delete", "namespace", w.space.Name, "--wait=false"); err != nil {
		t.Fatal(err)
	}
	w.await("only what the operator ends is left", func(ctx context.Context) (bool, string, error) {
		out, err := w.space.Kubectl(ctx, "get", "prisms,prismkeys,secrets", "--output", "name")
		return len(strings.Fields(out)) == 2, out, err
	})
	back()
	if _, err := w.space.Kubectl(t.Context(), "wait", "--for=delete", "namespace/"+w.space.Name, "--timeout", soon.String()); err != nil {
		t.Fatal(err)
	}
	w.refused(key)
	if p, err := owner.ReadPrism(t.Context(), "support-mood"); err != nil || p.ArchivedAt == nil {
		t.Errorf("the prism is not archived: %v", err)
	}
}
