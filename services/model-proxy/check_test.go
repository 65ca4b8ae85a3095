package modelproxy

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/testkit/chathost"
	"github.com/prism-results/prism/services/model-proxy/internal/check"
)

// atHost is the configuration of one model at a base URL, with further members.
func atHost(t *testing.T, url, members string) Config {
	t.Helper()
	return Config{
		ModelsFile: file(t, url, "default: m\nmodels:\n  - {name: m, provider: openai-chat, base_url: URL, api_key_env: KEY, model: "+chathost.Model+members+"}\n"),
		Getenv:     func(name string) string { return map[string]string{"KEY": chathost.Key, "OTHER": "sk-other"}[name] },
	}
}

// checked is what the command says of a model.
func checked(t *testing.T, cfg Config) (said string, works bool) {
	t.Helper()
	var out strings.Builder
	err := Command(t.Context(), []string{"models", "check"}, cfg, &out)
	if err != nil && !errors.Is(err, errCheck) {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), chathost.Key) {
		t.Errorf("the key is in %s", out.String())
	}
	return out.String(), err == nil
}

// spec: model-check
func TestEachHostWorksWithItsProfileAndSaysWhatToWriteWithoutIt(t *testing.T) {
	t.Parallel()
	const think = "extra: {reasoning_effort: none}, or extra: {chat_template_kwargs: {enable_thinking: false}}"
	writes := map[string]string{ // nothing for openai and litellm, whose profile is the default one
		"openai-reasoning": "limit_parameter: max_completion_tokens", "azure": "api_key_env: NAME of a variable with a valid key, or auth: {header: api-key}",
		"openrouter": "limit_parameter: max_completion_tokens, and limit: 16", "deepseek": "probabilities: stated", "gemini": "probabilities: stated", "groq": "probabilities: stated", "mistral": "probabilities: stated",
		"together": "probabilities: stated, or logprobs_parameter: logprobs", "fireworks": "top_logprobs: 5", "xai": "top_logprobs: 5",
		"vllm": think, "sglang": think, "ollama": think, "llamacpp": think,
	}
	for _, h := range chathost.Hosts() {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			s := chathost.New(h)
			t.Cleanup(s.Close)
			if said, works := checked(t, atHost(t, s.BaseURL(), ", host: "+h.Name)); !works {
				t.Errorf("with its profile: %s", said)
			}
			said, works := checked(t, atHost(t, s.BaseURL(), ""))
			if want := writes[h.Name]; works != (want == "") || want != "" && !strings.Contains(said, "write: "+want) {
				t.Errorf("without its profile, want %q: %s", want, said)
			}
		})
	}
}

// spec: model-check, failure-classes
func TestAFaultOfAHostSaysWhatToWrite(t *testing.T) {
	t.Parallel()
	for fault, want := range map[chathost.Fault][]string{
		chathost.DeadKey:      {"ok      reached", "failed  key                The model service refused the key.", "write: api_key_env: NAME"},
		chathost.EmptyBalance: {"failed  key                The model service has no balance left.", "write: fallback: [NAME]"},
		chathost.FilteredText: {"ok      key", "failed  request            The model service filtered the text.", "write: fallback: [NAME] with fallback_on: [content]"},
		chathost.TooLongText:  {"failed  request            The text is too long for the model.", "write: limit or model"},
		chathost.UnknownModel: {"failed  reached            the host does not know the model or the path (status 40", "write: model, base_url, path or query"},
		chathost.BrokenFrame:  {"failed  json               The model service did not answer in JSON. (event_stream)", "write: base_url or path"},
		chathost.TooManyCalls: {"failed  reached            the host limits the rate of calls (status 429)", "write: max_in_flight"},
		chathost.OutOfOrder:   {"failed  reached            the host is not ready (status 50"},
		chathost.BadParameter: {"failed  request            The model service refused the parameter messages.", "write: model: one that takes a system message"},
		chathost.NoAnswer:     {"ok      json", "failed  answers            The model gave no usable answer to question ", "write: "},
	} {
		for _, h := range chathost.Hosts() {
			t.Run(string(fault)+" "+h.Name, func(t *testing.T) {
				t.Parallel()
				s := chathost.New(h)
				t.Cleanup(s.Close)
				s.Fail(fault, 9)
				said, works := checked(t, atHost(t, s.BaseURL(), ", host: "+h.Name))
				if works {
					t.Error("it works")
				}
				for _, part := range want {
					if !strings.Contains(said, part) {
						t.Errorf("%s has no %s", said, part)
					}
				}
				if s.Asked() > 2 { // the two questions
					t.Errorf("%d calls", s.Asked())
				}
			})
		}
	}
}

