package modelsfile

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
)

var update = flag.Bool("update", false, "write the table of hosts of docs/providers.md anew")

// chatModel is a file with a model of openai-chat that has these lines, which begin in line 5.
func chatModel(lines string) string {
	return "default: a\nmodels:\n  - name: a\n    provider: openai-chat\n" + lines
}

const local = "    base_url: http://127.0.0.1:1/v1\n    model: m\n"

func openModel(t *testing.T, text string) *models.Model {
	t.Helper()
	s, err := Open(config(write(t, text)))
	if err != nil {
		t.Fatal(err)
	}
	set := s.Acquire()
	t.Cleanup(set.Release)
	return set.Default()
}

// spec: model-hosts
func TestTheBuiltInHostsAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	var names []string
	for _, h := range hosts() {
		names = append(names, h.name)
		if !strings.HasPrefix(h.source, "https://") || len(h.date) != len("2026-11-27") {
			t.Errorf("%s: %+v", h.name, h)
		}
	}
	want := strings.Fields("openai openai-reasoning azure openrouter gemini groq mistral together fireworks deepseek xai vllm sglang ollama llamacpp litellm")
	if !slices.Equal(names, want) {
		t.Errorf("got %v", names)
	}
}

// spec: model-hosts
func TestAHostOfItsOwnAddressNeedsAKey(t *testing.T) {
	t.Parallel()
	for _, h := range hosts() {
		text := chatModel("    host: " + h.name + "\n    model: m\n")
		if h.BaseURL == "" {
			text += "    base_url: http://127.0.0.1:1/v1\n"
		} else if _, err := Open(config(write(t, text))); err == nil || !strings.Contains(err.Error(), ":3: a.api_key_env: required by") {
			t.Errorf("%s without a key: %v", h.name, err)
		}
		if m := openModel(t, text+"    api_key_env: KEY\n"); m.API.Probabilities != h.Probabilities || m.API.Name != "openai-chat" {
			t.Errorf("%s: got %+v", h.name, m.API)
		}
	}
}

