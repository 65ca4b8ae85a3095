package modelproxy

import (
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/chathost"
)

// wrongSettings are members that a host does not take, beside its profile, and what to write in their place.
var wrongSettings = []struct{ host, members, write string }{
	{"openai", "path: /v2/chat", "model, base_url, path or query"},
	{"openai", "proxy: \"http://127.0.0.1:1\"", "proxy: http://user@host:port"},
	{"openai-reasoning", "limit_parameter: max_tokens", "limit_parameter: max_completion_tokens"},
	{"openai-reasoning", "temperature: 0", "temperature: omit"},
	{"openai-reasoning", "probabilities: logprobs", "probabilities: stated"},
	{"openai-reasoning", "probabilities: sampled, limit: 1", "limit: 16384"},
	{"azure", "auth: bearer", "auth: {header: api-key}"},
	{"azure", "query: {version: '1'}", "model, base_url, path or query"},
	{"openrouter", "probabilities: logprobs, limit: 1", "limit_parameter: max_completion_tokens, and limit: 16"},
	{"openrouter", "probabilities: logprobs, extra: {provider: {}}", "probabilities: stated"},
	{"openrouter", "extra: {provider: {}}", "host: the name of the built-in host"},
	{"gemini", "probabilities: logprobs", "probabilities: stated"},
	{"gemini", "probabilities: sampled, limit: 1", "limit: 16384"},
	{"gemini", "probabilities: sampled, samples: 9, max_n: 9", "max_n: 1"},
	{"groq", "probabilities: logprobs", "probabilities: stated"},
	{"groq", "response_format: json_schema", "response_format: json_object"},
	{"groq", "probabilities: sampled, max_n: 5", "max_n: 1"},
	{"mistral", "probabilities: logprobs", "probabilities: stated"},
	{"mistral", "limit_parameter: max_completion_tokens", "limit_parameter: max_tokens"},
	{"together", "logprobs_parameter: top_logprobs", "logprobs_parameter: logprobs"},
	{"fireworks", "top_logprobs: 20", "top_logprobs: 5"},
	{"deepseek", "response_format: json_schema", "response_format: json_object"},
	{"deepseek", "probabilities: logprobs, extra: {thinking: {type: enabled}}", "probabilities: stated"},
	{"deepseek", "probabilities: sampled, extra: {thinking: {type: enabled}}", "limit: 16384"},
	{"xai", "probabilities: logprobs", "probabilities: stated"},
	{"xai", "probabilities: logprobs, top_logprobs: 20", "top_logprobs: 5"},
	{"xai", "probabilities: sampled, limit: 1", "limit: 16384"},
	{"vllm", "extra: {chat_template_kwargs: {enable_thinking: true}}", "extra: {reasoning_effort: none}, or extra: {chat_template_kwargs: {enable_thinking: false}}"},
	{"sglang", "extra: {chat_template_kwargs: {enable_thinking: true}}", "extra: {reasoning_effort: none}, or extra: {chat_template_kwargs: {enable_thinking: false}}"},
	{"ollama", "extra: {reasoning_effort: high}", "extra: {reasoning_effort: none}"},
	{"llamacpp", "extra: {chat_template_kwargs: {enable_thinking: true}}", "extra: {reasoning_effort: none}, or extra: {chat_template_kwargs: {enable_thinking: false}}"},
	{"litellm", "path: /v1/completions", "model, base_url, path or query"},
}

// spec: model-check
func TestEachWrongSettingOfAHostSaysWhatToWrite(t *testing.T) {
	t.Parallel()
	for _, c := range wrongSettings {
		t.Run(c.host+" "+c.members, func(t *testing.T) {
			t.Parallel()
			s := chathost.New(hostOf(t, c.host))
			t.Cleanup(s.Close)
			said, works := checked(t, atHost(t, s.BaseURL(), ", host: "+c.host+", "+c.members))
			if _, write, _ := strings.Cut(said, "write: "); works || !strings.Contains(write, c.write) {
				t.Errorf("want %q: %s", c.write, said)
			}
		})
	}
	for _, h := range chathost.Hosts() {
		if !slices.ContainsFunc(wrongSettings, func(c struct{ host, members, write string }) bool { return c.host == h.Name }) {
			t.Errorf("no wrong setting of %s", h.Name)
		}
	}
}

// hostOf is the host with a name.
func hostOf(t *testing.T, name string) chathost.Host {
	t.Helper()
	hosts := chathost.Hosts()
	i := slices.IndexFunc(hosts, func(h chathost.Host) bool { return h.Name == name })
	if i < 0 {
		t.Fatalf("no host has the name %s", name)
	}
	return hosts[i]
}

// spec: model-check
func TestAWrongKeyModelOrAddressSaysWhatToWrite(t *testing.T) {
	t.Parallel()
	for _, h := range chathost.Hosts() {
		for was, is := range map[string][2]string{ // a member with what is wrong about it and what to write
			"api_key_env: KEY":           {"api_key_env: OTHER", "write: api_key_env: NAME of a variable with a valid key"},
			"model: " + chathost.Model:   {"model: vendor/other", "write: model, base_url, path or query: as the host calls them"},
			"base_url: URL":              {"base_url: URL/v9", "write: model, base_url, path or query: as the host calls them"},
			"base_url: URL, api_key_env": {"base_url: \"http://127.0.0.1:1/v1\", api_key_env", "write: base_url: as the host says, or proxy:"},
		} {
			t.Run(h.Name+" "+is[0], func(t *testing.T) {
				t.Parallel()
				s := chathost.New(h)
				t.Cleanup(s.Close)
				cfg := atHost(t, s.BaseURL(), "")
				text := "default: m\nmodels:\n  - {name: m, provider: openai-chat, host: " + h.Name + ", base_url: URL, api_key_env: KEY, model: " + chathost.Model + "}\n"
				cfg.ModelsFile = file(t, s.BaseURL(), strings.Replace(text, was, is[0], 1))
				if said, works := checked(t, cfg); works || !strings.Contains(said, is[1]) {
					t.Errorf("want %q: %s", is[1], said)
				}
			})
		}
	}
}
