package e2e

import (
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

func lensColumn(column string) string { return `{"columns":[` + column + `]}` }

// TestDefinitions walks the rules for prisms, fields, questions and the Lens. The tests of the request package and of pkg/lens
// have every rule.
// spec: question-yes-no
func TestDefinitions(t *testing.T) {
	unique := func(path string) fail { return invalid(path + ": must be unique in a row") }
	field := func(key string) string { return `[{"key":` + quote(key) + `}]` }
	question := func(key string) string { return `[{"key":` + quote(key) + `,"type":"yes_no","text":"?"}]` }

	onEach(t, func(t *testing.T, s *stack) {
		body := func(fields, questions, lens string) string {
			return definition(newSlug(), fields, questions, "lens", raw(lens))
		}
		// spec: validation-of-definitions
		t.Run("every problem of the fields, the questions and the Lens is listed", func(t *testing.T) {
			t.Parallel()
			refused := body(field("ref"), `[{"key":"Q","type":"essay","text":"?"}]`, lensColumn(`{"name":"version","question":"urgent","show":"answer"}`))
			s.main.post(t, "/v1/prisms", refused).wantFail(t, invalid("fields.0.key: must be unique in a row; "+
				"questions.0.key: must match ^[a-z][a-z0-9_]{0,63}$; questions.0.type: Expected 'choice' | 'yes_no' | 'scale' | 'tags'; "+
				"lens.columns.0.name: must be unique in a row"))
		})
		slugs(t, s)

		// spec: names-in-a-row
		t.Run("the rules hold for a Lens edit, against the latest version", func(t *testing.T) {
			t.Parallel()
			path := "/v1/prisms/" + s.main.triage(t) + "/lens"
			s.main.put(t, path, lensColumn(`{"name":"message","question":"urgent","show":"answer"}`)).wantFail(t, unique("columns.0.name"))
			s.main.put(t, path, lensColumn(`{"name":"error","question":"urgent","show":"answer"}`)).wantFail(t, unique("columns.0.name"))
			s.main.put(t, path, lensColumn(`{"name":"a","question":"nothing","show":"answer"}`)).wantFail(t, invalidAt("columns.0.question"))
			s.main.put(t, path, `{"columns":[]}`).wantFail(t, invalidAt("columns"))
		})
		// spec: values-are-never-repeated
		t.Run("a value of a definition is never repeated in a message", func(t *testing.T) {
			t.Parallel() // every error that a client gets is looked at for the mark
			for _, row := range [][2]string{{field(model.Mark + "!"), yesNo}, {oneField, question(model.Mark + "!")}} {
				s.main.post(t, "/v1/prisms", definition(newSlug(), row[0], row[1])).wantStatus(t, 400)
			}
		})
	})
}

func slugs(t *testing.T, s *stack) {
	t.Helper()
	// spec: slug-form, prism-create
	t.Run("a slug is unique in its account", func(t *testing.T) {
		t.Parallel()
		slug := s.main.triage(t)
		s.main.post(t, "/v1/prisms", definition(slug, oneField, yesNo)).wantFail(t, slugTaken)
		s.other.post(t, "/v1/prisms", definition(slug, oneField, yesNo)).wantStatus(t, 201)
	})
}
