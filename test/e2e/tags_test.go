package e2e

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// aboutQuestions have a question of whose options any number can be right, beside another one.
const aboutQuestions = `[
	{"key":"about","type":"tags","text":"What is it about?","options":[
		{"key":"price","label":"Price, or a fee","description":"what it costs"},{"key":"staff","label":"Staff"},{"key":"vip","label":"VIP"}]},
	{"key":"urgent","type":"yes_no","text":"Is it urgent?"}]`

const aboutLens = `{"columns":[{"name":"about","question":"about","show":"answer"},{"name":"likely","question":"about","show":"answer","yes_at":0.25},
	{"name":"n","question":"about","show":"count"},{"name":"staff","question":"about","show":"probability","option":"staff"}]}`

// hundreds are n tags of 100 options each.
func hundreds(n int) string {
	options, questions := []string{}, []string{}
	for i := range 100 {
		options = append(options, fmt.Sprintf(`{"key":"o%d","label":"O"}`, i))
	}
	for i := range n {
		questions = append(questions, fmt.Sprintf(`{"key":"q%d","type":"tags","text":"?","options":[%s]}`, i, strings.Join(options, ",")))
	}
	return "[" + strings.Join(questions, ",") + "]"
}

// TestTags holds questions of whose options any number can be right.
// spec: question-tags
func TestTags(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		given := model.Answer(model.Answers{"about-price": model.Yes(0.5), "about-staff": model.Yes(0.25), "about-vip": model.Yes(0.875)})
		none := model.Answer(model.Answers{"about-price": model.Yes(0), "about-staff": model.Yes(0.125), "about-vip": model.Yes(0.25)})
		// spec: asked-parts, show-answer, show-count, show-probability, raw-answer-shapes, csv-labels
		t.Run("a call is answered, and read in five formats", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, oneField, aboutQuestions, "lens", raw(aboutLens))
			script := s.model.Script(given)
			made := s.main.create(t, prism, text(script.Tag)).ok(t)
			wantEqual(t, "the columns", string(made.Answers), `{"about":"vip; price","likely":"vip; price; staff","n":2,"staff":0.25}`)
			var stored struct {
				Answers json.RawMessage `json:"answers"`
			}
			s.main.read(t, made.ID, "raw").decode(t, &stored)
			wantEqual(t, "the stored answers", string(stored.Answers), `{"about":{"type":"tags","values":["vip","price"],"probabilities":`+
				`{"price":0.5,"staff":0.25,"vip":0.875}},"urgent":{"type":"yes_no","probability":0.75}}`)
			s.main.read(t, made.ID, "csv").wantBody(t, "result_id,ref,version,status,error,created_at,message,about,likely,n,staff\r\n"+
				made.ID+",,1,ok,,"+made.CreatedAt+","+script.Tag+`,"VIP; Price, or a fee","VIP; Price, or a fee; Staff",2,0.25`+"\r\n")
			s.main.read(t, made.ID, "tsv").wantBody(t, "result_id\tref\tversion\tstatus\terror\tcreated_at\tmessage\tabout\tlikely\tn\tstaff\n"+
				made.ID+"\t\t1\tok\t\t"+made.CreatedAt+"\t"+script.Tag+"\tVIP; Price, or a fee\tVIP; Price, or a fee; Staff\t2\t0.25\n")
			if got := string(s.main.read(t, made.ID, "jsonl").body); !strings.Contains(got, `"about":"vip; price","likely":"vip; price; staff","n":2,"staff":0.25}`) {
				t.Errorf("jsonl %s", got)
			}
		})
		// spec: show-answer, derived-lens, lens-preview, lens-edit
		t.Run("none is right, which a preview and an edit of the Lens show", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, oneField, aboutQuestions)
			made := s.main.create(t, prism, text(s.model.Script(none).Tag)).ok(t)
			wantEqual(t, "the columns", string(made.Answers), `{"about":"","urgent":"yes","urgent_probability":0.75}`)
			preview := s.main.post(t, "/v1/prisms/"+prism+"/lens/preview", strings.TrimSuffix(aboutLens, "}")+`,"result_ids":["`+made.ID+`"]}`)
			if !strings.Contains(string(preview.body), `"answers":{"about":"","likely":"vip","n":0,"staff":0.125}},"missing":{}`) {
				t.Errorf("got %s", preview.body)
			}
			s.main.put(t, "/v1/prisms/"+prism+"/lens", `{"columns":[{"name":"p","question":"about","show":"probability"}]}`).
				wantFail(t, invalid("columns.0.option: Required"))
			s.main.put(t, "/v1/prisms/"+prism+"/lens", `{"columns":[{"name":"p","question":"about","show":"average"}]}`).
				wantFail(t, invalid("columns.0.show: Expected 'answer' | 'probability' | 'count'"))
			s.main.put(t, "/v1/prisms/"+prism+"/lens", aboutLens).wantStatus(t, 200)
			s.main.post(t, "/v1/prisms", definition(newSlug(), oneField, aboutQuestions, "dry_run", true)).wantStatus(t, 200)
		})
		// spec: label-value, labels-put, labels-read
		t.Run("a label is a list of keys", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, oneField, aboutQuestions)
			made := s.main.create(t, prism, text(s.model.Script(given).Tag)).ok(t)
			path := "/v1/results/" + made.ID + "/labels"
			for sent, want := range map[string]string{`["vip","Staff"]`: `["staff","vip"]`, `[]`: `[]`, `"none"`: `[]`, `"vip; price"`: `["price","vip"]`} {
				r := s.main.put(t, path, `{"labels":{"about":`+sent+`}}`)
				r.wantStatus(t, 200)
				if !strings.Contains(string(r.body), `"about":{"value":`+want+`,`) {
					t.Errorf("%s is %s", sent, r.body)
				}
			}
			s.main.put(t, path, `{"labels":{"about":["vip","other"]}}`).wantFail(t, invalid("labels.about.1: Expected 'price' | 'staff' | 'vip'"))
			s.main.put(t, path, `{"labels":{"about":[1]}}`).wantFail(t, invalid("labels.about.0: Expected string, received number"))
			added := s.main.post(t, "/v1/prisms/"+prism+"/labels", `{"labels":[{"result_id":"`+made.ID+`","question":"about","value":["price"]},
				{"result_id":"`+made.ID+`","question":"urgent","value":["price"]}]}`)
			added.wantStatus(t, 200)
			wantEqual(t, "what was added", string(added.body), `{"labelled":1,"not_found":[],"invalid":[{"index":1,"message":"value: Expected 'true' | 'false'"}]}`)
			if got := string(s.main.get(t, path).body); !strings.Contains(got, `"about":{"value":["price"],`) {
				t.Errorf("got %s", got)
			}
		})
		// spec: run-requests, export
		t.Run("a file is run, and its results are exported", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.prism(t, oneField, aboutQuestions, "lens", raw(aboutLens))
			one, other := s.model.Script(given), s.model.Script(none)
			f := own.upload(t, "csv", "text\r\n"+one.Tag+"\r\n"+other.Tag+"\r\n")
			if done := own.follow(t, own.runFile(t, prism, f.ID, "").run(t, 201).ID); done.OK != 2 {
				t.Errorf("got %+v", done)
			}
			export := string(own.get(t, "/v1/prisms/"+prism+"/results?format=csv").body)
			for _, want := range []string{one.Tag + `,"VIP; Price, or a fee","VIP; Price, or a fee; Staff",2,0.25` + "\r\n", other.Tag + ",,VIP,0,0.125\r\n"} {
				if !strings.Contains(export, want) {
					t.Errorf("%q is not in %s", want, export)
				}
			}
		})
		// spec: asked-parts, calls-of-a-result, record-members
		t.Run("a chat model is asked each option by itself", func(t *testing.T) {
			t.Parallel()
			m := &preferring{knows: map[string]float64{"Yes": 0.5, "No": 0.125}, places: []float64{1, 1}, orders: map[string]bool{}}
			server := httptest.NewServer(m)
			t.Cleanup(server.Close)
			file := filepath.Join(t.TempDir(), "models.yaml")
			if err := os.WriteFile(file, []byte(`{default: chat, models: [{name: chat, provider: openai-chat, base_url: "`+server.URL+`", model: m}]}`), 0o600); err != nil {
				t.Fatal(err)
			}
			own := s.private(t, map[string]string{
				"PRISM_MODELS_FILE": file, "PRISM_MODEL_PROVIDER": "", "PRISM_MODEL_BASE_URL": "", "PRISM_MODEL_NAME": "", "PRISM_MODEL_API_KEY": "",
			}).main
			made := own.create(t, own.prism(t, oneField, aboutQuestions, "model", "chat"), text("x")).ok(t)
			if !strings.HasPrefix(string(made.Answers), `{"about":"price; staff; vip",`) {
				t.Errorf("answered %s", made.Answers)
			}
			var record struct {
				LabelMass map[string]float64 `json:"label_mass"`
				Model     struct{ Tries int }
			}
			own.get(t, "/v1/results/"+made.ID+"/record").decode(t, &record)
			wantEqual(t, "the calls", record.Model.Tries, 4)
			wantNear(t, "the label mass", record.LabelMass["about"], 0.625)
			wantEqual(t, "the label masses", len(record.LabelMass), 2)
			own.post(t, "/v1/prisms", definition(newSlug(), oneField, hundreds(6), "model", "chat")).
				wantFail(t, invalid("model: needs 600 calls for a result of these questions, and makes at most 512"))
			wantEqual(t, "the tries of the upstream", m.asked, 4)
		})
		// spec: version-questions
		t.Run("options of tags count towards those of a version", func(t *testing.T) {
			t.Parallel()
			s.main.post(t, "/v1/prisms", definition(newSlug(), oneField, hundreds(21))).
				wantFail(t, invalid("questions: must have at most 2000 options and levels together"))
			made := s.main.create(t, s.main.prism(t, oneField, hundreds(20)), text("x")).ok(t)
			if got := strings.Count(string(made.Answers), "o99"); got != 20 { // each with 0.75 by default
				t.Errorf("%d answers have the last option", got)
			}
		})
	})
}
