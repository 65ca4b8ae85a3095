package modelproxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func question() contract.Ask {
	return contract.Ask{
		Definition: prism.Definition{Questions: []prism.Question{{Key: "urgent", Type: prism.YesNo, Text: "Is it urgent?"}}},
		Fields:     []prism.FieldValue{{Key: "text", Value: "a value nobody may see"}},
	}
}

// spec: settings
func TestSettingsThatAreWrongAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, `PRISM_MODEL_PROVIDER: unknown provider ""`},
		{Config{Provider: "gpt"}, `PRISM_MODEL_PROVIDER: unknown provider "gpt"`},
		{Config{Provider: "Offline"}, `PRISM_MODEL_PROVIDER: unknown provider "Offline"`},
		{Config{Provider: "systemone"}, "PRISM_MODEL_API_KEY: required by systemone's own host, unless PRISM_MODEL_BASE_URL names another (for example PRISM_MODEL_BASE_URL=http://127.0.0.1:8000/v1)"},
		{Config{Provider: "anthropic", ModelName: "m"}, "PRISM_MODEL_API_KEY: required by anthropic's own host, unless PRISM_MODEL_BASE_URL names another (for example PRISM_MODEL_BASE_URL=http://127.0.0.1:8000/v1)"},
		{Config{Provider: "openai-chat", APIKey: "k"}, "PRISM_MODEL_NAME: required by provider openai-chat (for example PRISM_MODEL_NAME=gpt-4.1-mini)"},
		{Config{Provider: "openai-decisions", APIKey: "sk secret"}, "PRISM_MODEL_API_KEY: holds a character at byte 2 that no header can carry"},
		{Config{Provider: "systemone", BaseURL: "localhost:8000"}, "PRISM_MODEL_BASE_URL: must be an absolute http or https URL without user, query and fragment"},
	} {
		if s, err := New(c.cfg, Deps{}); err == nil || err.Error() != c.want || s != nil {
			t.Errorf("%+v: got %v", c.cfg, err)
		}
	}
}

func TestEveryProviderOpensWithoutIO(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"systemone", "openai-decisions", "openai-chat", "anthropic", "offline"} {
		for _, cfg := range []Config{
			{Provider: name, APIKey: "k\n", ModelName: "m"},
			{Provider: name, BaseURL: "http://127.0.0.1:1/v1", ModelName: "m"},
		} {
			s, err := New(cfg, Deps{Metrics: prometheus.NewRegistry()})
			if err != nil {
				t.Errorf("%+v: %v", cfg, err)
				continue
			}
			s.Close()
		}
	}
}

func TestOfflineAnswersWithoutAnUpstream(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	s, err := New(Config{Provider: "offline"}, Deps{Metrics: reg})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	out, err := s.Ask(t.Context(), question())
	if err != nil || out.Failed() || !strings.HasPrefix(string(out.Answers), `{"urgent":{"type":"yes_no","probability":0.`) {
		t.Fatalf("got %s %+v, %v", out.Answers, out, err)
	}
	m := gather(t, reg)
	if m[`prism_model_calls_total{class="ok",model="default",outcome="ok",provider="offline"}`] != 1 {
		t.Errorf("got %v", m)
	}
	for name := range m {
		if strings.HasPrefix(name, "prism_model_attempts_total") {
			t.Errorf("an upstream was called: %s", name)
		}
	}
}

