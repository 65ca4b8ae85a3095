package modelsfile

import (
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-nobody-may-see"

// environment has the variables of the tests.
func environment(name string) string {
	return map[string]string{"KEY": secret + "\n", "TEAM": "support", "BROKEN": secret + "\x01"}[name]
}

// write makes a file of models.
func write(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "models.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func config(path string) Config {
	return Config{Path: path, Getenv: environment, Log: slog.New(slog.DiscardHandler)}
}

const full = `# models
default: fast
models:
  - name: fast
    provider: openai-chat
    base_url: https://models.internal/v1
    model: qwen3-8b
    api_key_env: KEY
    headers: &team
      x-team: support
      X-From: {env: TEAM}
    max_in_flight: 64
    order: cyclic
    price: {currency: USD, input: 0.40, output: 1.6, cached_input: 0.1, per_call: 0.000000000001}
    fallback: [strong]
    fallback_on: [refused_key, -limited]
    min_label_mass: 0.25
  - {name: strong, provider: anthropic, api_key_env: KEY, headers: *team, price: {currency: EUR, input: 1, output: 1e-06}}
  - name: "0-none"
    provider: offline
`

// spec: models-file
func TestAFileOfModelsIsRead(t *testing.T) {
	t.Parallel()
	s, err := Open(config(write(t, full)))
	if err != nil {
		t.Fatal(err)
	}
	set := s.Acquire()
	defer set.Release()
	want := []api.Model{
		{
			Name: "fast", Provider: "openai-chat", Model: "qwen3-8b", Default: true, Probabilities: api.Logprobs,
			Price: &api.Price{Currency: "USD", Input: 0.4, Output: 1.6, CachedInput: new(0.1), PerCall: new(1e-12)}, Fallback: []string{"strong"}, Order: new("cyclic"),
		},
		{
			Name: "strong", Provider: "anthropic", Model: "claude-haiku-5-5", Probabilities: api.Stated,
			Price: &api.Price{Currency: "EUR", Input: 1, Output: 0.000001}, Fallback: []string{},
		},
		{Name: "0-none", Provider: "offline", Probabilities: api.Simulated, Fallback: []string{}},
	}
	if got := set.List(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	fast := set.Models()[0]
	if fast.APIKey != secret || fast.MaxInFlight != 64 || fast.Headers.Get("X-Team") != "support" || fast.Headers.Get("x-from") != "support" {
		t.Errorf("got %+v", fast.Spec)
	}
	if !reflect.DeepEqual(*fast.Price, models.Price{Currency: "USD", Input: 400_000, Output: 1_600_000, CachedInput: new(int64(100_000)), PerCall: 1}) {
		t.Errorf("got %+v", *fast.Price)
	}
	if !reflect.DeepEqual(fast.FallbackOn, map[failure.Class]bool{failure.RefusedKey: true, failure.Limited: false}) ||
		!fast.FallsBack(failure.RefusedKey) || fast.FallsBack(failure.Limited) || !fast.FallsBack(failure.Unreadable) {
		t.Errorf("got %v", fast.FallbackOn)
	}
	if fast.LeastLabelMass() != 0.25 || set.Models()[1].LeastLabelMass() != 0.05 {
		t.Errorf("got %v and %v", fast.LeastLabelMass(), set.Models()[1].LeastLabelMass())
	}
	if got := set.Route(""); len(got) != 2 || got[0].Name != "fast" || got[1].Name != "strong" {
		t.Errorf("the route of the default is %v", got)
	}
}

// one is a file with a model that has these lines, which begin in line 5.
func one(lines string) string {
	return "default: a\nmodels:\n  - name: a\n    provider: systemone\n" + lines
}

// spec: models-file, model-headers, values-are-never-repeated
func TestEveryProblemOfAFileIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	const base = "    base_url: http://127.0.0.1:1/v1\n"
	for name, c := range map[string]struct {
		text string
		want []string // problems without the path
	}{
		"empty":             {"", []string{": has no models"}},
		"null":              {"null", []string{": default: must be the name of a model", ": models: must have a model"}},
		"a list":            {"- a", []string{":1: must have members", ": default: must be the name of a model", ": models: must have a model"}},
		"no YAML":           {"default: a\nmodels: [", []string{":2: "}},
		"two documents":     {one(base) + "---\ndefault: b\n", []string{":7: must be one YAML document"}},
		"no models":         {"default: a\nmodels: []\n", []string{": models: must have a model", ":1: default: no model has the name \"a\""}},
		"an unknown member": {"defaults: a\n" + one(base), []string{":1: has no member \"defaults\""}},
		"an unknown member of a model": {
			one(base + "    modell: x\n"), []string{":6: a: has no member \"modell\""},
		},
		"a member twice":         {one(base + "    model: x\n    model: y\n"), []string{":7: models.0.model: is given twice"}},
		"default twice":          {"default: a\n" + one(base), []string{":2: default: is given twice"}},
		"no default":             {"models:\n  - {name: a, provider: offline}\n", []string{": default: must be the name of a model"}},
		"an unknown default":     {"default: b\nmodels:\n  - {name: a, provider: offline}\n", []string{":1: default: no model has the name \"b\""}},
		"a model that is a text": {"default: a\nmodels:\n  - a\n", []string{":3: models.0: must have members", ":3: models.0: name is missing", ":3: models.0: provider is missing", ":1: default: no model"}},
		"a model that is null":   {"default: a\nmodels:\n  - {name: a, provider: offline}\n  -\n", []string{":2: models.1: must have members"}},
		"models are no list":     {"default: a\nmodels: {a: b}\n", []string{":2: models: must be a list", ": models: must have a model", ":1: default: no model"}},
		"a name of capitals":     {"default: a\nmodels:\n  - {name: A, provider: offline}\n", []string{":3: models.0.name: must be 1 to 64 lower-case", ":1: default: no model"}},
		"a name of hyphens":      {"default: a\nmodels:\n  - {name: -a, provider: offline}\n", []string{":3: models.0.name: must be", ":1: default: no model"}},
		"a name too long": {
			"default: a\nmodels:\n  - {name: " + strings.Repeat("a", 65) + ", provider: offline}\n", []string{":3: models.0.name: must be", ":1: default: no model"},
		},
		"a name that is a number": {"default: a\nmodels:\n  - {name: 7, provider: offline}\n", []string{":3: models.0.name: must be a text", ":3: models.0.name: must be 1 to 64", ":1: default"}},
		"a name twice": {
			"default: a\nmodels:\n  - {name: a, provider: offline}\n  - {name: a, provider: offline}\n", []string{":4: a.name: is the name of the model of line 3"},
		},
		"no name":                  {"default: a\nmodels:\n  - provider: offline\n", []string{":3: models.0: name is missing", ":1: default: no model"}},
		"no provider":              {"default: a\nmodels:\n  - name: a\n", []string{":3: a: provider is missing"}},
		"an unknown provider":      {"default: a\nmodels:\n  - {name: a, provider: gpt}\n", []string{":3: a.provider: unknown provider \"gpt\""}},
		"a wrong address":          {one("    base_url: localhost:8000\n"), []string{":5: a.base_url: must be an absolute http or https URL"}},
		"an address with a secret": {one("    base_url: http://x:" + secret + "@host/v1\n"), []string{":5: a.base_url: must be an absolute http or https URL"}},
		"no key for the provider's own host": {
			one(""), []string{":3: a.api_key_env: required by systemone's own host, unless base_url names another (for example base_url: http://127.0.0.1:8000/v1)"},
		},
		"no model for openai-chat": {
			"default: a\nmodels:\n  - {name: a, provider: openai-chat, api_key_env: KEY}\n", []string{":3: a.model: required by provider openai-chat"},
		},
		"a key in the file":            {one(base + "    api_key: " + secret + "\n"), []string{":6: a.api_key: name the variable or the file that has the key"}},
		"a variable that is not set":   {one(base + "    api_key_env: NONE\n"), []string{":6: a.api_key_env: the variable NONE is not set"}},
		"a variable that is no name":   {one(base + "    api_key_env: ''\n"), []string{":6: a.api_key_env: must be the name of a variable"}},
		"a variable and a file":        {one(base + "    api_key_env: KEY\n    api_key_file: /dev/null\n"), []string{":7: a: only one of", ":7: a.api_key_file: /dev/null: is empty"}},
		"a file that is not there":     {one(base + "    api_key_file: /nowhere/key\n"), []string{":6: a.api_key_file: /nowhere/key: no such file or directory"}},
		"a key that no header carries": {one(base + "    api_key_env: BROKEN\n"), []string{":6: a.api_key_env: holds a character at byte 17 that no header can carry"}},
		"headers that Prism sets": {
			one(base + "    headers:\n      authorization: x\n      Content-Type: x\n      host: x\n      Transfer-Encoding: x\n      traceparent: x\n"),
			[]string{":7: a.headers.authorization: is set by Prism; name the key", ":8: a.headers.Content-Type: is set by Prism", ":9: a.headers.host: is", ":10: a.headers.Transfer", ":11: a.headers.trace"},
		},
		"headers that a provider sets": {
			"default: a\nmodels:\n  - {name: a, provider: anthropic, api_key_env: KEY, headers: {x-api-key: x}}\n", []string{":3: a.headers.X-Api-Key: is set by Prism"},
		},
		"a header that is no name": {one(base + "    headers: {\"x team\": y}\n"), []string{":6: a.headers.x team: is no name of a header"}},
		"a header twice":           {one(base + "    headers: {x-team: y, X-Team: z}\n"), []string{":6: a.headers.X-Team: is given twice: case makes no difference"}},
		"a header without a value": {one(base + "    headers:\n      x-team:\n"), []string{":7: a.headers.x-team: must not be empty"}},
		"a header of a number":     {one(base + "    headers: {x-team: 7}\n"), []string{":6: a.headers.x-team: must be a text; put it in quotes"}},
		"a header of two lines":    {one(base + "    headers: {x-team: \"a\\r\\nb\"}\n"), []string{":6: a.headers.x-team: holds a character at byte 1 that no header can carry"}},
		"a header with spaces":     {one(base + "    headers: {x-team: ' a'}\n"), []string{":6: a.headers.x-team: must not begin or end with a space"}},
		"a header of another source": {
			one(base + "    headers: {x-team: {vault: y}}\n"), []string{":6: a.headers.x-team: must be a text, {env: NAME} or {file: PATH}"},
		},
		"a header of two sources": {
			one(base + "    headers: {x-team: {env: TEAM, file: /x}}\n"), []string{":6: a.headers.x-team: must be a text, {env: NAME} or {file: PATH}"},
		},
		"a header of a variable that is not set": {one(base + "    headers: {x-team: {env: NONE}}\n"), []string{":6: a.headers.x-team.env: the variable NONE is not set"}},
		"a header of a secret that is broken":    {one(base + "    headers: {x-team: {env: BROKEN}}\n"), []string{":6: a.headers.x-team: holds a character at byte 17"}},
		"headers that are a list":                {one(base + "    headers: [a]\n"), []string{":6: a.headers: must have members"}},
		"no calls at once":                       {one(base + "    max_in_flight: 0\n"), []string{":6: a.max_in_flight: must be a whole number from 1 to 1000000"}},
		"calls at once in quotes":                {one(base + "    max_in_flight: '7'\n"), []string{":6: a.max_in_flight: must be a whole number"}},
		"half a call at once":                    {one(base + "    max_in_flight: 1.5\n"), []string{":6: a.max_in_flight: must be a whole number"}},
		// spec: label-orders
		"an unknown order":             {one(base + "    order: random\n"), []string{":6: a.order: must be cyclic"}},
		"an order that is no text":     {one(base + "    order: 7\n"), []string{":6: a.order: must be a text"}},
		"an order of another provider": {one(base + "    order: cyclic\n"), []string{":6: a.order: only the provider openai-chat asks in several orders"}},
		"a price that is a number":     {one(base + "    price: 7\n"), []string{":6: a.price: must have members", ":6: a.price: currency is missing", ":6: a.price: input is", ":6: a.price: output is"}},
		"a price of seven decimals":    {one(base + "    price: {currency: USD, input: 0.0000001, output: 1}\n"), []string{":6: a.price.input: must be a number from 0 to 999999.999999 with at most six decimals"}},
		"a price below zero":           {one(base + "    price: {currency: USD, input: 1, output: -1}\n"), []string{":6: a.price.output: must be a number from 0"}},
		"a price too large":            {one(base + "    price: {currency: USD, input: 1000000, output: 1}\n"), []string{":6: a.price.input: must be a number from 0"}},
		"a price in quotes":            {one(base + "    price: {currency: USD, input: '1', output: .inf}\n"), []string{":6: a.price.input: must", ":6: a.price.output: must"}},
		"a currency of small letters":  {one(base + "    price: {currency: usd, input: 1, output: 1}\n"), []string{":6: a.price.currency: must be three capital letters"}},
		"a price that is a text":       {one(base + "    price: free\n"), []string{":6: a.price: must have members, or be reported"}},
		"a price of a call":            {one(base + "    price: {per_call: 1000}\n"), []string{":6: a.price.per_call: must be a number from 0 to 999.999999999999 with at most twelve decimals", ":6: a.price: currency is missing"}},
		"half a price":                 {one(base + "    price: {currency: USD, input: 1}\n"), []string{":6: a.price: output is missing"}},
		"more than a price":            {one(base + "    price: {currency: USD, input: 1, output: 1, cached: 1}\n"), []string{":6: a.price: has no member \"cached\""}},
		"an unknown fallback":          {one(base + "    fallback: [b]\n"), []string{":6: a.fallback: no model has the name \"b\""}},
		"itself as a fallback":         {one(base + "    fallback: [a]\n"), []string{":6: a.fallback: a model cannot be its own fallback"}},
		"a fallback twice": {
			one(base+"    fallback: [b, b]\n") + "  - {name: b, provider: offline}\n", []string{":6: a.fallback: \"b\" is given twice"},
		},
		// spec: fallback
		"an unknown class": {one(base + "    fallback_on: [timeout]\n"), []string{":6: a.fallback_on.0: must be a class of failures, as content, or one behind a hyphen"}},
		"a class that is none": {
			one(base + "    fallback_on: [null, '', 7]\n"), []string{":6: a.fallback_on.0: must be a class", ":6: a.fallback_on.1: must be a class", ":6: a.fallback_on.2: must be a text"},
		},
		"classes that change nothing": {
			one(base + "    fallback_on: [limited, -content]\n"), []string{":6: a.fallback_on.0: falls back anyway; -limited removes it", ":6: a.fallback_on.1: does not fall back anyway"},
		},
		"a class twice":           {one(base + "    fallback_on: [content, content]\n"), []string{":6: a.fallback_on.1: \"content\" is given twice"}},
		"classes that are a text": {one(base + "    fallback_on: content\n"), []string{":6: a.fallback_on: must be a list"}},
		// spec: upstream-proxies
		"a proxy that is no address":   {one(base + "    proxy: proxy:3128\n"), []string{":6: a.proxy: must be an http or https URL of a host, as http://user@proxy:3128"}},
		"a proxy with a path":          {one(base + "    proxy: http://proxy/x\n"), []string{":6: a.proxy: must be an http or https URL"}},
		"a proxy with a password":      {one(base + "    proxy: http://u:" + secret + "@proxy:3128\n"), []string{":6: a.proxy: name the variable or the file that has the password"}},
		"a password without a proxy":   {one(base + "    proxy_password_env: KEY\n"), []string{":6: a.proxy_password_env: there is no proxy"}},
		"a password without a user":    {one(base + "    proxy: http://proxy:3128\n    proxy_password_env: KEY\n"), []string{":7: a.proxy_password_env: the proxy has no user"}},
		"a password that is not set":   {one(base + "    proxy: http://u@proxy:3128\n    proxy_password_env: NONE\n"), []string{":7: a.proxy_password_env: the variable NONE is not set"}},
		"two passwords":                {one(base + "    proxy: http://u@proxy:3128\n    proxy_password_env: KEY\n    proxy_password_file: /dev/null\n"), []string{":8: a.proxy_password_file: /dev/null: ", ":8: a: only one of proxy_password_env"}},
		"a file without a certificate": {one(base + "    ca_file: /dev/null\n"), []string{":6: a.ca_file: /dev/null: "}},
		// spec: label-mass-low
		"a mass above 1":             {one(base + "    min_label_mass: 1.5\n"), []string{":6: a.min_label_mass: must be a number from 0 to 1"}},
		"a mass in quotes":           {one(base + "    min_label_mass: '0.5'\n"), []string{":6: a.min_label_mass: must be a number from 0 to 1"}},
		"a mass of another provider": {one(base + "    min_label_mass: 0.5\n"), []string{":6: a.min_label_mass: only the provider openai-chat has labels"}},
		"a fallback that is a text":  {one(base + "    fallback: b\n"), []string{":6: a.fallback: must be a list"}},
		"a fallback that is null":    {one(base + "    fallback: [null, '']\n"), []string{":6: a.fallback.0: must be the name of a model", ":6: a.fallback.1: must be the name of a model"}},
		"an upstream of offline": {
			"default: a\nmodels:\n  - {name: a, provider: offline, base_url: x, headers: {x: y}}\n",
			[]string{":3: a.base_url: the provider offline calls no upstream", ":3: a.headers: the provider offline"},
		},
		"an anchor that is not there": {one(base + "    headers: *h\n"), []string{":6: models.0.headers: names an anchor that is not above it"}},
		"a tag":                       {one(base + "    model: !!str x\n"), []string{":6: models.0.model: must have no tag"}},
		"several at once": {
			"default: z\nmodels:\n  - name: a\n    provider: systemone\n    base_url: x\n    max_in_flight: -1\n    price: {}\n    fallback: [z]\n",
			[]string{":1: default: no model", ":5: a.base_url: must", ":6: a.max_in_flight: must", ":7: a.price: currency", ":7: a.price: input", ":7: a.price: output", ":8: a.fallback: no model"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, c.text)
			s, err := Open(config(path))
			if err == nil || s != nil {
				t.Fatal("the file was taken")
			}
			lines := strings.Split(err.Error(), "\n")
			if lines[0] != "PRISM_MODELS_FILE: the file of models is wrong:" {
				t.Errorf("begins with %q", lines[0])
			}
			missing := map[string]bool{}
			for _, l := range lines[1:] {
				missing[strings.TrimPrefix(l, "  "+path)] = true
			}
			for _, want := range c.want {
				found := false
				for l := range missing {
					if strings.HasPrefix(l, want) {
						found = true
						delete(missing, l)
						break
					}
				}
				if !found {
					t.Errorf("no problem begins with %q", want)
				}
			}
			for l := range missing {
				t.Errorf("one more problem: %q", l)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("a secret is repeated: %v", err)
			}
		})
	}
}