// spec: model-profiles, model-hosts, extra-members
func TestEveryMemberOfAHostCanBeReplaced(t *testing.T) {
	t.Parallel()
	got := openModel(t, chatModel(local+`    query: {api-version: 2026-06-01, v: 2}
    extra: {reasoning_effort: none, list: [1, 2.5, true, null, x], provider: {order: [x]}}
    path: /v2/chat
    auth: {header: x-key}
    probabilities: sampled
    limit_parameter: max_tokens
    limit: 64
    temperature: 0
    response_format: json_object
    samples: 7
    max_n: 3
    max_options: 20
    host: openai-reasoning
`)).Profile
	want := &provider.Profile{
		BaseURL: "https://api.openai.com/v1", Path: "/v2/chat", Query: "api-version=2026-06-01&v=2", Auth: "X-Key", Probabilities: api.Sampled,
		LimitParameter: "max_tokens", Limit: 64, LogProbs: "top_logprobs", TopLogProbs: 20, ResponseFormat: "json_object", Samples: 7, MaxN: 3,
		MaxOptions: 20, Extra: provider.Object{
			{Name: "reasoning_effort", Value: "none"},
			{Name: "list", Value: []any{uint64(1), 2.5, true, nil, "x"}},
			{Name: "provider", Value: provider.Object{{Name: "order", Value: []any{"x"}}}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if h := hosts()[1]; h.Limit != 16384 || h.Extra[0].Value != "low" {
		t.Errorf("the built-in host has changed: %+v", h)
	}
}

// spec: model-profiles, max-options
func TestDecisionModelsHaveAPathAndABoundOfOptions(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"systemone", "openai-decisions"} {
		m := openModel(t, "default: a\nmodels:\n  - {name: a, provider: "+name+", base_url: http://127.0.0.1:1, path: /x/decide, max_options: 2}\n")
		f, _ := formatOf(m.Spec)
		if f.Path != "/x/decide" || f.MaxOptions != 2 {
			t.Errorf("got %+v", f)
		}
	}
	m := openModel(t, "default: a\nmodels:\n  - {name: a, provider: systemone, base_url: http://127.0.0.1:1, max_options: 2}\n")
	if f, _ := formatOf(m.Spec); f.Path != "/systemone" {
		t.Errorf("got %+v", f)
	}
}

// profileProblems are wrong members of a profile.
var profileProblems = map[string]struct {
	lines string // from line 7 on
	want  []string
}{
	"an unknown host":            {"    host: gpt\n", []string{":7: a.host: must be one of openai, openai-reasoning, azure, openrouter, "}},
	"a host that is a number":    {"    host: 7\n", []string{":7: a.host: must be a text"}},
	"a path without a slash":     {"    path: chat\n", []string{":7: a.path: must begin with a slash, and have no query"}},
	"a path with a query":        {"    path: /chat?x=1\n", []string{":7: a.path: must begin with a slash, and have no query"}},
	"a query that is a text":     {"    query: a=b\n", []string{":7: a.query: must have members"}},
	"a query of a list":          {"    query: {a: [b]}\n", []string{":7: a.query.a: must be a text"}},
	"an unknown way of auth":     {"    auth: basic\n", []string{":7: a.auth: must be bearer, none, {header: NAME} or {kind: google}"}},
	"auth by Prism's own header": {"    auth: {header: content-type}\n", []string{":7: a.auth.header: is set by Prism"}},
	"auth of two members":        {"    auth: {header: a, value: b}\n", []string{":7: a.auth: must be bearer, none, {header: NAME} or {kind: google}"}},
	"a key that is not sent":     {"    auth: none\n    api_key_env: KEY\n", []string{":7: a.auth: none sends no key"}},
	"the header of the key": {
		"    auth: {header: api-key}\n    headers: {api-key: x}\n", []string{":8: a.headers.Api-Key: is set by Prism"},
	},
	"unknown probabilities":        {"    probabilities: native\n", []string{":7: a.probabilities: must be logprobs, stated or sampled"}},
	"an unknown limit":             {"    limit_parameter: n\n", []string{":7: a.limit_parameter: must be max_tokens, max_completion_tokens or none"}},
	"a limit of 0":                 {"    limit: 0\n", []string{":7: a.limit: must be a whole number from 1 to 131072"}},
	"too many log-probabilities":   {"    top_logprobs: 21\n", []string{":7: a.top_logprobs: must be a whole number from 1 to 20"}},
	"a temperature":                {"    temperature: 0.7\n", []string{":7: a.temperature: must be 0 or omit"}},
	"an unknown form of reply":     {"    response_format: text\n", []string{":7: a.response_format: must be json_schema or json_object"}},
	"too many samples":             {"    probabilities: sampled\n    samples: 33\n", []string{":8: a.samples: must be a whole number from 1 to 32"}},
	"samples of log-probabilities": {"    samples: 5\n", []string{":7: a.samples: only with probabilities: sampled"}},
	"what only log-probabilities have": {
		"    probabilities: stated\n    order: cyclic\n    min_label_mass: 0.5\n    top_logprobs: 5\n    logprobs_parameter: logprobs\n",
		[]string{
			":8: a.order: only with probabilities: logprobs", ":9: a.min_label_mass: only with", ":10: a.top_logprobs: only with",
			":11: a.logprobs_parameter: only with",
		},
	},
	"what a host without log-probabilities has not": {"    host: gemini\n    order: cyclic\n", []string{":8: a.order: only with probabilities: logprobs"}},
	"members that Prism sends": {
		"    extra: {model: x, temperature: 1, logprobs: false, max_tokens: 7, n: 2, stream: true, seed: 1}\n",
		[]string{
			":7: a.extra.model: is set by Prism", ":7: a.extra.temperature: is", ":7: a.extra.logprobs: is", ":7: a.extra.max_tokens: is",
			":7: a.extra.n: is", ":7: a.extra.stream: is",
		},
	},
	"the schema that Prism sends": {
		"    probabilities: stated\n    extra: {response_format: {type: text}}\n", []string{":8: a.extra.response_format: is set by Prism"},
	},
	"a number that JSON has not": {"    extra: {a: .inf}\n", []string{":7: a.extra.a: has no form in JSON"}},
	"too many options":           {"    max_options: 256\n", []string{":7: a.max_options: must be a whole number from 1 to 255"}},
}

// spec: model-profiles, extra-members
func TestEveryProblemOfAProfileIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	for name, c := range profileProblems {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problemsAre(t, chatModel(local+c.lines), c.want)
		})
	}
	problemsAre(t, one("    base_url: http://127.0.0.1:1\n    host: openai\n    extra: {a: b}\n    path: /x\n"), []string{
		":6: a.host: the provider systemone has no such member", ":7: a.extra: the provider systemone has no such member",
	})
	problemsAre(t, chatModel("    host: azure\n    model: m\n"), []string{":3: a.base_url: required: the host has no address of its own"})
}

