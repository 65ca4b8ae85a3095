package modelproxy

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/chathost"
)

// asked is a service with a model at a server, with further members of the model.
func asked(t *testing.T, provider, members string, respond http.HandlerFunc) *Service {
	t.Helper()
	server := httptest.NewServer(respond)
	t.Cleanup(server.Close)
	s, _, _ := opened(t, file(t, server.URL, "default: m\nmodels:\n  - {name: m, provider: "+provider+", base_url: URL, model: m-1"+members+"}\n"), slog.LevelInfo)
	return s
}

// spec: model-profiles, extra-members, provider-openai-chat
func TestEachMemberOfAProfileIsInTheRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ provider, members, want string }{
		{"openai-chat", ", api_key_env: KEY", `/chat/completions "Bearer sk-secret" "" {"model":"m-1",`},
		{"openai-chat", ", auth: none", `/chat/completions "" "" {"model"`},
		{"openai-chat", ", api_key_env: KEY, auth: {header: api-key}", `/chat/completions "" "sk-secret" `},
		{"openai-chat", ", path: /v2/chat, query: {api-version: 2026-06-01, b: '2'}", "/v2/chat?api-version=2026-06-01&b=2 "},
		{"openai-chat", "", `"max_tokens":1,"temperature":0,"logprobs":true,"top_logprobs":20}`},
		{"openai-chat", ", limit: 16, limit_parameter: max_completion_tokens", `"max_completion_tokens":16,"temperature":0,`},
		{"openai-chat", ", limit_parameter: none, temperature: omit", `]`},
		{"openai-chat", ", top_logprobs: 5", `"logprobs":true,"top_logprobs":5}`},
		{"openai-chat", ", logprobs_parameter: logprobs", `"temperature":0,"logprobs":20}`},
		{"openai-chat", ", extra: {reasoning_effort: none, provider: {order: [x]}}", `"top_logprobs":20,"reasoning_effort":"none","provider":{"order":["x"]}}`},
		{"openai-chat", ", probabilities: stated", `"response_format":{"type":"json_schema","json_schema":{"name":"answers","strict":true,"schema":{"type":"object"`},
		{"openai-chat", ", probabilities: stated, response_format: json_object", `"response_format":{"type":"json_object"}}`},
		{"openai-chat", ", probabilities: sampled, samples: 3, max_n: 8", `"n":3}`},
		{"systemone", ", path: /x/decide", "/x/decide "},
		{"openai-decisions", ", path: /x/decide", "/x/decide "},
	} {
		t.Run(c.provider+c.members, func(t *testing.T) {
			t.Parallel()
			sent := ""
			s := asked(t, c.provider, c.members, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				sent = fmt.Sprintf("%s %q %q %s", r.URL.RequestURI(), r.Header.Get("Authorization"), r.Header.Get("Api-Key"), body)
				w.WriteHeader(http.StatusTeapot)
			})
			if _, err := s.Ask(t.Context(), question()); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(sent, c.want) {
				t.Errorf("%s has no %s", sent, c.want)
			}
			if strings.Contains(c.members, "omit") && (strings.Contains(sent, "max_tokens") || strings.Contains(sent, "temperature")) {
				t.Errorf("sent %s", sent)
			}
		})
	}
}

// spec: label-mass-low
func TestTheLeastLabelMassIsThatOfTheFile(t *testing.T) {
	t.Parallel()
	thinks, err := os.ReadFile("internal/provider/openaichat/testdata/11-think.json")
	if err != nil {
		t.Fatal(err)
	}
	for members, code := range map[string]prism.ErrorCode{
		"": prism.CodeLabelMassLow, ", min_label_mass: 0.00001": prism.CodeLabelMassLow,
		", min_label_mass: 0.000001": "", ", min_label_mass: 0": "",
	} {
		s := asked(t, "openai-chat", members, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(thinks) })
		if out, err := s.Ask(t.Context(), question()); err != nil || out.Call.ErrorCode != code {
			t.Errorf("%q: got %+v %+v, %v", members, out, out.Call, err)
		}
	}
}

// spec: failure-classes, errors-in-a-200
func TestARefusedParameterIsNamedWhateverTheStatus(t *testing.T) {
	t.Parallel()
	const refused = `{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model.","code":400}}`
	for _, status := range []int{200, 400, 422} {
		s := asked(t, "openai-chat", "", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, refused)
		})
		if out, err := s.Ask(t.Context(), question()); err != nil || out.Error != "The model service refused the parameter temperature." {
			t.Errorf("status %d: got %+v, %v", status, out, err)
		}
	}
}

// What fails about one text, and only once, is what the marks say.
//
// spec: failure-classes
func TestAHostFailsAsATextSays(t *testing.T) {
	t.Parallel()
	h := hostOf(t, "openai")
	s, server := hosted(t, h, "    host: openai\n")
	for _, fault := range chathost.Faults() {
		a := question()
		a.Fields[0].Value = chathost.Always(fault)
		if out, err := s.Ask(t.Context(), a); err != nil || !out.Failed() || out.TookMS > 5000 {
			t.Errorf("%s: got %+v, %v", fault, out, err)
		}
		if asked := server.AskedAbout(a.Fields[0].Value); asked < 1 || asked > 2 {
			t.Errorf("%s: asked %d times", fault, asked)
		}
	}
	for _, fault := range []chathost.Fault{chathost.OutOfOrder, chathost.TooManyCalls, chathost.BrokenFrame} {
		a := question()
		a.Fields[0].Value = chathost.Once(fault)
		if out, err := s.Ask(t.Context(), a); err != nil || out.Failed() || out.Call.Tries != 2 {
			t.Errorf("%s once: got %+v, %v", fault, out, err)
		}
	}
}
