package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// askAdHoc are questions with values, names and absent names that no definition of a prism can have as keys.
const (
	decisionAdHoc = `[
		{"type":"choice","name":"What it is!","instructions":"What is it about %s?","choices":[{"value":true,"description":"The card is gone"},{"value":"true"},{"value":"Über"}]},
		{"type":"predicate","instructions":[{"type":"input_text","text":"Is it urgent"},{"type":"input_json","data":{"for": "us"}}]},
		{"type":"score","name":"mood","instructions":"How does the customer feel?","levels":[{"label":"Calm","description":"no worry"},{"label":"Angry"}]}]`
	systemOneAdHoc = `{
		"What it is!":{"type":"choice","instructions":{"task":"What is it about %s?"},"criteria":{"Card":"The card is gone","2nd":null}},
		"urgent":{"type":"noul","criteria":{"true":"It cannot wait","false":null}},
		"mood":{"type":"score","instructions":"How does the customer feel?","criteria":["Calm",{"is": "angry"}]}}`
)

func adHocAnswers(intent map[string]float64) model.Step {
	return model.Answer(model.Answers{"q1": model.Options(intent), "q2": model.Yes(0.9), "q3": model.Levels{0.25, 0.75}})
}

// adHocModel is the name of the default model, as calls name it.
func (c *client) adHocModel(t *testing.T) string {
	t.Helper()
	var models struct {
		Data []struct {
			Name    string
			Default bool
		}
	}
	r := c.get(t, "/v1/models")
	r.wantStatus(t, 200)
	r.decode(t, &models)
	for _, m := range models.Data {
		if m.Default {
			return "model/" + m.Name
		}
	}
	t.Fatal("there is no default model")
	return ""
}

// adHocPrisms are the slugs of the account's ad-hoc prisms.
func (c *client) adHocPrisms(t *testing.T) (slugs []string) {
	t.Helper()
	var page struct{ Data []struct{ Slug string } }
	r := c.get(t, "/v1/prisms?kind=adhoc&limit=100")
	r.wantStatus(t, 200)
	r.decode(t, &page)
	for _, p := range page.Data {
		slugs = append(slugs, p.Slug)
	}
	return slugs
}