// token is a reply whose first token is this one.
func token(text, logProb, likely string) string {
	return fmt.Sprintf(`{"choices":[{"finish_reason":"stop","message":{"content":"x"},"logprobs":{"content":[{"token":%q,"logprob":%s,"top_logprobs":[%s]}]}}],"usage":{}}`, text, logProb, likely)
}

// spec: model-check
func TestAReplySaysWhatToWrite(t *testing.T) {
	t.Parallel()
	refused := func(param string) string { return `{"error":{"message":"no","param":"` + param + `"}}` }
	for name, c := range map[string]struct {
		status int
		reply  string
		want   []string
	}{
		"thinking": {200, token("<think>", "-0.0001", `{"token":"Yes","logprob":-14},{"token":"No","logprob":-15},{"token":"A","logprob":-14},{"token":"B","logprob":-15}`), []string{
			"failed  thinking", "write: extra: {reasoning_effort: none}", "failed  label_mass", "write: probabilities: stated",
		}},
		"no log-probabilities": {200, `{"choices":[{"message":{"content":"Yes"}}]}`, []string{"failed  log_probabilities", "write: probabilities: stated"}},
		"no label":             {200, token("Sure", "-0.1", ""), []string{"failed  answers", "write: top_logprobs: 20"}},
		"little label mass": {200, token("Sure", "-1", `{"token":"No","logprob":-1.4},{"token":"Yes","logprob":-9},{"token":"B","logprob":-1.4},{"token":"A","logprob":-9},{"token":"C","logprob":-9},{"token":"D","logprob":-9}`), []string{
			"doubt   label_mass", "write: probabilities: stated", "ok      answers", "doubt   tokens",
		}},
		"max_tokens":            {400, refused("max_tokens"), []string{"failed  request            The model service refused the parameter max_tokens.", "write: limit_parameter: max_completion_tokens"}},
		"temperature":           {400, refused("temperature"), []string{"write: temperature: omit"}},
		"top_logprobs":          {400, refused("top_logprobs"), []string{"write: top_logprobs: 5"}},
		"logprobs":              {400, refused("logprobs"), []string{"write: probabilities: stated"}},
		"a parameter of nobody": {400, refused(""), []string{"write: host: "}},
		"what the host says":    {400, `{"error":{"message":"top secret plan of the host"}}`, []string{"the host says: top secret plan of the host"}},
		"a page":                {200, "<html>", []string{"failed  json", "(html)", "write: base_url or path"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.reply)
			}))
			t.Cleanup(server.Close)
			said, _ := checked(t, atHost(t, server.URL, ""))
			for _, part := range c.want {
				if !strings.Contains(said, part) {
					t.Errorf("%s has no %s", said, part)
				}
			}
			if !strings.Contains(said, server.URL) {
				t.Errorf("%s has no address", said)
			}
		})
	}
	said, works := checked(t, atHost(t, "http://127.0.0.1:1", ""))
	if works || !strings.Contains(said, "failed  reached            there is no connection to the host (refused)") || !strings.Contains(said, "write: base_url") {
		t.Errorf("got %s", said)
	}
}

