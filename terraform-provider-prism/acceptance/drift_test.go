//go:build sdk

package acceptance

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
)

// spec: terraform-drift
func (w *world) drift(t *testing.T) {
	ctx, c := t.Context(), w.client
	hour := time.Now().UTC().Truncate(time.Hour).Add(-time.Hour)
	f := w.folder(t, prismOf("drifting", wantRefund, "")+`
resource "prism_lens" "p" {
  prism   = prism_prism.p.slug
  columns = [{ name = "wanted", question = "refund", show = "answer" }]
}
resource "prism_retention" "p" {
  prism = prism_prism.p.slug
  days  = 30
}
resource "prism_drift" "p" {
  prism = prism_prism.p.slug
}
resource "prism_key" "k" {
  name       = "drifting"
  role       = "reader"
  expires_at = "2099-01-31T13:00:00+01:00"
}
resource "prism_member" "m" {
  name = "Drifting"
  role = "reader"
}
resource "prism_webhook" "w" {
  url    = "https://example.com/drifting"
  events = ["run.started", "run.finished"]
  prisms = [prism_prism.p.slug]
}
`+fmt.Sprintf(`
resource "prism_member" "rule" {
  name  = "Analysts"
  role  = "labeller"
  claim = { name = "groups", value = "analysts" }
}
resource "prism_prism" "q" {
  slug      = "compared"
  fields    = [{ key = "text" }]
  questions = [{ key = "refund", type = "yes_no", text = "Refund?" }]
}
resource "prism_drift" "q" {
  prism     = prism_prism.q.slug
  version   = prism_prism.q.latest_version
  reference = { from = %q, to = %q }
}
`, hour.Add(-time.Hour).Format(time.RFC3339), hour.In(time.FixedZone("", 3600)).Format(time.RFC3339)))
	f.apply(t)
	f.wantEmpty(t)
	member := f.attribute(t, "prism_member.m", "id")
	webhook := f.attribute(t, "prism_webhook.w", "id")
	for _, tt := range []struct {
		name, address, action string
		change                func() error
		version               bool // whether the plan has a new version
	}{
		{"a name", "prism_prism.p", "update", func() error { return second(c.RenamePrism(ctx, "drifting", "Other")) }, false},
		{"a version", "prism_prism.p", "update", func() error {
			p, err := c.ReadPrism(ctx, "drifting")
			if err != nil {
				return err
			}
			v := client.NewVersion{Definition: client.Definition{Fields: p.Version.Fields, Questions: slices.Clone(p.Version.Questions)}, Lens: &p.Lens}
			v.Questions[0].Text = "Something else?"
			return second(c.CreateVersion(ctx, "drifting", v))
		}, true},
		{"archived", "prism_prism.p", "update", func() error { return second(c.ArchivePrism(ctx, "drifting")) }, false},
		{"not searchable", "prism_prism.p", "update", func() error { return second(c.SetSearchable(ctx, "drifting", false)) }, false},
		{"a Lens", "prism_lens.p", "update", func() error {
			return second(c.ReplaceLens(ctx, "drifting", client.Lens{Columns: []client.Column{{Name: "other", Question: "refund", Show: "answer"}}}))
		}, false},
		{"another retention", "prism_retention.p", "update", func() error { return second(c.SetRetention(ctx, "drifting", new(9))) }, false},
		{"no retention", "prism_retention.p", "create", func() error { return second(c.SetRetention(ctx, "drifting", nil)) }, false},
		{"not watched", "prism_drift.p", "create", func() error { return second(c.SetDrift(ctx, "drifting", client.DriftChange{})) }, false},
		{"a revoked key", "prism_key.k", "create", func() error { return second(c.RevokeKey(ctx, f.attribute(t, "prism_key.k", "id"))) }, false},
		{"a role", "prism_member.m", "update", func() error {
			return second(c.ChangeMember(ctx, member, client.MemberChange{Role: "editor"}))
		}, false},
		{"a webhook", "prism_webhook.w", "update", func() error {
			return second(c.ReplaceWebhook(ctx, webhook, client.NewWebhook{
				URL: "https://example.com/other", Events: []client.EventType{client.EventRunStarted}, Enabled: new(false),
			}))
		}, false},
		{"another reference", "prism_drift.q", "update", func() error { return second(c.SetDrift(ctx, "compared", client.DriftChange{Watched: true})) }, false},
		{"no webhook", "prism_webhook.w", "create", func() error { return c.DeleteWebhook(ctx, webhook) }, false},
		{"no member", "prism_member.m", "create", func() error { return c.RemoveMember(ctx, member) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.change(); err != nil {
				t.Fatal(err)
			}
			plan := f.plan(t)
			if got := slices.Collect(maps.Keys(plan)); len(plan) != 1 || !plan[tt.address].does(tt.action) {
				t.Fatalf("the plan is of %v: %+v", got, plan)
			}
			if tt.action == "update" && (plan[tt.address].AfterUnknown["latest_version"] == true) != tt.version {
				t.Errorf("the plan is %+v", plan[tt.address])
			}
			f.must(t, "apply", "-input=false", "plan")
			f.wantEmpty(t)
		})
	}
}

func second[T any](_ T, err error) error { return err }
