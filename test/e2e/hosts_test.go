package e2e

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/chathost"
)

// TestHosts asks a model at each of the built-in hosts a question of each type, as one process and as services.
//
// spec: model-hosts, models-list, record-members
func TestHosts(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		file := "default: openai\nmodels:\n"
		for _, h := range chathost.Hosts() {
			server := chathost.New(h)
			t.Cleanup(server.Close)
			file += "  - {name: " + h.Name + ", provider: openai-chat, host: " + h.Name + ", base_url: \"" + server.BaseURL() +
				"\", model: " + chathost.Model + ", api_key_env: HOST_KEY}\n"
		}
		path := filepath.Join(t.TempDir(), "models.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		own := s.private(t, map[string]string{
			"PRISM_MODELS_FILE": path, "HOST_KEY": chathost.Key,
			"PRISM_MODEL_PROVIDER": "", "PRISM_MODEL_BASE_URL": "", "PRISM_MODEL_NAME": "", "PRISM_MODEL_API_KEY": "",
		})
		var listed struct {
			Data []struct{ Name, Probabilities string }
		}
		own.main.get(t, "/v1/models").decode(t, &listed)
		for _, m := range listed.Data {
			slug := newSlug()
			own.main.post(t, "/v1/prisms", definition(slug, oneField, ofEachType, "model", m.Name)).prism(t, 201)
			id := own.main.create(t, slug, text("x")).ok(t).ID
			var raw struct {
				Answers struct {
					Team, Tone struct{ Probabilities map[string]float64 }
					Urgent     struct{ Probability float64 }
				}
			}
			r := own.main.get(t, "/v1/results/"+id+"?format=raw")
			r.decode(t, &raw)
			for _, p := range []float64{raw.Answers.Team.Probabilities["a"], raw.Answers.Urgent.Probability, raw.Answers.Tone.Probabilities["low"]} {
				if math.Abs(p-chathost.Certain) > 1e-3 {
					t.Errorf("%s: got %s", m.Name, r.body)
				}
			}
			if r := own.main.get(t, "/v1/results/"+id+"/record"); !strings.Contains(string(r.body), `"probabilities":"`+m.Probabilities+`","tries":`) {
				t.Errorf("%s: the record is %s", m.Name, r.body)
			}
		}
		wantEqual(t, "the number of models", len(listed.Data), 16)
	})
}

// ofEachType is a question of each type.
const ofEachType = `[{"key":"team","type":"choice","text":"Which?","options":[{"key":"a","label":"A"},{"key":"b","label":"B"},{"key":"c","label":"C"}]},
	{"key":"urgent","type":"yes_no","text":"Is it?"},
	{"key":"tone","type":"scale","text":"How?","levels":[{"key":"low","label":"Low"},{"key":"high","label":"High"}]}]`
