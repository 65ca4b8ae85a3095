package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

func TestModels(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	models := decode[[]client.Model](t, u.ok("models", "-o", "json"))
	if len(models) != 1 || models[0].Name != "default" || !models[0].Default || models[0].Price != nil {
		t.Errorf("got %+v", models)
	}
	got := strings.Split(u.ok("models"), "\n")
	if want := "NAME DEFAULT PROVIDER MODEL PROBABILITIES"; strings.Join(strings.Fields(got[0]), " ") != want ||
		!strings.HasPrefix(got[1], strings.Repeat("default  ", 2)) {
		t.Errorf("got %q", got)
	}
	if states := decode[[]client.ModelState](t, u.ok("models", "states", "-o", "json")); len(states) != 1 || states[0].Name != "default" {
		t.Errorf("got %+v", states)
	}
	if parts := decode[[]client.CheckedPart](t, u.ok("models", "check", "default", "-o", "json")); len(parts) == 0 || parts[0].Part != "reached" || parts[0].Status != "ok" {
		t.Errorf("got %+v", parts)
	}
	if got := u.ok("models", "check", "default"); !strings.HasPrefix(got, "PART ") {
		t.Errorf("got %s", got)
	}
	u.run("models", "check", "other").want(exitNotFound, "Model not found")
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"name":"m","ok":false,"took_ms":7,"checks":[{"part":"key","status":"failed","text":"The model service refused the key.","write":"api_key_env: NAME"}]}`)
	}))
	t.Cleanup(host.Close)
	if failed := u.run("models", "check", "m", "--host", host.URL); failed.code != exitFailed || !strings.Contains(failed.out, "api_key_env: NAME") {
		t.Errorf("got %+v", failed)
	}
	u.run("models", "-o", "xml").want(exitUsage, `unknown output "xml": table, wide, json, yaml, csv or jsonl`)
	u.env["PRISM_API_KEY"] = "prism_x"
	u.run("models").want(exitUnauthorized, "Invalid API key")
}

func TestAModelIsARow(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]client.Model{
		"fast,default,openai-chat,qwen3-8b,logprobs,USD,0.4,0.000001,strong slow": {
			Name: "fast", Default: true, Provider: "openai-chat", Model: "qwen3-8b", Probabilities: client.Logprobs,
			Price: &client.Price{Currency: "USD", Input: 0.4, Output: 0.000001}, Fallback: []string{"strong", "slow"},
		},
		"router,,openai-chat,x,logprobs,,reported,,": {Name: "router", Provider: "openai-chat", Model: "x", Probabilities: client.Logprobs, PriceReported: true},
		"slow,,offline,offline,simulated,,,,":        {Name: "slow", Provider: "offline", Model: "offline", Probabilities: client.Simulated},
	} {
		if got := strings.Join(modelRow(m).cells, ","); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAStateOfAModelIsARow(t *testing.T) {
	t.Parallel()
	state := client.ModelState{Name: "fast", State: "skipped", Running: 2, MaxInFlight: new(7), Failures: []client.ModelFailure{
		{Reason: "refused_key"}, {Reason: "refused_key"}, {Reason: "limited"},
	}}
	if got, want := strings.Join(stateRow(state).cells, ","), "fast,skipped,2,7,refused_key limited"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The model of a definition is applied, shown and compared like its instructions.
func TestADefinitionNamesAModel(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	const base = "slug: named\nmodel: default\nfields: [{key: f}]\nquestions: [{key: y, type: yes_no, text: Y?}]\n"
	named := u.file("named.yaml", base)
	u.ok("prisms", "apply", "-f", named, "--yes")
	if got := u.ok("prisms", "get", "named"); !strings.Contains(got, "\nmodel: default\n") {
		t.Errorf("got %s", got)
	}
	if got := u.ok("prisms", "apply", "-f", named, "--dry-run"); !strings.HasPrefix(got, "named: unchanged\n") {
		t.Errorf("got %s", got)
	}
	without := u.file("without.yaml", strings.Replace(base, "model: default\n", "", 1))
	got := u.ok("prisms", "apply", "-f", without, "--dry-run")
	if !strings.HasPrefix(got, "named: add version 2\n") || !strings.Contains(got, "- model: default\n") {
		t.Errorf("got %s", got)
	}
	for _, slug := range []string{"named", "new"} {
		file := u.file("other.yaml", strings.NewReplacer("default", "other", "named", slug).Replace(base))
		u.run("prisms", "apply", "-f", file, "--yes").want(exitInvalid, "other.yaml:2: model: No such model")
	}
}
