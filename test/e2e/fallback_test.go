package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/model"
)

// TestFallback holds several models in a file, as one process and as three services.
func TestFallback(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: models-file, fallback, models-reload
		t.Run("a model that is away is covered by its fallback, and a new file takes its place", func(t *testing.T) {
			t.Parallel()
			fast, strong := model.New(nil), model.New(nil)
			t.Cleanup(strong.Close)
			file := filepath.Join(t.TempDir(), "models.yaml")
			write := func(text string) {
				t.Helper()
				text = strings.NewReplacer("<fast>", fast.BaseURL(), "<strong>", strong.BaseURL()).Replace(text)
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(`default: fast
models:
  - {name: fast, provider: systemone, base_url: "<fast>", model: small, headers: {x-team: support}, fallback: [strong]}
  - {name: strong, provider: systemone, base_url: "<strong>", model: large, api_key_env: STRONG_KEY}
`)
			own := s.private(t, map[string]string{
				"PRISM_MODELS_FILE": file, "STRONG_KEY": launch.ModelKey,
				"PRISM_MODEL_PROVIDER": "", "PRISM_MODEL_BASE_URL": "", "PRISM_MODEL_NAME": "", "PRISM_MODEL_API_KEY": "",
			})
			prism := own.main.triage(t)
			first, then := fast.Script(), strong.Script()
			own.main.create(t, prism, text(first.Tag)).ok(t)
			wantEqual(t, "the calls of the first model", first.Calls(), 1)
			wantEqual(t, "its header", first.Requests()[0].Header.Get("X-Team"), "support")
			wantEqual(t, "the model", first.Requests()[0].Model, "small")

			fast.Close()
			took := own.main.create(t, prism, text(then.Tag)).ok(t).TookMS
			wantEqual(t, "the calls of the fallback", then.Calls(), 1)
			wantEqual(t, "the model", then.Requests()[0].Model, "large")
			wantEqual(t, "the key", then.Requests()[0].Header.Get("Authorization"), "Bearer "+launch.ModelKey)
			if took >= 15_000 {
				t.Errorf("took %d ms", took)
			}

			write("default: strong\nmodels:\n  - {name: strong, provider: systemone, base_url: <strong>, model: larger}\n")
			for _, part := range own.parts {
				if p := part.Process(); strings.Contains(p.Output(), `"service":"model-proxy"`) || strings.Contains(p.Output(), `"service":"prism"`) {
					if err := p.Signal(syscall.SIGHUP); err != nil {
						t.Fatal(err)
					}
				}
			}
			// The signal is heard at some time soon, and the change is seen without it too.
			tick, late := time.NewTicker(50*time.Millisecond), time.After(patience)
			defer tick.Stop()
			for {
				script := strong.Script()
				own.main.create(t, prism, text(script.Tag)).ok(t)
				if script.Requests()[0].Model == "larger" {
					break
				}
				select {
				case <-tick.C:
				case <-late:
					t.Fatal("the new file is not used")
				}
			}
		})
		// spec: escalation, escalate-of-a-version, record-of-an-escalation, rows-are-calls, try, usage-query
		t.Run("a doubtful answer is escalated by calls, tries and runs", func(t *testing.T) {
			t.Parallel()
			fast, strong := model.New(nil), model.New(nil)
			t.Cleanup(fast.Close)
			t.Cleanup(strong.Close)
			file := filepath.Join(t.TempDir(), "models.yaml")
			if err := os.WriteFile(file, []byte(`default: fast
models:
  - {name: fast, provider: systemone, base_url: "`+fast.BaseURL()+`", model: small, price: {currency: USD, input: 1, output: 1}}
  - {name: strong, provider: systemone, base_url: "`+strong.BaseURL()+`", model: large, price: {currency: USD, input: 9, output: 9}}
`), 0o600); err != nil {
				t.Fatal(err)
			}
			own := s.private(t, map[string]string{
				"PRISM_MODELS_FILE": file, "PRISM_MODEL_PROVIDER": "", "PRISM_MODEL_BASE_URL": "", "PRISM_MODEL_NAME": "", "PRISM_MODEL_API_KEY": "",
			}).ownAccount(t)
			escalate := func(to string) json.RawMessage { return raw(`{"to":"` + to + `","below":0.6}`) }
			other := "escalate.to: must be another model than the version's"
			own.post(t, "/v1/prisms", definition(newSlug(), oneField, yesNo, "escalate", escalate("late"))).wantFail(t, invalid("escalate.to: No such model"))
			own.post(t, "/v1/prisms", definition(newSlug(), oneField, yesNo, "escalate", escalate("fast"))).wantFail(t, invalid(other))
			slug := newSlug()
			r := own.post(t, "/v1/prisms", definition(slug, oneField, yesNo, "escalate", escalate("strong")))
			r.prism(t, 201)
			if !strings.Contains(string(r.body), `"model":null,"escalate":{"to":"strong","below":0.6},"fields":`) {
				t.Errorf("got %s", r.body)
			}
			record := func(id string) (of struct {
				Model      struct{ Name string }
				Usage      struct{ Cost json.Number }
				Escalation *struct {
					Questions     []string
					ErrorCode     *string `json:"error_code"`
					First, Second struct {
						Name    string
						Answers map[string]struct{ Probability float64 }
					}
				}
			},
			) {
				own.get(t, "/v1/results/"+id+"/record").decode(t, &of)
				return of
			}
			doubtful := fast.Script(model.Answer(model.Answers{"urgent": model.Yes(0.45)}))
			id := own.create(t, slug, text(doubtful.Tag)).ok(t).ID
			got := record(id)
			if e := got.Escalation; e == nil || got.Model.Name != "strong" || e.ErrorCode != nil || e.First.Name != "fast" ||
				e.First.Answers["urgent"].Probability != 0.45 || e.Second.Name != "strong" || len(e.Questions) != 1 {
				t.Fatalf("got %+v %+v", got, e)
			}
			wantEqual(t, "the cost", got.Usage.Cost, json.Number("0.00145")) // 145 tokens at 1 and 9 for a million
			// The result has the second answers.
			own.get(t, "/v1/results/"+id+"?format=jsonl").wantStatus(t, 200)
			read := own.get(t, "/v1/results/"+id+"?format=raw")
			if want := fmt.Sprintf(`"probability":%v`, got.Escalation.Second.Answers["urgent"].Probability); !strings.Contains(string(read.body), want) {
				t.Errorf("%s has no %s", read.body, want)
			}
			certain := fast.Script(model.Answer(model.Answers{"urgent": model.Yes(0.7)}))
			if got := record(own.create(t, slug, text(certain.Tag)).ok(t).ID); got.Escalation != nil || got.Model.Name != "fast" {
				t.Errorf("got %+v", got)
			}
			// The second model refuses: the first answers stand.
			refused := strong.Script(model.Status(401))
			fast.Script()
			doubtful.Then(model.Answer(model.Answers{"urgent": model.Yes(0.45)}))
			got = record(own.create(t, slug, object("fields", raw(`{"message":"`+doubtful.Tag+`"}`), "context", refused.Tag)).ok(t).ID)
			if e := got.Escalation; e == nil || got.Model.Name != "fast" || e.ErrorCode == nil || *e.ErrorCode != "refused_key" || e.Second.Answers != nil {
				t.Errorf("got %+v %+v", got, e)
			}
			try := own.post(t, "/v1/try", object("definition", raw(`{"fields":`+oneField+`,"questions":`+yesNo+`,"escalate":{"to":"strong","below":0.6}}`), "text", doubtful.Tag))
			try.wantStatus(t, 200)
			if !strings.Contains(string(try.body), `"escalation":{"questions":["urgent"],"error_code":null,"first":{"name":"fast",`) {
				t.Errorf("got %s", try.body)
			}
			f := own.upload(t, "csv", "text\r\n"+doubtful.Tag+"\r\n"+certain.Tag+"\r\n")
			run := own.follow(t, own.runFile(t, slug, f.ID, "").run(t, 201).ID)
			var page struct{ Data []struct{ ID string } }
			own.get(t, "/v1/results?run="+run.ID).decode(t, &page)
			if len(page.Data) != 2 || run.OK != 2 || record(page.Data[0].ID).Escalation == nil || record(page.Data[1].ID).Escalation != nil {
				t.Errorf("got %+v, %+v", run, page)
			}
			// By the model whose answers are the results: two calls and a row of strong's try, and two others.
			usage := own.get(t, "/v1/usage?by=model")
			for _, part := range []string{`"model":"strong","results":3,`, `"model":"fast","results":3,`} {
				if !strings.Contains(string(usage.body), part) {
					t.Errorf("%s has no %s", usage.body, part)
				}
			}
		})
	})
}
