package request_test

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
)

// spec: webhook-filters, webhook-create
func TestWebhooksAreParsed(t *testing.T) {
	t.Parallel()
	const needs = ": needs the event result.created"
	hook := func(events, more string) string {
		return `{"url":"https://a.example","events":[` + events + `]` + more + `}`
	}
	const condition = `,"condition":{"column":"urgent","op":"is","value":"yes"}`
	for body, want := range map[string]string{
		hook(`"result.created"`, `,"status":"ok","run_rows":true`+condition):       "",
		hook(`"run.started"`, `,"run_rows":false`):                                 "",
		hook(`"run.started"`, `,"run_rows":true`):                                  "run_rows" + needs,
		hook(`"run.started"`, `,"status":"ok"`):                                    "status" + needs,
		hook(`"run.started"`, condition):                                           "condition" + needs,
		hook(``, ``):                                                               "events: Array must contain at least 1 element(s)",
		hook(`"result.created"`, `,"prisms":[]`):                                   "prisms: Array must contain at least 1 element(s)",
		hook(`"result.created"`, `,"prisms":[`+strings.Repeat(`"a",`, 100)+`"a"]`): "prisms: Array must contain at most 100 element(s)",
	} {
		for _, parse := range []func() error{
			func() error { _, err := parsedBody(api.CreateWebhook, body); return err },
			func() error { _, err := parsedBody(api.ReplaceWebhook, body, "webhook_id", anID); return err },
		} {
			err := parse()
			if want == "" && err == nil {
				continue
			}
			wantProblems(t, err, want)
		}
	}
	for _, events := range []string{`"webhook.test"`, `"result.deleted"`} {
		if _, err := parsedBody(api.CreateWebhook, hook(events, "")); err == nil {
			t.Errorf("%s is an event of webhooks", events)
		}
	}
}
