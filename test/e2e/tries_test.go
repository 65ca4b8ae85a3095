package e2e

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// TestPreviewsAndTries holds what the calls do that show a Lens and a definition before they are saved.
func TestPreviewsAndTries(t *testing.T) {
	roleNotAllowed := fail{403, "unauthorized", "Your role does not allow this."}
	onEach(t, func(t *testing.T, s *stack) {
		// spec: lens-preview, lens-preview-results, lens-preview-problems, lens-preview-reasons
		t.Run("a preview shows results of every version as a read with its Lens would", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.prism(t, oneField, yesNo)
			old := own.create(t, slug, text("x")).ok(t)
			failed, _ := own.refused(t, slug)
			own.post(t, "/v1/prisms/"+slug+"/versions", object("fields", raw(oneField), "questions", raw(triageQuestions))).wantStatus(t, 201)
			recent := own.create(t, slug, text("x")).ok(t)
			foreign := own.create(t, own.triage(t), text("x")).ok(t)
			reader, _ := own.withRole(t, "reader", "")
			path := "/v1/prisms/" + slug + "/lens/preview"
			columns := raw(`[{"name":"Is it","question":"urgent","show":"answer"},{"name":"mood","question":"mood","show":"answer"}]`)
			ids := raw(`["` + strings.Join([]string{recent.ID, failed.ID, foreign.ID, old.ID}, `","`) + `"]`)
			before := own.read(t, recent.ID, "json").body
			got := reader.post(t, path, object("columns", columns, "result_ids", ids))
			wantEqual(t, "a read after the preview", string(own.read(t, recent.ID, "json").body), string(before))
			own.put(t, "/v1/prisms/"+slug+"/lens", object("columns", columns)).wantStatus(t, 200)
			row := func(id, missing string) string {
				return `{"result":` + string(own.read(t, id, "json").body) + `,"missing":` + missing + `}`
			}
			got.wantStatus(t, 200)
			got.wantBody(t, `{"columns":["Is it","mood"],"data":[`+row(recent.ID, `{}`)+`,`+row(failed.ID, `{}`)+`,`+
				row(old.ID, `{"mood":"The version that answered does not have this question."}`)+`]}`)
			reader.post(t, path, object("columns", raw(`[{"name":"ref","question":"none","show":"answer"}]`), "result_ids", raw(`[]`))).
				wantFail(t, invalid("columns.0.name: must be unique in a row; columns.0.question: Unknown question"))
			s.other.post(t, path, object("columns", columns, "result_ids", ids)).wantFail(t, noPrism)
		})
		// spec: try, try-members, try-counts, order-of-checks-try
		t.Run("a try asks the model, and saves nothing but its use", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			editor, _ := own.withRole(t, "editor", "")
			definition := raw(object("fields", raw(oneField), "questions", raw(yesNo), "model", "default"))
			r := editor.post(t, "/v1/try", text("x", "definition", definition, "context", "c",
				"lens", raw(`{"columns":[{"name":"Is it","question":"urgent","show":"answer"}]}`)))
			r.wantStatus(t, 200)
			wantMembers(t, r.body, nil, "status", "error", "error_code", "took_ms", "raw", "json", "model", "usage", "label_mass",
				"absent", "order_disagreement", "rounds", "escalation")
			if got := string(r.body); !strings.HasPrefix(got, `{"status":"ok","error":null,"error_code":null,"took_ms":`) ||
				!strings.Contains(got, `"raw":{"urgent":{"type":"yes_no","probability":`) || !strings.Contains(got, `},"json":{"Is it":"`) ||
				!strings.Contains(got, `"model":{"name":"default","provider":"systemone",`) {
				t.Errorf("got %s", got)
			}
			script := s.model.Script(model.Status(400))
			r = editor.post(t, "/v1/try", text(script.Tag, "definition", definition))
			r.wantStatus(t, 502)
			if got := string(r.body); !strings.HasPrefix(got, `{"status":"failed","error":"The model service refused the call (status 400).",`+
				`"error_code":"parameter","took_ms":`) || !strings.Contains(got, `"raw":null,"json":null,`) {
				t.Errorf("got %s", got)
			}
			wantEqual(t, "the results", string(own.get(t, "/v1/results").body), `{"data":[],"next_cursor":null}`)
			usage := string(own.get(t, "/v1/usage?by=prism").body)
			if !strings.HasPrefix(usage, `{"data":[{"prism":null,"results":2,"failed":1,`) {
				t.Errorf("got %s", usage)
			}
		})
		// spec: try-request, order-of-checks-try
		t.Run("what cannot be tried is refused in the order of the checks", func(t *testing.T) {
			t.Parallel()
			definition := raw(object("fields", raw(oneField), "questions", raw(yesNo)))
			caller, _ := s.main.withRole(t, "caller", "")
			s.main.post(t, "/v1/try", object("definition", raw(`{"fields":[]}`), "fields", raw(`{"a":1}`))).wantFail(t, invalid(
				"definition.fields: Array must contain at least 1 element(s); definition.questions: Required; fields.a: Expected string, received number"))
			caller.post(t, "/v1/try", object("definition", definition, "fields", raw(`{}`))).wantFail(t, roleNotAllowed)
			s.main.post(t, "/v1/try", text("x", "definition", raw(object("fields", raw(oneField), "questions", raw(yesNo), "model", "none")))).
				wantFail(t, invalid("definition.model: No such model"))
			s.main.post(t, "/v1/try", object("definition", definition, "fields", raw(`{}`))).
				wantFail(t, fail{400, "validation_failed", "Missing fields: message"})
			s.main.post(t, "/v1/try", text(strings.Repeat("a ", 30_000), "definition", definition)).wantStatus(t, 400)
		})
	})
}