// problemsAre checks that a file has these problems alone, of which want has the beginnings, in any order.
func problemsAre(t *testing.T, text string, want []string) {
	t.Helper()
	path := write(t, text)
	_, err := Open(config(path))
	if err == nil {
		t.Fatal("the file was taken")
	}
	for _, line := range strings.Split(err.Error(), "\n")[1:] {
		line = strings.TrimPrefix(line, "  "+path)
		at := slices.IndexFunc(want, func(w string) bool { return strings.HasPrefix(line, w) })
		if at < 0 {
			t.Errorf("one more problem: %q", line)
			continue
		}
		want = slices.Delete(slices.Clone(want), at, at+1)
	}
	if len(want) > 0 {
		t.Errorf("no problem begins with %q", want)
	}
}

// spec: model-hosts
func TestTheTableOfHostsIsMadeOfTheFile(t *testing.T) {
	t.Parallel()
	const page, begin, end = "../../../../docs/providers.md", "<!-- hosts -->\n", "<!-- end of hosts -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), begin)
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatal("docs/providers.md has no table of hosts")
	}
	if want := before + begin + hostTable() + end + after; want != string(text) {
		if !*update {
			t.Fatal("docs/providers.md has another table: go test ./services/model-proxy/internal/modelsfile -update")
		}
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// spec: models-file, model-profiles
func TestTheFilesOfModelsThatThePageShowsAreTaken(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "\n```yaml\n")[1:]
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "\n```")
		s := &Source{Current: &models.Current{}, cfg: config("")}
		r := reader{secrets: secrets{env: func(string) string { return "key" }, file: func(string) (string, error) { return "key", nil }}}
		all := s.openAll(r.read([]byte(block)), &r)
		if len(r.Problems) > 0 || len(all) == 0 {
			t.Errorf("%v in\n%s", r.Problems, block)
		}
	}
	if len(blocks) < 4 {
		t.Errorf("only %d files", len(blocks))
	}
}

// hostTable is the table of hosts. Its last columns have what differs from the default profile, in the words of the file.
func hostTable() string {
	var s strings.Builder
	s.WriteString("| `host` | `base_url` | `probabilities` | what it has beside the default | to know | source, read on |\n|---|---|---|---|---|---|\n")
	plain := provider.DefaultProfile()
	for _, h := range hosts() {
		var own []string
		add := func(differs bool, name string, value any) {
			if differs {
				own = append(own, fmt.Sprintf("`%s: %v`", name, value))
			}
		}
		add(h.Auth != plain.Auth, "auth", "{header: "+strings.ToLower(h.Auth)+"}")
		add(h.Query != plain.Query, "query", "{"+strings.Replace(h.Query, "=", ": ", 1)+"}")
		add(h.LimitParameter != plain.LimitParameter, "limit_parameter", h.LimitParameter)
		add(h.Limit != plain.Limit, "limit", h.Limit)
		add(h.LogProbs != plain.LogProbs, "logprobs_parameter", h.LogProbs)
		add(h.TopLogProbs != plain.TopLogProbs, "top_logprobs", h.TopLogProbs)
		add(h.OmitTemperature, "temperature", "omit")
		add(h.ResponseFormat != plain.ResponseFormat, "response_format", h.ResponseFormat)
		add(h.MaxN != plain.MaxN, "max_n", h.MaxN)
		add(len(h.Extra) > 0, "extra", string(provider.Encode(h.Extra)))
		base := "required"
		if h.BaseURL != "" {
			base = "`" + h.BaseURL + "`"
		}
		fmt.Fprintf(&s, "| `%s` | %s | `%s` | %s | %s | [%s](%s) |\n", h.name, base, h.Probabilities, strings.Join(own, ", "), h.note, h.date, h.source)
	}
	return s.String()
}
