package modelproxy

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/prism"
)

// file makes a file of models, in which URL stands for the upstream's address.
func file(t *testing.T, url, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "models.yaml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "URL", url)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// opened is a service with a file of models.
func opened(t *testing.T, path string, level slog.Level) (*Service, *prometheus.Registry, *bytes.Buffer) {
	t.Helper()
	reg, logs := prometheus.NewRegistry(), &bytes.Buffer{}
	s, err := New(Config{
		ModelsFile: path, Getenv: func(name string) string { return map[string]string{"KEY": "sk-secret", "TEAM": "team-7"}[name] },
	}, Deps{Metrics: reg, Log: slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: level}))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, reg, logs
}

const two = `default: fast
models:
  - name: fast
    provider: systemone
    base_url: URL/fast
    model: small
    api_key_env: KEY
    headers: {x-team: {env: TEAM}, X-Plain: "a b"}
    price: {currency: USD, input: 0.4, output: 1.6}
    fallback: [strong]
  - {name: strong, provider: systemone, base_url: URL/strong, model: large, price: {currency: USD, input: 2, output: 8}, max_in_flight: 3}
`

const answer = `{"answers":{"urgent":{"type":"noul","noul":0.5}},"usage":{"input_tokens":7,"output_tokens":2}}`

// spec: model-headers, models-list, model-of-a-call, call-of-a-model
func TestModelsOfAFileAreAskedWithTheirHeaders(t *testing.T) {
	t.Parallel()
	seen := make(chan *http.Request, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	s, reg, _ := opened(t, file(t, server.URL, two), slog.LevelInfo)

	out, err := s.Ask(t.Context(), question())
	if err != nil || out.Failed() {
		t.Fatal(out, err)
	}
	r := <-seen
	for name, want := range map[string]string{
		"X-Team": "team-7", "X-Plain": "a b", "Authorization": "Bearer sk-secret", "Content-Type": "application/json",
	} {
		if got := r.Header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("header %s is %q", name, got)
		}
	}
	want := prism.ModelCall{
		Name: "fast", Provider: "systemone", Model: "small", Probabilities: "native", Tries: 1,
		Usage: prism.Usage{InputTokens: new(int64(7)), OutputTokens: new(int64(2)), Cost: new(int64(6_000_000)), Currency: "USD"},
	}
	if !reflect.DeepEqual(*out.Call, want) {
		t.Errorf("got %+v, want %+v", *out.Call, want)
	}
	strong := question()
	strong.Definition.Model = "strong"
	if out, err = s.Ask(t.Context(), strong); err != nil || out.Call.Name != "strong" || *out.Call.Usage.Cost != 30_000_000 {
		t.Errorf("got %+v, %v", out.Call, err)
	}
	if r = <-seen; r.URL.Path != "/strong/systemone" || r.Header.Get("X-Team")+r.Header.Get("Authorization") != "" {
		t.Errorf("%s with %v", r.URL.Path, r.Header)
	}
	gone := question()
	gone.Definition.Model = "gone"
	if out, err = s.Ask(t.Context(), gone); err != nil || out.Error != "The model gone is not configured." || len(seen) != 0 {
		t.Errorf("got %+v, %v", out, err)
	}

	m := gather(t, reg)
	for name, want := range map[string]float64{
		`prism_model_calls_total{class="ok",model="fast",outcome="ok",provider="systemone"}`:                          1,
		`prism_model_calls_total{class="ok",model="strong",outcome="ok",provider="systemone"}`:                        1,
		`prism_model_tokens_total{kind="input",model="fast",provider="systemone"}`:                                    7,
		`prism_model_cost_total{currency="USD",model="fast",provider="systemone"}`:                                    0.000006,
		`prism_model_cost_total{currency="USD",model="strong",provider="systemone"}`:                                  0.00003,
		`prism_model_breaker_state{model="fast",provider="systemone"}`:                                                0,
		`prism_model_running{model="strong",provider="systemone"}`:                                                    0,
		`prism_model_running_limit{model="strong",provider="systemone"}`:                                              3,
		`prism_model_not_configured_total{}`:                                                                          1,
		`prism_models_refused_total{}`:                                                                                0,
		`prism_model_calls_total{class="no_answer",model="fast",outcome="no_log_probabilities",provider="systemone"}`: 0,
	} {
		if got, ok := m[name]; !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	list, err := s.List(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != "fast" || !list[0].Default || list[0].Probabilities != api.Native ||
		*list[1].Price != (api.Price{Currency: "USD", Input: 2, Output: 8}) || list[1].Default {
		t.Errorf("got %+v, %v", list, err)
	}
}

// spec: cost-is-exact
func TestCostsOfMetricsAreAddedExactly(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
	t.Cleanup(server.Close)
	s, reg, _ := opened(t, file(t, server.URL, two), slog.LevelInfo)
	for range 11 {
		if out, err := s.Ask(t.Context(), question()); err != nil || out.Failed() {
			t.Fatal(out, err)
		}
	}
	if got := gather(t, reg)[`prism_model_cost_total{currency="USD",model="fast",provider="systemone"}`]; got != 0.000066 {
		t.Errorf("11 times 0.000006 is %v", got)
	}
}

// spec: fallback, call-of-a-model, upstream-error-logs
func TestAFallbackIsCountedAndLogged(t *testing.T) {
	t.Parallel()
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelDebug} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/fast") {
				w.Header().Set("Retry-After", "60")
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = io.WriteString(w, `{"error":{"message":"busy with a value nobody may see of a context nobody may see for sk-secret"}}`)
				return
			}
			_, _ = io.WriteString(w, answer)
		}))
		s, reg, logs := opened(t, file(t, server.URL, two), level)
		a := question()
		a.Context = "a context nobody may see"
		out, err := s.Ask(t.Context(), a)
		server.Close()
		if err != nil || out.Failed() || out.Call.Name != "strong" || !out.Call.FellBack || out.Call.Tries != 2 || *out.Call.Usage.Cost != 30_000_000 {
			t.Errorf("got %+v, %v", out.Call, err)
		}
		m := gather(t, reg)
		for _, name := range []string{
			`prism_model_calls_total{class="limited",model="fast",outcome="limited",provider="systemone"}`,
			`prism_model_calls_total{class="ok",model="strong",outcome="ok",provider="systemone"}`,
			`prism_model_fallbacks_total{model="strong",provider="systemone"}`,
			`prism_model_attempts_total{model="fast",provider="systemone",status="429"}`,
		} {
			if m[name] != 1 {
				t.Errorf("%s is %v", name, m[name])
			}
		}
		got := logs.String()
		if strings.Count(got, "\n") != 1 || !strings.Contains(got, "model=fast provider=systemone class=limited reason=limited status=429") {
			t.Errorf("log %s", got)
		}
		if explained := strings.Contains(got, `upstream_error="busy with … of … for …"`); explained != (level == slog.LevelDebug) {
			t.Errorf("at level %s the log says %s", level, got)
		}
		for _, hidden := range []string{"nobody may see", "sk-secret", "127.0.0.1"} {
			if strings.Contains(got, hidden) {
				t.Errorf("%q is in the log: %s", hidden, got)
			}
		}
	}
}

