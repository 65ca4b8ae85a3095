package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// TestExamples holds the examples of versions.
func TestExamples(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: version-examples, examples-in-a-call, version-members
		t.Run("examples are stored in the version's order, and sent before the fields", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			examples := `[{"answers":{"mood":"Upset","urgent":"yes"},"fields":{"message":"Where <is> it?"}}]`
			slug := own.prism(t, oneField, triageQuestions, "examples", raw(examples))
			stored := `"examples":[{"fields":{"message":"Where <is> it?"},"answers":{"urgent":true,"mood":"upset"}}]`
			if v := own.get(t, "/v1/prisms/"+slug+"/versions/1"); !bytes.Contains(v.body, []byte(stored)) {
				t.Errorf("got %s", v.body)
			}
			script := s.model.Script(model.Likely())
			own.create(t, slug, text(script.Tag)).ok(t)
			want := `"state":{"examples":[{"input":{"message":"Where <is> it?"},"answers":{"urgent":"yes","mood":"Upset"}}],"message":`
			if sent := script.Requests()[0].Raw; !bytes.Contains(sent, []byte(want)) {
				t.Errorf("sent %s", sent)
			}
			own.post(t, "/v1/prisms/"+slug+"/versions", object("fields", raw(oneField), "questions", raw(yesNo), "examples",
				raw(`[{"fields":{"other":"x"},"answers":{"urgent":"maybe"}}]`))).wantFail(t, invalid("examples.0.fields.other: Unknown field; "+
				"examples.0.fields.message: Required; examples.0.answers.urgent: Expected 'true' | 'false'"))
		})
		// spec: emptied-examples, version-is-immutable, result-delete
		t.Run("no call that begins after a deletion sends the text of its result", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.prism(t, oneField, yesNo)
			const secret = "an example of a person"
			id := own.create(t, slug, text(secret)).ok(t).ID
			version := func(result string) string {
				return object("fields", raw(oneField), "questions", raw(yesNo), "examples", raw(fmt.Sprintf(
					`[{"fields":{"message":"kept"},"answers":{"urgent":true}},{"fields":{"message":%q},"answers":{"urgent":false},"result_id":%q}]`, secret, result)))
			}
			path := "/v1/prisms/" + slug + "/versions"
			own.post(t, path, version(absentID)).wantFail(t, invalid("examples.1.result_id: Result not found"))
			s.other.post(t, "/v1/prisms", definition(newSlug(), oneField, yesNo, "examples", raw(fmt.Sprintf(
				`[{"fields":{"message":"m"},"answers":{"urgent":true},"result_id":%q}]`, id)))).wantFail(t, invalid("examples.0.result_id: Result not found"))
			before := own.post(t, path, version(id))
			before.wantStatus(t, 201)
			sends := func(more ...any) string {
				script := s.model.Script(model.Likely())
				own.create(t, slug, text(script.Tag, more...)).ok(t)
				return string(script.Requests()[0].Raw)
			}
			if sent := sends(); !strings.Contains(sent, secret) { // and every cache has it
				t.Errorf("sent %s", sent)
			}
			failed, failing := own.refused(t, slug)
			own.delete(t, "/v1/results/"+id).wantStatus(t, 204)
			failing.Then(model.Likely())
			own.retry(t, failed.ID).ok(t)
			requests := failing.Requests()
			for _, sent := range []string{sends(), sends("version", 2), string(requests[len(requests)-1].Raw)} {
				if strings.Contains(sent, secret) || !strings.Contains(sent, "kept") {
					t.Errorf("sent %s", sent)
				}
			}
			after := own.get(t, path+"/2")
			want := strings.Replace(string(before.body), fmt.Sprintf(`{"fields":{"message":%q},"answers":{"urgent":false},"result_id":%q}`, secret, id),
				`{"fields":{},"answers":{}}`, 1)
			after.wantBody(t, want)
			entries, body := own.audit(t, "")
			if len(entries) < 2 || entries[0].Action != "version.empty" && entries[1].Action != "version.empty" ||
				!strings.Contains(body, `"detail":{"version":2,"emptied":1}`) || strings.Contains(body, secret) {
				t.Errorf("the audit is %s", body)
			}
			for _, p := range []string{"/v1/prisms", "/v1/prisms/" + slug, path} {
				if r := own.get(t, p); strings.Contains(string(r.body), secret) {
					t.Errorf("%s shows the text: %s", p, r.body)
				}
			}
		})
		// spec: examples-from-labels, dry-run
		t.Run("examples are taken from labels, and emptied with their results", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.prism(t, oneField, triageQuestions)
			var labels []string
			for i := range 6 {
				id := own.create(t, slug, text(fmt.Sprint("labelled ", i))).ok(t).ID
				labels = append(labels, fmt.Sprintf(`{"result_id":%q,"question":"urgent","value":%v},{"result_id":%[1]q,"question":"mood","value":"upset"}`, id, i == 3))
			}
			own.post(t, "/v1/prisms/"+slug+"/labels", `{"labels":[`+strings.Join(labels, ",")+`],"sample":"random"}`).wantStatus(t, 200)
			path := "/v1/prisms/" + slug + "/versions"
			version := func(question string, n int, more ...any) string {
				taken := fmt.Sprintf(`{"question":%q,"n":%d,"seed":7}`, question, n)
				return object(append([]any{"fields", raw(oneField), "questions", raw(triageQuestions), "examples_from_labels", raw(taken)}, more...)...)
			}
			own.post(t, path, version("none", 2)).wantFail(t, invalid("examples_from_labels.question: Unknown question"))
			own.post(t, path, version("urgent", 2, "examples", raw(`[]`))).wantFail(t, invalid("examples_from_labels: must not be sent with examples"))
			own.post(t, path, version("urgent", 7)).wantFail(t, fail{409, "conflict", "Too few labels: 6 of 7."})
			type taken struct {
				Examples json.RawMessage `json:"examples"`
			}
			read := func(r reply, status int) (list []struct {
				Fields  map[string]string `json:"fields"`
				Answers map[string]any    `json:"answers"`
				Result  string            `json:"result_id"`
			}, text string,
			) {
				r.wantStatus(t, status)
				var v taken
				if err := errors.Join(json.Unmarshal(r.body, &v), json.Unmarshal(v.Examples, &list)); err != nil {
					t.Fatal(err)
				}
				return list, string(v.Examples)
			}
			_, dry := read(own.post(t, path, version("urgent", 2, "dry_run", true)), 200)
			own.get(t, path+"/2").wantStatus(t, 404)
			list, made := read(own.post(t, path, version("urgent", 2, "if_latest", 1)), 201)
			if made != dry || len(list) != 2 || list[0].Answers["urgent"] == list[1].Answers["urgent"] || list[0].Answers["mood"] != "upset" {
				t.Errorf("a dry run showed %s, and there are %s", dry, made)
			}
			script := s.model.Script(model.Likely())
			own.create(t, slug, text(script.Tag)).ok(t)
			if sent := script.Requests()[0].Raw; !bytes.Contains(sent, []byte(list[0].Fields["message"])) {
				t.Errorf("sent %s", sent)
			}
			own.delete(t, "/v1/results/"+list[0].Result).wantStatus(t, 204)
			if left, _ := read(own.get(t, path+"/2"), 200); len(left[0].Fields) > 0 || left[1].Result != list[1].Result {
				t.Errorf("after the deletion of a result: %+v", left)
			}
		})
		// spec: version-examples
		t.Run("a try sends examples, and looks up no results", func(t *testing.T) {
			t.Parallel()
			script := s.model.Script(model.Likely())
			s.main.post(t, "/v1/try", object("text", script.Tag, "definition", raw(object("fields", raw(oneField), "questions", raw(yesNo), "examples",
				raw(`[{"fields":{"message":"shown"},"answers":{"urgent":true},"result_id":"`+absentID+`"}]`))))).wantStatus(t, 200)
			if sent := string(script.Requests()[0].Raw); !strings.Contains(sent, `{"input":{"message":"shown"},"answers":{"urgent":"yes"}}`) {
				t.Errorf("sent %s", sent)
			}
		})
	})
}