func TestAdHocCalls(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: adhoc-call, adhoc-names, adhoc-fields, adhoc-kept
		t.Run("a decision with a model asks its questions, whose names come back as they were sent", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			script := s.model.Script(adHocAnswers(map[string]float64{"o1": 0.75, "o2": 0.25, "o3": 0}))
			body := object("model", own.adHocModel(t), "input", script.Tag, "questions", raw(fmt.Sprintf(decisionAdHoc, "here")))
			r := own.decide(t, body, "Prism-Ref", "order 1")
			r.wantStatus(t, 200)
			slugs := own.adHocPrisms(t)
			wantEqual(t, "the number of prisms", len(slugs), 1)
			whole, _, _ := strings.Cut(string(r.body), `"usage"`)
			wantEqual(t, "the body", whole, `{"answers":[`+
				`{"type":"choice","name":"What it is!","choice":true,"confidence":0.625,"probabilities":[`+
				`{"value":true,"probability":0.75},{"value":"true","probability":0.25},{"value":"Über","probability":0}]},`+
				`{"type":"predicate","name":null,"probability":0.9},`+
				`{"type":"score","name":"mood","score":0.75,"confidence":0.5,"probabilities":[`+
				`{"label":"Calm","value":0,"probability":0.25},{"label":"Angry","value":1,"probability":0.75}]}`+
				`],"model":"`+slugs[0]+`@1",`)
			wantEqual(t, "Prism-Version", r.header.Get("Prism-Version"), "1")
			wantEqual(t, "the field", script.Requests()[0].Field("input"), script.Tag)
			own.decide(t, strings.Replace(body, script.Tag, "another", 1)).wantStatus(t, 200)
			wantEqual(t, "the prisms", own.adHocPrisms(t), slugs)
			wantEqual(t, "the number of results", len(own.results(t, "prism="+slugs[0]).Data), 2)

			var p struct {
				RetentionDays int `json:"retention_days"`
				Version       struct {
					Model     string
					Questions []struct{ Key, Text string }
				}
			}
			read := own.get(t, "/v1/prisms/"+slugs[0])
			read.wantStatus(t, 200)
			read.decode(t, &p)
			wantEqual(t, "the days", p.RetentionDays, 30)
			wantEqual(t, "the model", "model/"+p.Version.Model, own.adHocModel(t))
			wantEqual(t, "the questions", p.Version.Questions, []struct{ Key, Text string }{
				{"q1", "What is it about here?"}, {"q2", "Is it urgent\n\n{\"for\": \"us\"}"}, {"q3", "How does the customer feel?"},
			})
			// spec: prism-list, adhoc-unchangeable, error-adhoc-prism
			var usual struct{ Data []any }
			list := own.get(t, "/v1/prisms?archived=all")
			list.decode(t, &usual)
			wantEqual(t, "the usual prisms", len(usual.Data), 0)
			adHoc := fail{409, "conflict", "This prism is ad hoc."}
			path := "/v1/prisms/" + slugs[0]
			own.post(t, path+"/versions", object("fields", raw(oneField), "questions", raw(yesNo))).wantFail(t, adHoc)
			own.put(t, path+"/lens", `{"columns":[{"name":"u","question":"q2","show":"answer"}]}`).wantFail(t, adHoc)
			own.put(t, path+"/name", `{"name":"u"}`).wantFail(t, adHoc)
			own.post(t, path+"/archive", "").wantFail(t, adHoc)
			own.post(t, path+"/unarchive", "").wantFail(t, adHoc)
			own.retryMany(t, slugs[0], `"dry_run":true`).wantFail(t, adHoc)
			own.post(t, path+"/runs", object("file_id", absentID, "fields", raw(`{"input":"a"}`))).wantFail(t, adHoc)
			own.put(t, path+"/retention", `{"days":null}`).wantStatus(t, 200)
			// A call of the prism by its slug is one of any prism.
			own.decide(t, object("model", slugs[0]+"@1", "input", "x")).wantStatus(t, 200)
			own.create(t, slugs[0], text("x")).ok(t)
		})
		// spec: adhoc-call, adhoc-names, adhoc-fields
		t.Run("so does a System One call, whose state has the fields", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			script := s.model.Script(adHocAnswers(map[string]float64{"o1": 0.75, "o2": 0.25}))
			body := func(state string) string {
				return object("model", own.adHocModel(t), "state", raw(state), "questions", raw(fmt.Sprintf(systemOneAdHoc, "there")))
			}
			r := own.ask(t, body(object("message", script.Tag, "order", raw(`{"n": 1}`))))
			r.wantStatus(t, 200)
			slugs := own.adHocPrisms(t)
			wantEqual(t, "the number of prisms", len(slugs), 1)
			whole, _, _ := strings.Cut(string(r.body), `"usage"`)
			wantEqual(t, "the body", whole, `{"model":"`+slugs[0]+`@1","answers":{`+
				`"What it is!":{"type":"choice","choice":"Card","confidence":0.5,"probabilities":{"Card":0.75,"2nd":0.25}},`+
				`"urgent":{"type":"noul","noul":0.9},`+
				`"mood":{"type":"score","score":0.75,"confidence":0.5,"legend":{"0":"Calm","1":{"is": "angry"}},"probabilities":{"0":0.25,"1":0.75}}},`)
			wantEqual(t, "a field", script.Requests()[0].Field("order"), `{"n": 1}`)
			other := s.model.Script()
			own.ask(t, body(object("The message", other.Tag))).wantStatus(t, 200)
			wantEqual(t, "the field of names that are no keys", other.Requests()[0].Field("state"), object("The message", other.Tag))
			own.ask(t, body(`"a text"`)).wantStatus(t, 200)
			wantEqual(t, "the number of prisms", len(own.adHocPrisms(t)), 2)
		})
		// spec: adhoc-order, adhoc-kept
		t.Run("editors make prisms, and callers ask those that are there", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			caller, _ := own.withRole(t, "caller", "")
			editor, _ := own.withRole(t, "editor", "")
			body := object("model", own.adHocModel(t), "input", "x", "questions", raw(fmt.Sprintf(decisionAdHoc, "roles")))
			denied := fail{403, "unauthorized", "Your role does not allow this."}
			caller.decide(t, body).wantForeignFail(t, denied, "permission_error", nil)
			wantEqual(t, "the number of prisms", len(own.adHocPrisms(t)), 0)
			editor.decide(t, body).wantStatus(t, 200)
			r := caller.decide(t, body)
			r.wantStatus(t, 200)
			// The last result takes the prism along.
			all := own.results(t, "")
			wantEqual(t, "the number of results", len(all.Data), 2)
			slug := own.adHocPrisms(t)[0]
			for _, result := range all.Data {
				own.get(t, "/v1/prisms/"+slug).wantStatus(t, 200)
				own.delete(t, "/v1/results/"+result.ID).wantStatus(t, 204)
			}
			own.get(t, "/v1/prisms/"+slug).wantFail(t, noPrism)
			own.decide(t, object("model", slug, "input", "x")).wantForeignFail(t, noPrism, "invalid_request_error", nil)
			wantEqual(t, "the number of prisms", len(own.adHocPrisms(t)), 0)
			caller.decide(t, body).wantForeignFail(t, denied, "permission_error", nil)
			own.decide(t, body).wantStatus(t, 200)
			wantEqual(t, "the prisms", own.adHocPrisms(t), []string{slug})
			entries, _ := own.audit(t, "")
			made := 0
			for _, e := range entries {
				if e.Action == "prism.create" && e.Object.Name == slug && e.Actor.Kind == "key" {
					made++
				}
			}
			wantEqual(t, "the entries of the audit", made, 2)
		})
		// spec: adhoc-order
		t.Run("a refused call keeps nothing", func(t *testing.T) {
			t.Parallel()
			own, script := s.ownAccount(t), s.model.Script()
			name, questions := own.adHocModel(t), raw(fmt.Sprintf(decisionAdHoc, script.Tag))
			key := newKey()
			own.create(t, own.triage(t), text("x", "idempotency_key", key)).ok(t)
			for _, c := range []struct {
				path, body string
				want       fail
				param      any
			}{
				{"decisions", object("model", name, "input", "x"), invalid("questions: Required"), "questions"},
				{"decisions", object("model", name, "input", "x", "questions", raw("[]")), invalid("questions: Array must contain at least 1 element(s)"), "questions"},
				{"systemone", object("model", name, "state", "x", "questions", raw("{}")), invalid("questions: Object must contain at least 1 member(s)"), "questions"},
				{"decisions", object("model", "model/Fast", "input", "x", "questions", questions), invalid("model: must match ^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$"), "model"},
				{"decisions", object("model", "model/absent", "input", "x", "questions", questions), invalid("model: No such model"), "model"},
				{"decisions", object("model", name, "input", strings.Repeat("a ", 40_000), "questions", questions), fail{status: 400}, nil},
			} {
				r := own.do(t, call{path: "/v1/" + c.path, body: c.body})
				if c.want.code == "" {
					r.wantStatus(t, c.want.status)
					continue
				}
				r.wantForeignFail(t, c.want, "invalid_request_error", c.param)
			}
			own.decide(t, object("model", name, "input", "x", "questions", questions), "Idempotency-Key", key).wantForeignFail(t, otherPrism, "invalid_request_error", nil)
			wantEqual(t, "the number of prisms", len(own.adHocPrisms(t)), 0)
			wantEqual(t, "the number of model calls", script.Calls(), 0)
		})
		// spec: adhoc-kept, retries-of-others, idempotency-header
		t.Run("calls at once make one prism, and a failed result keeps it", func(t *testing.T) {
			t.Parallel()
			own, script := s.ownAccount(t), s.model.Script(model.Status(400))
			body := object("model", own.adHocModel(t), "input", script.Tag, "questions", raw(fmt.Sprintf(decisionAdHoc, "at once")))
			var group sync.WaitGroup
			for range 6 {
				group.Go(func() {
					r, err := own.try(t, call{path: "/v1/decisions", body: strings.Replace(body, script.Tag, "x", 1)})
					if err != nil || r.status != 200 && !r.late() {
						t.Errorf("got %d, %v", r.status, err)
					}
				})
			}
			group.Wait()
			wantEqual(t, "the number of prisms", len(own.adHocPrisms(t)), 1)
			key := http.Header{"Idempotency-Key": {newKey()}}
			failed := own.do(t, call{path: "/v1/decisions", body: body, header: key})
			id := failed.failed(t).ID
			wantEqual(t, "X-Should-Retry", failed.header.Get("X-Should-Retry"), "false")
			again := own.do(t, call{path: "/v1/decisions", body: body, header: key})
			again.wantStatus(t, 502)
			other := own.read(t, id, "raw")
			other.wantStatus(t, 200)
			script.Then(adHocAnswers(map[string]float64{"o1": 1, "o2": 0, "o3": 0}))
			third := own.do(t, call{path: "/v1/decisions", body: body, header: key})
			third.wantStatus(t, 200)
			if !strings.Contains(string(third.body), `"name":"What it is!","choice":true`) {
				t.Errorf("the retry says %s", third.body)
			}
			replayed := own.do(t, call{path: "/v1/decisions", body: body, header: key})
			wantEqual(t, "Idempotent-Replayed", replayed.header.Get("Idempotent-Replayed"), "true")
			whole, _, _ := strings.Cut(string(third.body), `"usage"`)
			if !strings.HasPrefix(string(replayed.body), whole) {
				t.Errorf("the repeat says %s", replayed.body)
			}
		})
	})
}
