//go:build sdk

package acceptance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/terraform-provider-prism/internal/provider"
)

// The parts share a Prism, so that the last can tell whether each operation was called that the provider says it calls.
//
// spec: terraform-operations
func TestTheProviderOnARealPrism(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ran := t.Run("the example", w.example) &&
		t.Run("a plan shows what will be a new version", w.version) &&
		t.Run("somebody else's change is drift in the plan", w.drift) &&
		t.Run("a change after the plan is not overwritten", w.late) &&
		t.Run("what Prism would refuse is refused in the plan", w.refusals) &&
		t.Run("secrets are replaced", w.rotation) &&
		t.Run("data sources", w.data) &&
		t.Run("roles", w.roles)
	if !ran {
		return
	}
	for _, op := range provider.Operations() {
		if name := op.Declared().Name; !w.called[name] {
			t.Errorf("%s was never called", name)
		}
	}
}

// spec: terraform-resources, terraform-import, terraform-destroy, terraform-secrets
func (w *world) example(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(w.root, "terraform-provider-prism/examples/complete/main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	f := w.folder(t, string(text))
	f.apply(t)
	f.wantEmpty(t)
	p, err := w.client.ReadPrism(t.Context(), "reviews")
	if err != nil || p.LatestVersion != 1 || len(p.Lens.Columns) != 5 || p.RetentionDays == nil || *p.RetentionDays != 365 {
		t.Fatalf("%+v, %v", p, err)
	}
	key := f.output(t, "api_key")
	caller, err := client.New(client.Config{URL: w.url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := caller.CreateResult(t.Context(), "reviews", client.NewResult{Text: "The view was fine."}); err != nil {
		t.Error(err)
	}
	secrets := []string{key, f.output(t, "webhook_secret"), f.output(t, "sign_in")}
	for _, secret := range secrets {
		if shown := f.must(t, "show"); secret == "" || strings.Contains(shown, secret) {
			t.Error("a secret is not there, or is shown")
		}
	}
	w.imported(t, f, string(text))
	webhook := f.attribute(t, "prism_webhook.unhappy", "id")
	f.must(t, "destroy", "-auto-approve", "-input=false")
	if p, err = w.client.ReadPrism(t.Context(), "reviews"); err != nil || p.ArchivedAt == nil || p.RetentionDays != nil || len(p.Lens.Columns) == 5 {
		t.Errorf("after destroy: %+v, %v", p, err)
	}
	if d, err := w.client.ReadDrift(t.Context(), "reviews", 0); err != nil || d.Watched {
		t.Errorf("after destroy it is watched: %v", err)
	}
	if _, err := caller.ListPrisms(t.Context(), client.PrismFilter{}, client.PageOptions{}); !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("after destroy the key: %v", err)
	}
	if _, err := w.client.ReadWebhook(t.Context(), webhook); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("after destroy the webhook: %v", err)
	}
	for m, err := range w.client.Members(t.Context()) {
		if err != nil || m.Name == "Ana Lyst" {
			t.Errorf("after destroy the member: %v", err)
		}
	}
	again := f.refused(t, "plan", "-input=false")
	if !strings.Contains(again, "A prism with this slug already exists.") || !strings.Contains(again, "tofu import prism_prism.NAME reviews") {
		t.Errorf("a plan after destroy says %s", again)
	}
	f.must(t, "import", "prism_prism.reviews", "reviews") // and goes on with what was archived
	if c := f.plan(t)["prism_prism.reviews"]; !c.does("update") || c.AfterUnknown["latest_version"] != nil {
		t.Errorf("%+v", c)
	}
	f.apply(t)
	f.wantEmpty(t)
	f.must(t, "destroy", "-auto-approve", "-input=false")
}

// imported imports all that a folder made into another one. What the API does not tell is set by an apply that changes nothing else.
func (w *world) imported(t *testing.T, from *folder, config string) {
	t.Helper()
	f := w.folder(t, config)
	for address, id := range map[string]string{
		"prism_prism.reviews": "reviews", "prism_lens.reviews": "reviews", "prism_retention.reviews": "reviews", "prism_drift.reviews": "reviews",
		"prism_key.app":         from.attribute(t, "prism_key.app", "id"),
		"prism_member.analyst":  from.attribute(t, "prism_member.analyst", "id"),
		"prism_webhook.unhappy": from.attribute(t, "prism_webhook.unhappy", "id"),
	} {
		f.must(t, "import", "-input=false", address, id)
	}
	plan := f.plan(t)
	if c, ok := plan["prism_key.app"]; len(plan) != 1 || !ok || !c.does("update") { // its rotation, which the API does not tell
		t.Errorf("after an import the plan is %+v", plan)
	}
	f.apply(t)
	f.wantEmpty(t)
}

// prismOf is a configuration with one prism.
func prismOf(slug, text, more string) string {
	return fmt.Sprintf(`
resource "prism_prism" "p" {
  slug      = %q
  fields    = [{ key = "text" }]
  questions = [{ key = "refund", type = "yes_no", text = %q }]
  %s
}
`, slug, text, more)
}

const wantRefund = "Does the customer want a refund?"

// spec: terraform-plan, terraform-lens
func (w *world) version(t *testing.T) {
	lens := `
resource "prism_lens" "p" {
  prism   = prism_prism.p.slug
  columns = [{ name = "wanted", question = "refund", show = "answer", yes_at = 0.9 }]
}
`
	f := w.folder(t, prismOf("versions", wantRefund, "")+lens)
	f.apply(t)
	f.write(t, prismOf("versions", "Is a refund wanted?", "")+lens)
	plan := f.plan(t)
	if c := plan["prism_prism.p"]; len(plan) != 1 || !c.does("update") || c.AfterUnknown["latest_version"] != true {
		t.Errorf("a changed question: %+v", plan)
	}
	f.apply(t)
	f.wantEmpty(t)
	p, err := w.client.ReadPrism(t.Context(), "versions")
	if err != nil || p.LatestVersion != 2 || p.Lens.Columns[0].Name != "wanted" {
		t.Errorf("%+v, %v", p, err)
	}
	f.write(t, prismOf("versions", "Is a refund wanted?", `name = "Refunds"
  searchable = false`)+lens)
	if c := f.plan(t)["prism_prism.p"]; !c.does("update") || c.AfterUnknown["latest_version"] != nil || c.After["latest_version"] != 2.0 {
		t.Errorf("another name: %+v", c)
	}
	f.apply(t)
	f.wantEmpty(t)
	if p, err = w.client.ReadPrism(t.Context(), "versions"); err != nil || p.LatestVersion != 2 || p.Name == nil || *p.Name != "Refunds" || p.Searchable == nil {
		t.Errorf("%+v, %v", p, err)
	}
	// Another question and its Lens in one apply: the Lens of before does not fit the version.
	renamed := strings.ReplaceAll(prismOf("versions", "Is a refund wanted?", "")+lens, `"refund"`, `"money"`)
	f.write(t, renamed)
	f.apply(t)
	f.wantEmpty(t)
	if p, err = w.client.ReadPrism(t.Context(), "versions"); err != nil || p.LatestVersion != 3 || p.Lens.Columns[0].Question != "money" {
		t.Errorf("%+v, %v", p, err)
	}
}

// spec: terraform-plan
func (w *world) late(t *testing.T) {
	ctx := t.Context()
	f := w.folder(t, prismOf("late", wantRefund, ""))
	f.apply(t)
	f.write(t, prismOf("late", "Is a refund wanted?", ""))
	f.plan(t)
	p, err := w.client.ReadPrism(ctx, "late")
	if err != nil {
		t.Fatal(err)
	}
	theirs := client.NewVersion{Definition: client.Definition{Instructions: "Theirs.", Fields: p.Version.Fields, Questions: p.Version.Questions}}
	if _, err := w.client.CreateVersion(ctx, "late", theirs); err != nil {
		t.Fatal(err)
	}
	if says := f.refused(t, "apply", "-input=false", "plan"); !strings.Contains(says, "somebody else changed it after the plan was made") {
		t.Error(says)
	}
	if p, err = w.client.ReadPrism(ctx, "late"); err != nil || p.LatestVersion != 2 || *p.Version.Instructions != "Theirs." {
		t.Errorf("%+v, %v", p, err)
	}
	f.apply(t)
	f.wantEmpty(t)
}

// spec: terraform-plan
func (w *world) refusals(t *testing.T) {
	f := w.folder(t, prismOf("refused", wantRefund, `model = "absent"`))
	if says := f.refused(t, "plan", "-input=false"); !strings.Contains(says, "Prism refused createPrism (400 validation_failed)") {
		t.Error(says)
	}
	f.write(t, prismOf("refused", wantRefund, ""))
	f.apply(t)
	f.write(t, prismOf("refused", wantRefund, `model = "absent"`))
	if says := f.refused(t, "plan", "-input=false"); !strings.Contains(says, "Prism refused createVersion (400 validation_failed)") {
		t.Error(says)
	}
	for config, want := range map[string]string{
		prismOf("Not a slug", wantRefund, ""):                                                            "slug must match",
		"resource \"prism_retention\" \"r\" {\n prism = \"refused\"\n days = 0\n}\n":                     "days must be at least 1",
		"resource \"prism_key\" \"k\" {\n name = \"k\"\n role = \"king\"\n}\n":                           "role must be one of",
		"resource \"prism_key\" \"k\" {\n name = \"k\"\n role = \"reader\"\n expires_at = \"soon\"\n}\n": "expires_at must be a time",
	} {
		f.write(t, config)
		if says := f.refused(t, "validate"); !strings.Contains(says, want) {
			t.Errorf("%s is not said: %s", want, says)
		}
	}
}

// spec: terraform-secrets
func (w *world) rotation(t *testing.T) {
	config := `
resource "prism_key" "k" {
  name     = "rotated"
  role     = "reader"
  rotation = "ROTATION"
  lifecycle {
    create_before_destroy = true
  }
}
resource "prism_webhook" "w" {
  url      = "https://example.com/rotated"
  events   = ["prism.changed"]
  rotation = "ROTATION"
}
output "key" {
  value     = prism_key.k.key
  sensitive = true
}
output "secret" {
  value     = prism_webhook.w.secret
  sensitive = true
}
`
	f := w.folder(t, strings.ReplaceAll(config, "  rotation = \"ROTATION\"\n", ""))
	f.apply(t)
	unset := f.output(t, "key") + f.output(t, "secret")
	f.write(t, strings.ReplaceAll(config, "ROTATION", "1"))
	f.apply(t)
	if f.output(t, "key")+f.output(t, "secret") != unset {
		t.Error("a first rotation replaces a secret")
	}
	key, secret := f.output(t, "key"), f.output(t, "secret")
	f.write(t, strings.ReplaceAll(config, "ROTATION", "2"))
	f.apply(t)
	f.wantEmpty(t)
	if f.output(t, "key") == key || f.output(t, "secret") == secret {
		t.Error("a secret is as before")
	}
	if until := f.attribute(t, "prism_webhook.w", "previous_secret_until"); until == "" {
		t.Error("the secret before does not sign any more")
	}
	old, err := client.New(client.Config{URL: w.url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.ListPrisms(t.Context(), client.PrismFilter{}, client.PageOptions{}); !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("the key before: %v", err)
	}
}

// spec: terraform-resources
func (w *world) data(t *testing.T) {
	f := w.folder(t, prismOf("read", wantRefund, "")+`
resource "prism_webhook" "w" {
  url    = "https://example.com/read"
  events = ["prism.changed"]
}
data "prism_prism" "d" {
  prism = prism_prism.p.slug
}
data "prism_prisms" "d" {
  depends_on = [prism_prism.p]
}
data "prism_version" "d" {
  prism   = prism_prism.p.slug
  version = prism_prism.p.latest_version
}
data "prism_versions" "d" {
  prism = prism_prism.p.slug
}
data "prism_models" "d" {}
data "prism_account" "d" {}
data "prism_drift" "d" {
  prism = prism_prism.p.slug
}
data "prism_keys" "d" {}
data "prism_members" "d" {}
data "prism_webhook" "d" {
  webhook = prism_webhook.w.id
}
data "prism_webhooks" "d" {
  depends_on = [prism_webhook.w]
}
output "read" {
  value = join(",", [
    data.prism_prism.d.version.questions[0].key, contains(data.prism_prisms.d.prisms[*].slug, "read"), data.prism_version.d.questions[0].type,
    length(data.prism_versions.d.versions), data.prism_models.d.data[0].name, data.prism_account.d.name, data.prism_drift.d.watched,
    contains(data.prism_keys.d.keys[*].role, "owner"), length(data.prism_members.d.members) > 0, data.prism_webhook.d.url,
    contains(data.prism_webhooks.d.webhooks[*].id, prism_webhook.w.id), data.prism_drift.d.version,
  ])
}
`)
	f.apply(t)
	f.wantEmpty(t)
	if got := f.output(t, "read"); got != "refund,true,yes_no,1,default,demo,false,true,true,https://example.com/read,true,1" {
		t.Error(got)
	}
}