// spec: models-file
func TestAFileThatCannotBeReadStopsTheStart(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/nowhere/models.yaml", t.TempDir()} {
		if _, err := Open(config(path)); err == nil || !strings.HasPrefix(err.Error(), "PRISM_MODELS_FILE: "+path+": ") {
			t.Errorf("got %v", err)
		}
	}
}

func TestAmountsAreExact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{ // per million tokens
		"0": 0, "0.000001": 1, "0.40": 400_000, "1.6": 1_600_000, "999999.999999": 999_999_999_999, "007": 7_000_000,
		"1e-06": 1, "1.5E+3": 1_500_000_000, "0.4000000": 400_000, "1e-07": -1, "1e6": -1, "1e99": -1, "1e999": -1,
		"": -1, ".5": -1, "1.": -1, "0x1": -1, "1_0": -1, "+1": -1, "-0": -1, "0.1234567": -1, "1000000": -1, " 1": -1,
	} {
		if got, ok := amount(text, perMillion); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q is %d, %v", text, got, ok)
		}
	}
}

// spec: price-of-a-call
func TestAPriceMayBeReportedByTheUpstreamOrBePerCallAlone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*models.Price{
		"reported":                           {Currency: "USD", Reported: true},
		"{currency: EUR, per_call: 0.002}":   {Currency: "EUR", PerCall: 2e9},
		"{currency: EUR, per_call: 999.999}": {Currency: "EUR", PerCall: 999_999e9},
		"null":                               nil,
	} {
		s, err := Open(config(write(t, one("    base_url: http://127.0.0.1:1\n    price: "+text+"\n"))))
		if err != nil {
			t.Fatal(err)
		}
		set := s.Acquire()
		defer set.Release()
		m := set.Models()[0]
		if !reflect.DeepEqual(m.Price, want) {
			t.Errorf("%s: got %+v", text, m.Price)
		}
		if listed := set.List()[0]; listed.PriceReported != (text == "reported") || (listed.Price == nil) != (want == nil || want.Reported) {
			t.Errorf("%s: listed %+v", text, listed)
		}
	}
}