func TestCallsAttemptsAndTokensAreCountedAndFailuresLoggedWithoutValues(t *testing.T) {
	t.Parallel()
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch n++; n {
		case 1:
			_, _ = io.WriteString(w, `{"answers":{"urgent":{"type":"noul","noul":0.5}},"usage":{"input_tokens":7,"output_tokens":2},
				"diagnostics":{"urgent":{"label_mass":0.9}}}`)
		case 2:
			http.Error(w, "a body nobody may see", http.StatusUnauthorized)
		default:
			_, _ = io.WriteString(w, "{}")
		}
	}))
	t.Cleanup(server.Close)
	reg, logs := prometheus.NewRegistry(), &bytes.Buffer{}
	s, err := New(Config{Provider: "systemone", BaseURL: server.URL, APIKey: "sk-secret"},
		Deps{Metrics: reg, Log: slog.New(slog.NewJSONHandler(logs, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for i, want := range []string{"", "The model service refused the key.", "The model gave no usable answer to question urgent."} {
		if out, err := s.Ask(t.Context(), question()); err != nil || out.Error != want {
			t.Errorf("call %d: got %+v, %v", i, out, err)
		}
	}
	for gather(t, reg)["prism_model_in_flight{}"] > 0 { // a place is given back right behind the answer
		runtime.Gosched()
	}
	m := gather(t, reg)
	for name, want := range map[string]float64{
		`prism_model_calls_total{class="ok",model="default",outcome="ok",provider="systemone"}`:                      1,
		`prism_model_calls_total{class="refused_key",model="default",outcome="refused_key",provider="systemone"}`:    1,
		`prism_model_calls_total{class="no_answer",model="default",outcome="no_usable_answer",provider="systemone"}`: 1,
		`prism_model_calls_total{class="unavailable",model="default",outcome="timeout",provider="systemone"}`:        0,
		`prism_model_calls_total{class="unavailable",model="default",outcome="unreachable",provider="systemone"}`:    0,
		`prism_model_call_duration_seconds{class="ok",model="default",outcome="ok",provider="systemone"}`:            1,
		`prism_model_attempts_total{model="default",provider="systemone",status="2xx"}`:                              2,
		`prism_model_attempts_total{model="default",provider="systemone",status="4xx"}`:                              1,
		`prism_model_tokens_total{kind="input",model="default",provider="systemone"}`:                                7,
		`prism_model_tokens_total{kind="output",model="default",provider="systemone"}`:                               2,
		`prism_model_label_mass{model="default",provider="systemone"}`:                                               1,
		`prism_model_in_flight{}`:  0,
		`prism_model_shed_total{}`: 0,
	} {
		if got, ok := m[name]; !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if lines := strings.Count(logs.String(), "\n"); lines != 2 {
		t.Errorf("%d lines for 2 failures: %s", lines, logs)
	}
	for _, secret := range []string{"nobody may see", "sk-secret", "127.0.0.1"} {
		if strings.Contains(logs.String(), secret) {
			t.Errorf("%q is in the log: %s", secret, logs)
		}
	}
}

// spec: upstream-error-logs, unreadable-replies, errors-in-a-200
func TestTheLogHasTheCauseOfAReplyThatIsNone(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":                          `"class":"unreadable","reason":"unreadable","status":200,"cause":"empty"`,
		"<html>":                    `"class":"unreadable","reason":"unreadable","status":200,"cause":"html"`,
		"data: {}\n\n":              `"class":"unreadable","reason":"unreadable","status":200,"cause":"event_stream"`,
		`{"error":{"code":401}}`:    `"class":"refused_key","reason":"refused_key","status":401,"cause":"error"`,
		`{"answers":{"urgent":{}}}`: `"class":"no_answer","reason":"no_usable_answer","status":0,"cause":""`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
		t.Cleanup(server.Close)
		logs := &bytes.Buffer{}
		s, err := New(Config{Provider: "systemone", BaseURL: server.URL}, Deps{Log: slog.New(slog.NewJSONHandler(logs, nil))})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		if out, err := s.Ask(t.Context(), question()); err != nil || !out.Failed() || !strings.Contains(logs.String(), want) {
			t.Errorf("%q: got %+v, %v, %s", body, out, err, logs)
		}
	}
}

func TestStatusesAreCountedByClass(t *testing.T) {
	t.Parallel()
	refused := func(status int) *upstream.Fault { return upstream.Refused(status, nil, nil) }
	for want, f := range map[string]*upstream.Fault{
		"2xx": nil, "3xx": refused(302), "4xx": refused(404), "408": refused(408), "409": refused(409), "429": refused(429),
		"5xx": refused(529), "error": {Cause: "cut"}, "cancelled": {Cause: upstream.Cancelled},
	} {
		if got := statusClass(f); got != want {
			t.Errorf("%v: got %s, want %s", f, got, want)
		}
	}
}

// held is a provider that answers when it is let go.
type held struct{ release chan struct{} }

func (h held) calls(contract.Ask) []provider.Call {
	return []provider.Call{{Do: func(ctx context.Context) (provider.Reply, *upstream.Fault) {
		select {
		case <-h.release:
		case <-ctx.Done():
		}
		return provider.Reply{}, nil
	}}}
}

func TestOverloadIsShedAndSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, reg := held{make(chan struct{})}, prometheus.NewRegistry()
		s := newService(Config{MaxInFlight: 2}, Deps{Metrics: reg, Log: slog.New(slog.DiscardHandler)}, models.NewCurrent(models.New(models.Spec{Name: "held"}, provider.Provider{Name: "held", Calls: h.calls}, nil)), nil)
		for range 2 {
			go func() { _, _ = s.Ask(t.Context(), contract.Ask{}) }()
		}
		synctest.Wait()
		if _, err := s.Ask(t.Context(), contract.Ask{}); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		if m := gather(t, reg); m["prism_model_in_flight{}"] != 2 || m["prism_model_in_flight_limit{}"] != 2 || m["prism_model_shed_total{}"] != 1 {
			t.Errorf("got %v", m)
		}
		close(h.release)
		synctest.Wait()
		if m := gather(t, reg); m["prism_model_in_flight{}"] != 0 {
			t.Errorf("got %v", m)
		}
	})
}

func TestTwoServicesCannotShareARegistry(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	if _, err := New(Config{Provider: "offline"}, Deps{Metrics: reg}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("the second was registered over the first")
		}
	}()
	_, _ = New(Config{Provider: "offline"}, Deps{Metrics: reg})
}

// gather is every counter and gauge by name and labels, and every histogram's count.
func gather(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+`="`+l.GetValue()+`"`)
			}
			name := f.GetName() + "{" + strings.Join(labels, ",") + "}"
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				out[name] = m.GetCounter().GetValue()
			case dto.MetricType_GAUGE:
				out[name] = m.GetGauge().GetValue()
			case dto.MetricType_HISTOGRAM:
				out[name] = float64(m.GetHistogram().GetSampleCount())
			default:
				t.Errorf("%s is of an unknown type", name)
			}
		}
	}
	return out
}
