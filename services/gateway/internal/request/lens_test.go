package request_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/prism-results/prism/pkg/api"
)

// spec: validation-message, lens-column-names, names-in-a-row
func TestTheLensOfANewPrismListsEveryProblem(t *testing.T) {
	t.Parallel()
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, c := range []struct{ name, body, want string }{
		{"a lens of a wrong type", edit("lens", "x"), "lens: Expected object, received string"},
		{"a lens without columns", edit("lens", obj{}), "lens.columns: Required"},
		{"a lens of no columns", edit("lens", obj{"columns": []any{}}), "lens.columns: Array must contain at least 1 element(s)"},
		{"a lens of 201 columns", edit("lens", obj{"columns": list(201, func(i int) any {
			return obj{"name": fmt.Sprint("c", i), "question": "kind", "show": "answer"}
		})}), "lens.columns: Array must contain at most 200 element(s)"},
		{
			"a column without members", edit("lens", obj{"columns": []any{obj{}}}),
			"lens.columns.0.name: Required; lens.columns.0.question: Required; lens.columns.0.show: Required",
		},
		{
			"members of a column of wrong types", edit("lens", obj{"columns": []any{
				obj{"name": 1, "question": 2, "show": 3, "option": 4, "yes_at": "5", "no_at": true},
			}}),
			"lens.columns.0.name: Expected string, received number; lens.columns.0.question: Expected string, received number; " +
				"lens.columns.0.show: Expected string, received number; lens.columns.0.option: Expected string, received number; " +
				"lens.columns.0.yes_at: Expected number, received string; lens.columns.0.no_at: Expected number, received boolean",
		},
		{
			"an infinite yes_at", edit("lens", obj{"columns": []any{
				obj{"name": "a", "question": "urgent", "show": "answer", "yes_at": raw("1e999")},
			}}),
			"lens.columns.0.yes_at: Number must be finite",
		},
		{
			"a column name with NUL", edit("lens", obj{"columns": []any{obj{"name": "\x00", "question": "kind", "show": "answer"}}}),
			"lens.columns.0.name: " + unclean,
		},
		{
			"a column that is a field of the row", edit("lens.columns.0.name", "body"),
			"lens.columns.0.name: must be unique in a row",
		},
		{
			"what a lens says is listed beside other problems", edit("lens.columns.0.name", "ref", "name", 7),
			"name: Expected string, received number; lens.columns.0.name: must be unique in a row",
		},
		{
			"what a lens says is listed beside problems of the version",
			edit("instructions", 7, "fields.0.key", "ref", "lens.columns.0.name", "a/b", "lens.columns.1.question", "none"),
			"instructions: Expected string, received number; fields.0.key: must be unique in a row; " +
				"lens.columns.0.name: must match ^[A-Za-z0-9_ .-]{1,64}$; lens.columns.1.question: Unknown question",
		},
		{
			"what a lens says is listed beside broken questions, but for what it says of them",
			edit("questions.0.key", "", "lens.columns.0.name", "status", "lens.columns.1.yes_at", 2),
			"questions.0.key: " + keyShape + "; lens.columns.0.name: must be unique in a row; " +
				"lens.columns.1.yes_at: Number must be less than or equal to 1",
		},
		{"a name that is only taken twice by a broken question is not the derived lens's", edit("lens", nil, "questions.1.key", "kind"), "questions.1.key: must be unique"},
		{
			"what a derived lens says is listed beside problems of the version",
			edit("lens", nil, "fields.0.label", 7, "questions.0.text", 7, "questions.1.key", "ref"),
			"fields.0.label: Expected string, received number; questions.0.text: Expected string, received number; lens: must be unique in a row",
		},
		{
			"what a derived lens says of sound keys is listed beside a key that is none",
			edit("lens", nil, "fields.0.key", "A", "questions.0.key", "", "questions.1.key", "ref"),
			"fields.0.key: " + keyShape + "; questions.0.key: " + keyShape + "; lens: must be unique in a row",
		},
		{
			"a column of a wrong type is listed beside what the lens says of it and of others",
			edit("lens", obj{"columns": []any{
				obj{"name": "a/b", "question": 7, "show": "answer", "yes_at": 2},
				obj{"name": 7, "question": "none", "show": "nothing"},
				7,
				obj{"name": "ref", "question": "kind", "show": "answer", "no_at": "x"},
			}}),
			"lens.columns.0.name: must match ^[A-Za-z0-9_ .-]{1,64}$; lens.columns.0.question: Expected string, received number; " +
				"lens.columns.0.yes_at: Number must be less than or equal to 1; " +
				"lens.columns.1.name: Expected string, received number; lens.columns.1.question: Unknown question; " +
				"lens.columns.1.show: Expected 'answer' | 'probability' | 'average' | 'confidence' | 'count'; " +
				"lens.columns.2: Expected object, received number; " +
				"lens.columns.3.name: must be unique in a row; lens.columns.3.no_at: Expected number, received string",
		},
		{
			"an empty option", edit("lens.columns.0.show", "probability", "lens.columns.0.option", ""),
			"lens.columns.0.option: String must contain at least 1 character(s)",
		},
		{
			"a derived lens that takes a reserved name", edit("lens", nil, "questions.1.key", "ref"),
			"lens: must be unique in a row",
		},
		{
			"a derived lens that takes a field key", edit("lens", raw("null"), "questions.1.key", "subject"),
			"lens: must be unique in a row",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := parsedBody(api.CreatePrism, c.body)
			wantProblems(t, err, c.want)
		})
	}
}
