package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// list writes a JSON array of n elements.
func list(n int, element func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = element(i)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func fieldList(n int) string {
	return list(n, func(i int) string { return fmt.Sprintf(`{"key":"f%d"}`, i) })
}

func questionList(n int) string {
	return list(n, func(i int) string { return fmt.Sprintf(`{"key":"q%d","type":"yes_no","text":"?"}`, i) })
}

func choiceOf(n int, more string) string {
	return `[{"key":"pick","type":"choice","text":"?","options":` +
		list(n, func(i int) string { return fmt.Sprintf(`{"key":"o%d","label":"O"}`, i) }) + more + `}]`
}

func scaleOf(n int) string {
	return `[{"key":"how","type":"scale","text":"?","levels":` +
		list(n, func(i int) string { return fmt.Sprintf(`{"key":"l%d","label":"L"}`, i) }) + `}]`
}

func columnList(n int) string {
	return `{"columns":` + list(n, func(i int) string {
		return fmt.Sprintf(`{"name":"c%d","question":"urgent","show":"answer"}`, i)
	}) + `}`
}

func lensColumn(column string) string { return `{"columns":[` + column + `]}` }

// TestDefinitions holds the rules for prisms, fields, questions and the Lens.
// spec: definition-text-limits, slug-form, question-yes-no
func TestDefinitions(t *testing.T) {
	unique := func(path string) fail { return invalid(path + ": must be unique in a row") }
	field := func(key string) string { return `[{"key":` + quote(key) + `}]` }
	question := func(key string) string { return `[{"key":` + quote(key) + `,"type":"yes_no","text":"?"}]` }

	refused := []struct {
		name, fields, questions, lens string
		want                          fail
	}{
		// spec: version-fields
		{"51 fields are refused", fieldList(51), yesNo, "", invalidAt("fields")},
		// spec: version-questions
		{"65 questions are refused", oneField, questionList(65), "", invalidAt("questions")},
		// spec: definition-keys
		{"a field key in capitals is refused", field("Message"), yesNo, "", invalidAt("fields.0.key")},
		{"a field key that is a number is refused with the family's text", `[{"key":1}]`, yesNo, "", invalid("fields.0.key: Expected string, received number")},
		{"a repeated question key is refused", oneField, `[{"key":"a","type":"yes_no","text":"?"},{"key":"a","type":"yes_no","text":"?"}]`, `{"columns":[{"name":"x","question":"a","show":"answer"}]}`, invalidAt("questions.1.key")},
		// spec: version-questions
		{"an unknown question type is refused", oneField, `[{"key":"a","type":"essay","text":"?"}]`, "", invalidAt("questions.0.type")},
		// spec: insufficient-information
		{"insufficient information counts towards the 26 options", oneField, choiceOf(26, `,"insufficient_information":true`), "", invalidAt("questions.0.options")},
		// spec: question-scale
		{"a scale with 11 levels is refused", oneField, scaleOf(11), "", invalidAt("questions.0.levels")},
		{"a NUL in a question is refused", oneField, `[{"key":"a","type":"yes_no","text":"\u0000"}]`, "", invalid("questions.0.text: must not contain NUL or unpaired surrogate characters")},

		// spec: names-in-a-row
		{"a field key that every row has is refused", `[{"key":"message"},{"key":"ref"}]`, yesNo, "", unique("fields.1.key")},
		// spec: names-in-a-row
		{"a Lens column that is a field key is refused", oneField, yesNo, lensColumn(`{"name":"message","question":"urgent","show":"answer"}`), unique("lens.columns.0.name")},
		{"a derived column that every row has is refused", oneField, question("status"), "", unique("lens")},

		// spec: lens-columns
		{"a Lens of 201 columns is refused", oneField, yesNo, columnList(201), invalidAt("lens.columns")},
		// spec: lens-column-names
		{"a repeated column name is refused", oneField, yesNo, `{"columns":[{"name":"a","question":"urgent","show":"answer"},{"name":"a","question":"urgent","show":"probability"}]}`, invalidAt("lens.columns.1.name")},
		{"a column of an unknown question is refused", oneField, yesNo, lensColumn(`{"name":"a","question":"nothing","show":"answer"}`), invalidAt("lens.columns.0.question")},
		// spec: show-average
		{"an average of a choice is refused", oneField, triageQuestions, lensColumn(`{"name":"a","question":"intent","show":"average"}`), invalidAt("lens.columns.0.show")},
		{"a probability of an unknown option is refused", oneField, triageQuestions, lensColumn(`{"name":"a","question":"intent","show":"probability","option":"nothing"}`), invalidAt("lens.columns.0.option")},
		// spec: validation-of-definitions
		{"what is wrong with a Lens is listed beside what is wrong with the fields", field("ref"), yesNo, lensColumn(`{"name":"version","question":"urgent","show":"answer"}`), invalid("fields.0.key: must be unique in a row; lens.columns.0.name: must be unique in a row")},
	}
	accepted := []struct{ name, fields, questions, lens string }{
		// spec: version-fields
		{"50 fields pass", fieldList(50), yesNo, ""},
		// spec: version-questions
		{"64 questions pass", oneField, questionList(64), ""},
		// spec: question-choice
		{"26 options pass", oneField, choiceOf(26, ""), ""},
		// spec: insufficient-information
		{"25 options and insufficient information pass", oneField, choiceOf(25, `,"insufficient_information":true`), ""},
		// spec: question-scale
		{"10 levels pass", oneField, scaleOf(10), ""},
		// spec: definition-keys
		{"keys of 64 characters pass", field(strings.Repeat("k", 64)), question("u"), ""},
		// spec: lens-columns
		{"200 columns pass", oneField, yesNo, columnList(200)},
		// spec: lens-column-names
		{"a column name of every allowed kind of character passes", oneField, yesNo, lensColumn(`{"name":"A z_0.9-","question":"urgent","show":"answer"}`)},
		{"a question may be called as a field when the Lens names its columns otherwise", oneField, question("message"), lensColumn(`{"name":"m","question":"message","show":"answer"}`)},
	}
	onEach(t, func(t *testing.T, s *stack) {
		body := func(fields, questions, lens string) string {
			if lens == "" {
				return definition(newSlug(), fields, questions)
			}
			return definition(newSlug(), fields, questions, "lens", raw(lens))
		}
		for _, row := range refused {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				s.main.post(t, "/v1/prisms", body(row.fields, row.questions, row.lens)).wantFail(t, row.want)
			})
		}
		for _, row := range accepted {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				s.main.post(t, "/v1/prisms", body(row.fields, row.questions, row.lens)).wantStatus(t, 201)
			})
		}
		slugs(t, s)

		t.Run("the rules hold for a new version, with the same paths", func(t *testing.T) {
			t.Parallel()
			path := "/v1/prisms/" + s.main.triage(t) + "/versions"
			s.main.post(t, path, object("fields", raw(`[{"key":"version"}]`), "questions", raw(yesNo))).wantFail(t, unique("fields.0.key"))
			s.main.post(t, path, object("fields", raw(field("urgent")), "questions", raw(yesNo))).wantFail(t, unique("lens"))
			s.main.post(t, path, object("fields", raw(`[]`), "questions", raw(yesNo))).wantFail(t, invalidAt("fields"))
		})
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
				s.main.post(t, "/v1/prisms", body(row[0], row[1], "")).wantStatus(t, 400)
			}
		})
	})
}