// spec: model-check
func TestAModelIsCheckedOnceAtATime(t *testing.T) {
	t.Parallel()
	s, _, _ := opened(t, file(t, "http://127.0.0.1:1", "default: a\nmodels: [{name: a, provider: offline}]\n"), 0)
	set := s.models.Acquire()
	defer set.Release()
	m := set.Models()[0]
	if !m.BeginCheck() {
		t.Fatal("it is being checked")
	}
	if _, _, err := s.check(t.Context(), m); !errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	m.EndCheck()
	found, _, err := s.check(t.Context(), m)
	doubt := slices.ContainsFunc(found.Checks, func(p api.CheckedPart) bool { return p.Status != api.PartOK || p.Write != nil })
	if err != nil || !found.OK || doubt || found.Checks[0].Part != api.PartReached || m.State() != 0 {
		t.Errorf("got %+v, %v", found, err)
	}
}

// spec: model-check, try-counts
func TestACheckOfATenantHasWhatItUsedAndNoAddress(t *testing.T) {
	t.Parallel()
	hosts := chathost.Hosts()
	s := chathost.New(hosts[slices.IndexFunc(hosts, func(h chathost.Host) bool { return h.Name == "openai" })])
	t.Cleanup(s.Close)
	cfg := atHost(t, s.BaseURL(), ", price: {currency: USD, input: 1, output: 1}")
	of, err := New(cfg, Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(of.Close)
	got, err := of.Check(t.Context(), "m")
	if err != nil || !got.Found.OK || got.Outcome.Failed() || len(got.Definition.Questions) != 2 {
		t.Fatalf("got %+v, %v", got, err)
	}
	call := got.Outcome.Call
	if int(call.Tries) != s.Asked() || s.Asked() != 3 || *call.Usage.Cost != (*call.Usage.InputTokens+*call.Usage.OutputTokens)*1_000_000 {
		t.Errorf("%d calls, %+v", s.Asked(), call)
	}
	for _, name := range []string{"", "other"} {
		if _, err := of.Check(t.Context(), name); !errors.Is(err, apierr.ModelNotFound()) {
			t.Errorf("%q: got %v", name, err)
		}
	}
	// spec: model-states
	s.Fail(chathost.DeadKey, 9)
	if _, err := of.Ask(t.Context(), check.Asks()[0]); err != nil {
		t.Fatal(err)
	}
	if states, err := of.States(t.Context()); err != nil || len(states) != 1 || len(states[0].Failures) != 1 || states[0].Failures[0].Reason != api.FailedKey {
		t.Errorf("states %+v, %v", states, err)
	}
	got, err = of.Check(t.Context(), "m")
	if err != nil || got.Found.OK || got.Outcome.Call.ErrorCode != "refused_key" {
		t.Fatalf("got %+v, %v", got, err)
	}
	for _, p := range got.Found.Checks {
		if said := p.Text + *cmp.Or(p.Write, new("")); strings.Contains(said, "127.0.0.1") || strings.Contains(said, "Incorrect API key") {
			t.Errorf("it says %s", said)
		}
	}
}

// spec: model-check
func TestTheCommandNamesAModel(t *testing.T) {
	t.Parallel()
	cfg := Config{ModelsFile: file(t, "", "default: a\nmodels: [{name: a, provider: offline}, {name: b, provider: offline}]\n")}
	for _, c := range []struct {
		args []string
		want string
		err  string
	}{
		{[]string{"models", "check", "b"}, "b: offline", ""},
		{[]string{"models", "check", "c"}, "", `no model has the name "c"`},
		{[]string{"models"}, "usage: ", "help requested"},
	} {
		var out strings.Builder
		err := Command(t.Context(), c.args, cfg, &out)
		if !strings.HasPrefix(out.String(), c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: got %s, %v", c.args, out.String(), err)
		}
	}
	if len(check.Asks()) != 2 || len(check.Definition().Questions) != 2 {
		t.Error("the known questions are others")
	}
}
