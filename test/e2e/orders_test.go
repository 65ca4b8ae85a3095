package e2e

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// preferring is a chat model that knows the probability of each option by its text, and prefers the places at the top of a prompt:
// what it says of an option is its probability times the weight of its place.
type preferring struct {
	knows  map[string]float64
	places []float64

	mu     sync.Mutex
	orders map[string]bool // the options of each prompt, in the order in which they were shown
	asked  int
}

// option is a line of a prompt with a label.
var option = regexp.MustCompile(`(?m)^([A-Z])\. (.+)$`)

// ServeHTTP is POST /chat/completions with log-probabilities.
func (m *preferring) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var sent struct{ Messages []struct{ Content string } }
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || len(sent.Messages) == 0 {
		http.Error(w, "no messages", http.StatusBadRequest)
		return
	}
	_, question, _ := strings.Cut(sent.Messages[len(sent.Messages)-1].Content, "Question: ")
	var labels, texts []string
	for _, line := range option.FindAllStringSubmatch(question, -1) {
		labels, texts = append(labels, line[1]), append(texts, line[2])
	}
	if labels == nil { // yes or no: the labels are the texts
		_, names, _ := strings.Cut(question, "Reply with one of: ")
		labels = strings.Split(names, ", ")
		texts = labels
	}
	m.mu.Lock()
	m.asked++
	m.orders[strings.Join(texts, ", ")] = true
	m.mu.Unlock()
	type token struct {
		Token   string  `json:"token"`
		LogProb float64 `json:"logprob"`
	}
	var top []token
	for i, label := range labels {
		top = append(top, token{label, math.Log(m.knows[texts[i]] * m.places[i])})
	}
	first := map[string]any{"token": top[0].Token, "logprob": top[0].LogProb, "top_logprobs": top}
	_ = json.NewEncoder(w).Encode(map[string]any{ // a caller that is gone needs no answer
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": top[0].Token},
			"logprobs": map[string]any{"content": []any{first}},
		}},
		"usage": map[string]any{"prompt_tokens": 90, "completion_tokens": 1},
	})
}

// of is what the model says of texts in one order, and what it knows of them.
func (m *preferring) of(texts ...string) (says, knows []float64) {
	sum := 0.0
	for i, text := range texts {
		says, knows = append(says, m.knows[text]*m.places[i]), append(knows, m.knows[text])
		sum += says[i]
	}
	for i := range says {
		says[i] /= sum
	}
	return says, knows
}

// disagreement is the mean over all cyclic orders of the distance between what the model says and what it knows.
func (m *preferring) disagreement(texts ...string) (mean float64) {
	for range texts {
		says, knows := m.of(texts...)
		for i := range says {
			mean += math.Abs(says[i]-knows[i]) / 2 / float64(len(texts))
		}
		texts = append(slices.Clone(texts[1:]), texts[0])
	}
	return mean
}

// TestOrders holds the cyclic orders of labels against a server that speaks HTTP, prefers places, and gives log-probabilities.
func TestOrders(t *testing.T) {
	const questions = `[{"key":"topic","type":"choice","text":"What is it about?","options":[{"key":"card","label":"Card"},` +
		`{"key":"money","label":"Money"},{"key":"other","label":"Other"}]},{"key":"urgent","type":"yes_no","text":"Is it urgent?"}]`
	topics := []string{"Card", "Money", "Other"}
	onEach(t, func(t *testing.T, s *stack) {
		// spec: label-orders, order-disagreement, record-members, models-list
		t.Run("over all orders of a question the preference for a place cancels out", func(t *testing.T) {
			t.Parallel()
			m := &preferring{
				knows:  map[string]float64{"Card": 0.2, "Money": 0.5, "Other": 0.3, "Yes": 0.4, "No": 0.6},
				places: []float64{0.6, 0.25, 0.15}, orders: map[string]bool{},
			}
			server := httptest.NewServer(m)
			t.Cleanup(server.Close)
			file := filepath.Join(t.TempDir(), "models.yaml")
			if err := os.WriteFile(file, []byte(`default: cyclic
models:
  - {name: cyclic, provider: openai-chat, base_url: "`+server.URL+`", model: m, order: cyclic}
  - {name: plain, provider: openai-chat, base_url: "`+server.URL+`", model: m}
`), 0o600); err != nil {
				t.Fatal(err)
			}
			own := s.private(t, map[string]string{
				"PRISM_MODELS_FILE": file, "PRISM_MODEL_PROVIDER": "", "PRISM_MODEL_BASE_URL": "", "PRISM_MODEL_NAME": "", "PRISM_MODEL_API_KEY": "",
			})
			saysOfTopics, knowsOfTopics := m.of(topics...)
			saysOfYes, knowsOfYes := m.of("Yes", "No")
			for _, c := range []struct {
				model         string
				asked         int
				topics        []float64
				yes           float64
				disagreements map[string]float64
			}{
				{"plain", 2, saysOfTopics, saysOfYes[0], nil},
				{"cyclic", 5, knowsOfTopics, knowsOfYes[0], map[string]float64{
					"topic": m.disagreement(topics...), "urgent": m.disagreement("Yes", "No"),
				}},
			} {
				slug := own.main.prism(t, oneField, questions, "model", c.model)
				m.mu.Lock()
				m.asked, m.orders = 0, map[string]bool{}
				m.mu.Unlock()
				id := own.main.create(t, slug, text("My card is gone")).ok(t).ID
				m.mu.Lock()
				wantEqual(t, c.model+": the calls of the model", m.asked, c.asked)
				wantEqual(t, c.model+": the orders", len(m.orders), c.asked)
				m.mu.Unlock()
				var result struct {
					Answers struct {
						Topic  struct{ Probabilities map[string]float64 }
						Urgent struct{ Probability float64 }
					}
				}
				own.main.read(t, id, "raw").decode(t, &result)
				for i, key := range []string{"card", "money", "other"} {
					wantNear(t, c.model+": "+key, result.Answers.Topic.Probabilities[key], c.topics[i])
				}
				wantNear(t, c.model+": urgent", result.Answers.Urgent.Probability, c.yes)
				var record struct {
					Disagreement map[string]float64 `json:"order_disagreement"`
				}
				own.main.get(t, "/v1/results/"+id+"/record").decode(t, &record)
				wantEqual(t, c.model+": questions with a disagreement", len(record.Disagreement), len(c.disagreements))
				for key, want := range c.disagreements {
					wantNear(t, c.model+": the disagreement about "+key, record.Disagreement[key], want)
				}
			}
			list := own.main.get(t, "/v1/models")
			if !strings.Contains(string(list.body), `"order":"cyclic"`) {
				t.Errorf("got %s", list.body)
			}
		})
	})
}

func wantNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