func slugs(t *testing.T, s *stack) {
	t.Helper()
	for name, slug := range map[string]string{
		// spec: slug-form
		"a slug in capitals is refused":               "Triage",
		"an empty slug is refused":                    "",
		"a slug that begins with a hyphen is refused": "-a",
		"a slug that ends with a hyphen is refused":   "a-",
		"a slug with an underscore is refused":        "a_b",
		"a slug of 65 characters is refused":          strings.Repeat("a", 65),
		// spec: slug-form
		"a slug that is a UUID is refused":              absentID,
		"a slug that ends with a line break is refused": "a\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.main.post(t, "/v1/prisms", definition(slug, oneField, yesNo)).wantFail(t, invalidAt("slug"))
		})
	}
	// spec: slug-form
	t.Run("slugs of 1 and of 64 characters pass", func(t *testing.T) {
		t.Parallel()
		own := s.ownAccount(t)
		own.post(t, "/v1/prisms", definition("a", oneField, yesNo)).wantStatus(t, 201)
		own.post(t, "/v1/prisms", definition(strings.Repeat("a", 64), oneField, yesNo)).wantStatus(t, 201)
	})
	// spec: slug-form, prism-create
	t.Run("a slug is unique in its account", func(t *testing.T) {
		t.Parallel()
		slug := s.main.triage(t)
		s.main.post(t, "/v1/prisms", definition(slug, oneField, yesNo)).wantFail(t, slugTaken)
		s.other.post(t, "/v1/prisms", definition(slug, oneField, yesNo)).wantStatus(t, 201)
	})
	t.Run("an archived prism keeps its slug", func(t *testing.T) {
		t.Parallel()
		slug := s.main.triage(t)
		s.main.archive(t, slug)
		s.main.post(t, "/v1/prisms", definition(slug, oneField, yesNo)).wantFail(t, slugTaken)
	})
}
