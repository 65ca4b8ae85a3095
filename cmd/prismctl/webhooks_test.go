package main

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

// spec: webhook-create, webhook-list, webhook-read, webhook-replace, webhook-delete, webhook-rotate, webhook-disabled, webhook-members, delivery-list, error-webhooks
func TestWebhooks(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	made := u.run("webhooks", "create", "https://example.com/hook", "--event", "result.created,run.finished", "--prism", "support-triage", "--status", "ok",
		"--condition", "topic:is:billing", "--answers", "--run-rows", "--disabled").want(exitOK, "shown only now")
	if !strings.HasPrefix(made.out, "whsec_") || strings.Count(made.out, "\n") != 1 {
		t.Errorf("got %q", made.out)
	}
	all := decode[[]client.Webhook](t, u.ok("webhooks", "list", "-o", "json"))
	if len(all) != 1 {
		t.Fatalf("got %+v", all)
	}
	w := all[0]
	if w.URL != "https://example.com/hook" || eventNames(w.Events) != "result.created run.finished" || len(w.Prisms) != 1 || w.Prisms[0] != "support-triage" ||
		*w.Status != client.OK || conditionText(w.Condition) != "topic:is:billing" || !w.Answers || !w.RunRows || w.Enabled {
		t.Errorf("got %+v", w)
	}
	if strings.Contains(u.ok("webhooks", "get", w.ID), strings.TrimSpace(made.out)) {
		t.Error("the secret is shown again")
	}
	u.run("webhooks", "test", w.ID).want(exitConflict, "This webhook is disabled")
	u.run("webhooks", "enable", w.ID).want(exitOK, "is enabled.")
	if now := decode[client.Webhook](t, u.ok("webhooks", "get", w.ID, "-o", "json")); !now.Enabled || conditionText(now.Condition) != "topic:is:billing" || !now.RunRows {
		t.Errorf("got %+v", now)
	}
	u.run("webhooks", "disable", w.ID).want(exitOK, "is disabled.")
	if again := u.run("webhooks", "rotate", w.ID).want(exitOK, "the old one signs too until"); again.out == made.out || !strings.HasPrefix(again.out, "whsec_") {
		t.Errorf("got %q", again.out)
	}
	u.run("webhooks", "replace", w.ID, "https://example.com/other", "--event", "result.failed", "--disabled").want(exitOK, "is replaced, and disabled.")
	if now := decode[client.Webhook](t, u.ok("webhooks", "get", w.ID, "-o", "json")); now.URL != "https://example.com/other" || now.Prisms != nil || now.Condition != nil {
		t.Errorf("got %+v", now)
	}
	if got := u.ok("webhooks", "deliveries", w.ID, "--status", "failed", "-o", "jsonl"); got != "" {
		t.Errorf("got %s", got)
	}
	u.run("webhooks", "resend", w.ID, w.ID).want(exitNotFound, "Delivery not found")
	u.run("webhooks", "create", "https://a", "--event", "result.created", "--condition", "topic:is").want(exitUsage, "COLUMN:OP:VALUE")
	u.run("webhooks", "create", "https://a", "--event", "run.done").want(exitInvalid, "events.0: Expected")
	u.run("webhooks", "create", "https://a").want(exitUsage, "event")
	u.run("webhooks", "delete", w.ID).want(exitOK, "is deleted.")
	u.run("webhooks", "delete", w.ID).want(exitNotFound, "Webhook not found")
}
