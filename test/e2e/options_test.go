package e2e

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// intents are questions with so many options each, whose texts are Intent 0, Intent 1 and so on. Each option is of one of so many groups;
// 0 is none.
func intents(groups int, options ...int) string {
	var questions []string
	for q, n := range options {
		var list []string
		for i := range n {
			group := ""
			if groups > 0 {
				group = fmt.Sprintf(`,"group":"Group %d"`, i%groups)
			}
			list = append(list, fmt.Sprintf(`{"key":"i%d","label":"Intent %d"%s}`, i, i, group))
		}
		questions = append(questions, fmt.Sprintf(`{"key":"q%d","type":"choice","text":"What is wanted?","options":[%s]}`, q, strings.Join(list, ",")))
	}
	return "[" + strings.Join(questions, ",") + "]"
}

// TestManyOptions holds questions with as many options as there may be, with a chat model that is asked them in groups.
func TestManyOptions(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		t.Run("255 options are asked in groups", func(t *testing.T) {
			t.Parallel()
			m := &preferring{knows: map[string]float64{"None of these": 0.25}, orders: map[string]bool{}}
			for range 26 {
				m.places = append(m.places, 1)
			}
			for i := range 255 {
				m.knows[fmt.Sprint("Intent ", i)] = float64(1+i) / 65536
			}
			m.knows["Intent 200"] = 0.5
			server := httptest.NewServer(m)
			t.Cleanup(server.Close)
			file := filepath.Join(t.TempDir(), "models.yaml")
			if err := os.WriteFile(file, []byte(`default: chat
models:
  - {name: chat, provider: openai-chat, base_url: "`+server.URL+`", model: m}
  - {name: words, provider: offline}
`), 0o600); err != nil {
				t.Fatal(err)
			}
			own := s.private(t, map[string]string{
				"PRISM_MODELS_FILE": file, "PRISM_MODEL_PROVIDER": "", "PRISM_MODEL_BASE_URL": "", "PRISM_MODEL_NAME": "", "PRISM_MODEL_API_KEY": "",
			}).main
			// spec: option-groups, record-members, call-of-a-model
			slug := own.prism(t, oneField, intents(0, 255), "model", "chat")
			id := own.create(t, slug, text("I want something")).ok(t).ID
			type answer struct {
				Value         string
				Probabilities map[string]float64
			}
			var raw struct{ Answers map[string]answer }
			own.read(t, id, "raw").decode(t, &raw)
			sum := 0.0
			for _, p := range raw.Answers["q0"].Probabilities {
				sum += p
			}
			wantNear(t, "the sum of 255 probabilities", sum, 1)
			wantEqual(t, "the options", len(raw.Answers["q0"].Probabilities), 255)
			wantEqual(t, "what was chosen", raw.Answers["q0"].Value, "i200")
			var record struct {
				Rounds json.RawMessage
				Model  struct{ Tries int }
				Usage  struct {
					Input int `json:"input_tokens"`
				}
			}
			own.get(t, "/v1/results/"+id+"/record").decode(t, &record)
			wantEqual(t, "the rounds", string(record.Rounds), `{"q0":[{"groups":16,"options":255},{"groups":1,"options":16}]}`)
			wantEqual(t, "the calls", record.Model.Tries, 17)
			wantEqual(t, "the tokens", record.Usage.Input, 17*90)

			// spec: calls-of-a-result, group-of-an-option
			sixteen := make([]int, 16)
			for i := range sixteen {
				sixteen[i] = 62
			}
			many := intents(32, sixteen...)
			own.post(t, "/v1/prisms", definition(newSlug(), oneField, many, "model", "chat")).
				wantFail(t, invalid("model: needs 528 calls for a result of these questions, and makes at most 512"))
			failed := own.create(t, own.prism(t, oneField, many), text("I want something"))
			failed.wantStatus(t, 502)
			if !strings.Contains(string(failed.body), "The model would need 528 calls for these questions, and makes at most 512.") {
				t.Errorf("got %s", failed.body)
			}
			own.post(t, "/v1/prisms", definition(newSlug(), oneField, intents(33, 40))).
				wantFail(t, invalid("questions.0.options.32.group: the options of a question must have at most 32 groups"))

			// spec: version-questions
			own.post(t, "/v1/prisms", definition(newSlug(), oneField, intents(0, 255, 255, 255, 255, 255, 255, 255, 214, 2))).
				wantFail(t, invalid("questions: must have at most 2000 options and levels together"))
			fattest := own.prism(t, oneField, intents(0, 255, 255, 255, 255, 255, 255, 255, 215), "model", "words")
			for range 3 {
				id = own.create(t, fattest, text("the words of intent 77")).ok(t).ID
			}
			own.read(t, id, "raw").decode(t, &raw)
			wantEqual(t, "the questions", len(raw.Answers), 8)
			value := raw.Answers["q7"].Value
			own.put(t, "/v1/results/"+id+"/labels", `{"labels":{"q7":"`+value+`"}}`).wantStatus(t, 200)
			d := own.distribution(t, fattest, "question=q7")
			if len(d.Data) != 1 || d.Data[0].Answers != 3 || d.Data[0].Labelled != 1 || d.Data[0].Right != 1 || len(d.Data[0].Values) != 215 {
				t.Errorf("got %+v", d)
			}
			own.get(t, "/v1/results?prism="+fattest+"&where=q7:is:"+value+"&where=q7:labelled").wantStatus(t, 200)
			queue := string(own.get(t, "/v1/prisms/"+fattest+"/label-queue?question=q7&order=random&limit=100").body)
			wantEqual(t, "the results without a label", strings.Count(queue, `"result_id"`), 2)
			export := string(own.get(t, "/v1/prisms/"+fattest+"/results?format=csv").body)
			wantEqual(t, "the lines of an export", strings.Count(export, "\r\n"), 4)
		})
	})
}