// spec: no-log-probabilities
func TestAModelWithoutLogProbabilitiesIsNamedInTheLog(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"Yes"},"finish_reason":"stop","logprobs":null}],
			"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":4}}}`)
	}))
	t.Cleanup(server.Close)
	s, _, logs := opened(t, file(t, server.URL, "default: chat\nmodels:\n  - {name: chat, provider: openai-chat, base_url: URL, model: o9}\n"), slog.LevelInfo)
	out, err := s.Ask(t.Context(), question())
	const want = "The model service returned no log-probabilities, which the provider openai-chat needs."
	if err != nil || out.Error != want || out.Call.ErrorCode != prism.CodeNoLogProbabilities ||
		*out.Call.Usage.InputTokens != 9 || *out.Call.Usage.CachedInputTokens != 4 || out.Call.Usage.Cost != nil {
		t.Errorf("got %+v %+v, %v", out, out.Call, err)
	}
	if got := logs.String(); !strings.Contains(got, "model=chat") || !strings.Contains(got, want) {
		t.Errorf("log %s", got)
	}
}

// spec: models-reload
func TestARefusedFileIsCounted(t *testing.T) {
	t.Parallel()
	path := file(t, "http://127.0.0.1:1", two)
	s, reg, _ := opened(t, path, slog.LevelInfo)
	const inUse = "prism_models_last_reload_successful{}"
	if got := gather(t, reg)[inUse]; got != 1 {
		t.Errorf("after the start %s is %v", inUse, got)
	}
	for _, file := range []struct {
		text  string
		inUse float64
	}{
		{"broken: [", 0},
		{"default: new\nmodels:\n  - {name: new, provider: offline}\n", 1},
	} {
		if err := os.WriteFile(path, []byte(file.text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.file.Refresh(t.Context())
		if got := gather(t, reg)[inUse]; got != file.inUse {
			t.Errorf("after %q %s is %v", file.text, inUse, got)
		}
	}
	m := gather(t, reg)
	if m["prism_models_refused_total{}"] != 1 {
		t.Errorf("%v refused", m["prism_models_refused_total{}"])
	}
	if _, ok := m[`prism_model_calls_total{class="unavailable",model="new",outcome="timeout",provider="offline"}`]; !ok {
		t.Error("the new model has no series before its first call")
	}
	if out, err := s.Ask(t.Context(), question()); err != nil || out.Call.Name != "new" {
		t.Errorf("got %+v, %v", out.Call, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Run(ctx); err != nil {
		t.Error(err)
	}
}

// spec: models-file, settings
func TestAFileOfModelsAndTheSettingsOfOneExcludeEachOther(t *testing.T) {
	t.Parallel()
	var url config.URL
	set := config.Environment{Get: func(name string) (string, bool) {
		v, ok := map[string]string{
			"PRISM_MODELS_FILE": "/x", "PRISM_MODEL_BASE_URL": "http://h", "PRISM_MODEL_NAME": "m", "PRISM_MODEL_API_KEY": "sk-secret",
			"PRISM_MODEL_PROVIDER": "offline",
		}[name]
		return v, ok
	}}
	unset := config.Environment{Get: func(string) (string, bool) { return "", false }}
	s, err := config.Parse[struct{ Upstream Upstream }](nil, set, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Upstream.Config(set, "offline")
	want := "the settings are wrong:"
	for _, name := range []string{"PROVIDER", "BASE_URL", "NAME", "API_KEY"} {
		want += "\n  PRISM_MODEL_" + name + ": cannot be set together with PRISM_MODELS_FILE"
	}
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	s.Upstream.BaseURL, s.Upstream.Model, s.Upstream.APIKey = url, "", ""
	if c, err := s.Upstream.Config(unset, "offline"); err != nil || c.ModelsFile != "/x" || c.Provider != "" {
		t.Errorf("got %+v, %v", c, err)
	}
	s.Upstream.File = ""
	if c, err := s.Upstream.Config(unset, "offline"); err != nil || c.Provider != "offline" {
		t.Errorf("got %+v, %v", c, err)
	}
}