// FuzzFile holds for any text that it is a set of models or a list of problems.
func FuzzFile(f *testing.F) {
	f.Add(full)
	f.Add(one("    base_url: http://x\n    headers: {x: {env: TEAM}}\n    fallback: [a, b]\n"))
	f.Add("default: &a a\nmodels: [*a, {<<: {name: a}}]\n")
	f.Add(chatModel("    host: azure\n    query: {a: 1}\n    auth: {header: x}\n    extra: {a: {b: [1, .inf, null]}}\n    temperature: omit\n    samples: 3\n"))
	f.Add("? [a]\n: b\nmodels: !!set {a}\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "file") { // no file of this machine is read
			return
		}
		s := &Source{Current: &models.Current{}, cfg: config("")}
		r := reader{secrets: secrets{env: environment, file: func(string) (string, error) { return "", os.ErrNotExist }}}
		parsed := r.read([]byte(text))
		all := s.openAll(parsed, &r)
		if len(r.Problems) > 0 {
			for _, p := range r.Problems {
				if p.Line < 0 || p.Text == "" || strings.Contains(p.Text, secret) {
					t.Errorf("problem %+v", p)
				}
			}
			return
		}
		if len(all) == 0 || parsed.defaultModel == "" {
			t.Fatalf("taken without models: %q", text)
		}
		for _, o := range all {
			if o.model == nil || !nameForm.MatchString(o.model.Name) {
				t.Errorf("taken: %+v", o.spec)
			}
		}
	})
}
