package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/chathost"
	decisions "github.com/prism-results/prism/pkg/testkit/model"
)

// failures are how a result fails in which a host fails, and how often the host is then asked.
var failures = map[chathost.Fault]struct {
	code, text string
	asked      int
	fallsBack  bool // unless the file says otherwise
}{
	chathost.OutOfOrder:   {"refused", "The model service refused the call (status 503).", 1, true},
	chathost.TooManyCalls: {"limited", "The model service refused the call (status 429).", 1, true},
	chathost.EmptyBalance: {"exhausted", "The model service has no balance left.", 1, true},
	chathost.BrokenFrame:  {"unreadable", "The model service did not answer in JSON.", 2, true},
	chathost.DeadKey:      {"refused_key", "The model service refused the key.", 1, false},
	chathost.UnknownModel: {"not_found", "The model service does not know the model.", 1, false},
	chathost.FilteredText: {"content", "The model service filtered the text.", 1, false},
	chathost.TooLongText:  {"too_long", "The text is too long for the model.", 1, false},
	chathost.BadParameter: {"parameter", "The model service refused the parameter messages.", 1, false},
	chathost.NoAnswer:     {"no_usable_answer", "The model gave no usable answer to question urgent.", 1, false},
}

// TestFailuresByClass has a host fail in each class, as one process and as services. A fault that may pass is said to last for a minute,
// which ends the tries at once.
func TestFailuresByClass(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		host, spare := chathost.New(chathost.Hosts()[0]), decisions.New(nil)
		t.Cleanup(host.Close)
		t.Cleanup(spare.Close)
		file := "default: spare\nmodels:\n  - {name: spare, provider: systemone, base_url: \"" + spare.BaseURL() + "\", model: m}\n"
		model := func(name, more string) {
			file += "  - {name: " + name + ", provider: openai-chat, host: openai, base_url: \"" + host.BaseURL() + "\", model: " + chathost.Model + ", api_key_env: HOST_KEY" + more + "}\n"
		}
		for fault, f := range failures {
			name, other := modelOf(fault), string(fault)
			if f.fallsBack {
				other = "-" + other
			}
			model(name+"-alone", "")
			model(name+"-covered", ", fallback: [spare]")
			model(name+"-other", ", fallback: [spare], fallback_on: ["+other+"]")
		}
		model("breaker", ", fallback: [spare]")
		path := filepath.Join(t.TempDir(), "models.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		own := s.private(t, map[string]string{
			"PRISM_MODELS_FILE": path, "HOST_KEY": chathost.Key,
			"PRISM_MODEL_PROVIDER": "", "PRISM_MODEL_BASE_URL": "", "PRISM_MODEL_NAME": "", "PRISM_MODEL_API_KEY": "",
		})
		asks := func(model string) (slug string) {
			slug = newSlug()
			own.main.post(t, "/v1/prisms", definition(slug, oneField, yesNo, "model", model)).prism(t, 201)
			return slug
		}
		record := func(id string) (of struct {
			ErrorCode *string `json:"error_code"`
			Model     struct{ Name string }
		},
		) {
			own.main.get(t, "/v1/results/"+id+"/record").decode(t, &of)
			return of
		}
		// spec: failure-classes, error-texts, error-codes, upstream-retries, retry-after, fallback
		for fault, f := range failures {
			failed := func(model string) {
				t.Helper()
				about := chathost.Always(fault)
				result := own.main.create(t, asks(model), text(about)).failed(t)
				of := record(result.ID)
				if *result.Error != f.text || of.ErrorCode == nil || *of.ErrorCode != f.code || of.Model.Name != model {
					t.Errorf("%s: got %q, %+v", model, *result.Error, of)
				}
				wantEqual(t, "the calls of "+model, host.AskedAbout(about), f.asked)
			}
			answered := func(model string) {
				t.Helper()
				about := chathost.Always(fault)
				id := own.main.create(t, asks(model), text(about)).ok(t).ID
				if of := record(id); of.Model.Name != "spare" || of.ErrorCode != nil {
					t.Errorf("%s: got %+v", model, of)
				}
				wantEqual(t, "the calls of "+model, host.AskedAbout(about), f.asked)
			}
			name := modelOf(fault)
			failed(name + "-alone")
			if f.fallsBack {
				answered(name + "-covered")
				if fault == chathost.EmptyBalance { // spec: exhausted-model
					passed := chathost.Always(fault)
					own.main.create(t, asks(name+"-covered"), text(passed)).ok(t)
					wantEqual(t, "the calls of a model without a balance", host.AskedAbout(passed), 0)
				}
				failed(name + "-other")
			} else {
				failed(name + "-covered")
				answered(name + "-other")
			}
		}
		// spec: model-breaker
		poison, slug := chathost.Always(chathost.OutOfOrder), asks("breaker")
		for range 25 {
			own.main.create(t, slug, text(poison)).ok(t)
		}
		wantEqual(t, "the calls about one text", host.AskedAbout(poison), 25)
		if of := record(own.main.create(t, slug, text("x")).ok(t).ID); of.Model.Name != "breaker" {
			t.Errorf("one text that fails opens the breaker for others: %+v", of)
		}
		skipped := false
		for n := 0; n < 60 && !skipped; n++ { // skipped for 5 seconds at a time
			about := chathost.Always(chathost.OutOfOrder)
			own.main.create(t, slug, text(about)).ok(t)
			skipped = host.AskedAbout(about) == 0
		}
		wantEqual(t, "that texts which fail open the breaker", skipped, true)
		metrics := own.metrics(t)
		for fault, f := range failures {
			for _, as := range []string{"-alone", "-covered", "-other"} {
				series := `prism_model_calls_total{class="` + string(fault) + `",model="` + modelOf(fault) + as + `",outcome="` + f.code + `",provider="openai-chat"} 1`
				if !strings.Contains(metrics, series+"\n") {
					t.Errorf("the metrics have no %s", series)
				}
			}
		}
	})
}

// modelOf is the beginning of the names of the models that are asked for a fault.
func modelOf(f chathost.Fault) string { return strings.ReplaceAll(string(f), "_", "-") }
