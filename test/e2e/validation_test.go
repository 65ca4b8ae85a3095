package e2e

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// TestValidation holds the texts of validation errors and their order.
// spec: create-members, unknown-members-ignored
func TestValidation(t *testing.T) {
	const (
		either  = "fields: send either fields or text"
		badText = "must not contain NUL or unpaired surrogate characters"
		marked  = model.Mark + "value"
	)
	long := strings.Repeat("x", 100_001)
	rows := []struct{ name, query, body, problems string }{
		// spec: fields-or-text
		{"fields and text together are refused", "", `{"fields":{"message":"x"},"text":"x"}`, either},
		// spec: fields-or-text
		{"neither fields nor text is refused", "", `{}`, either},
		// spec: string-limits
		{"a field over 100,000 characters is refused", "", `{"fields":{"message":"` + long + `"}}`, "fields.message: String must contain at most 100000 character(s)"},
		// spec: characters-are-code-points
		{"100,001 characters are counted as code points", "", text(strings.Repeat("😀", 100_001)), "text: String must contain at most 100000 character(s)"},
		// spec: wrong-type
		{"a field value that is a number is refused", "", `{"fields":{"message":5}}`, "fields.message: Expected string, received number"},
		{"fields that are an array are refused", "", `{"fields":[]}`, "fields: Expected object, received array"},
		// spec: version-number
		{"a version over 2147483647 is refused", "", text("x", "version", raw("2147483648")), "version: Number must be less than or equal to 2147483647"},
		// spec: version-number
		{"several numeric problems of one value are all listed", "", text("x", "version", raw("-1.5")), "version: Expected integer, received float; version: Number must be greater than or equal to 1"},
		// spec: null-members
		{"an idempotency key that is null is refused", "", text("x", "idempotency_key", raw("null")), "idempotency_key: Expected string, received null"},
		// spec: string-limits
		{"a ref over 200 characters is refused", "", text("x", "ref", strings.Repeat("r", 201)), "ref: String must contain at most 200 character(s)"},
		// spec: nul-and-surrogates
		{"an escaped NUL in a field is refused", "", `{"fields":{"message":"a\u0000b"}}`, "fields.message: " + badText},
		// spec: nul-and-surrogates
		{"an unpaired high surrogate in a field is refused", "", `{"fields":{"message":"\ud800"}}`, "fields.message: " + badText},
		{"a format in capitals is refused", "?format=JSON", text("x"), "format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'"},
		// spec: format-parameter
		{"a format sent twice is refused", "?format=json&format=json", text("x"), "format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'"},
		{"an encoded name of the format is the format", "?%66ormat=xml", text("x"), "format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'"},
		// spec: validation-message, validation-order
		{
			"every problem is listed in the order of the decisions, whatever the order sent", "?format=xml",
			`{"context":1,"ref":2,"idempotency_key":"","version":0,"text":3,"fields":4}`,
			"format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'; fields: Expected object, received number; " +
				"text: Expected string, received number; version: Number must be greater than or equal to 1; " +
				"idempotency_key: String must contain at least 1 character(s); ref: Expected string, received number; " +
				"context: Expected string, received number",
		},
		// spec: body-not-an-object
		{"a body that is null is refused", "", `null`, "body: Expected object, received null"},
		{"a format problem comes before one of the body", "?format=xml", `[]`, "format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'; body: Expected object, received array"},
	}
	onEach(t, func(t *testing.T, s *stack) {
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				r := s.main.post(t, s.fill(t, createOne)+row.query, row.body)
				r.wantFail(t, invalid(row.problems))
				if t.Failed() {
					s.showRequest(t, r.request)
				}
			})
		}
		s.runFailing(t, []failing{
			// spec: invalid-uuid
			{"a result id that is not a UUID is refused", call{path: "/v1/results/not-a-uuid"}, badResultID},
			{"a result id without hyphens is refused", call{path: "/v1/results/0198c000000070008000000000000000"}, badResultID},
			{"a result id of a retry that is not a UUID is refused", call{method: "POST", path: "/v1/results/1/retry"}, badResultID},
			{
				"a path problem comes before one of the format",
				call{path: "/v1/results/1?format=xml"},
				invalid("result_id: Invalid uuid; format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'"),
			},
			// spec: validation-order
			{
				"a path problem comes before those of the body",
				call{path: "/v1/prisms/a%00b/results?format=xml", body: `{"text":1}`},
				invalid("prism: " + badText + "; format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'; text: Expected string, received number"),
			},
			// spec: error-missing-fields
			{"missing fields come in the version's order", call{path: createTwo, body: `{"fields":{}}`}, fail{400, "validation_failed", "Missing fields: subject, message"}},
			// spec: error-unknown-fields
			{"unknown fields come in the order sent", call{path: createOne, body: `{"fields":{"z":"1","message":"x","a":"2","m":"3"}}`}, fail{400, "validation_failed", "Unknown fields: z, a, m"}},
			// spec: error-missing-fields
			{"missing fields are told before unknown ones", call{path: createTwo, body: `{"fields":{"subject":"x","other":"y"}}`}, fail{400, "validation_failed", "Missing fields: message"}},
			// spec: text-fills-the-only-field
			{"text for a version with several fields misses them all", call{path: createTwo, body: text("x")}, fail{400, "validation_failed", "Missing fields: subject, message"}},
		})
		acceptedValues(t, s)
	})
}

// acceptedValues are values at a limit that pass.
func acceptedValues(t *testing.T, s *stack) {
	t.Helper()
	for _, row := range []struct{ name, query, body string }{
		// spec: null-members, create-members
		{"a ref that is null is a ref not sent", "", text("x", "ref", raw("null"))},
		// spec: unknown-query-parameters
		{"unknown query parameters are ignored", "?formats=xml&x=%20&format=json", text("x")},
		// spec: unknown-members-ignored
		{"a misspelled optional key does nothing", "", text("x", "idempotencyKey", 5, "Ref", 7)},
		{"a format is decoded before it is read", "?%66ormat=%6Ason", text("x")},
		{"an empty text is a text", "", text("")},
		// spec: characters-are-code-points
		{"a ref of 200 characters outside the first plane passes", "", text("x", "ref", strings.Repeat("😀", 200))},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s.main.post(t, s.fill(t, createOne)+row.query, row.body).ok(t)
		})
	}
	// spec: invalid-uuid
	t.Run("a result id is found in any letter case", func(t *testing.T) {
		t.Parallel()
		id := s.fill(t, "{one_ok}")
		r := s.main.read(t, strings.ToUpper(id), "").ok(t)
		wantEqual(t, "the id", r.ID, id)
	})
	// spec: text-fills-the-only-field
	t.Run("text fills the one field of the version", func(t *testing.T) {
		t.Parallel()
		script := s.model.Script()
		s.main.create(t, s.fill(t, "{one}"), text(script.Tag)).ok(t)
		wantEqual(t, "the field sent to the model", script.Requests()[0].Field("message"), script.Tag)
	})
	// spec: unknown-members-ignored
	t.Run("a misspelled idempotency key is no key", func(t *testing.T) {
		t.Parallel()
		script, key := s.model.Script(), newKey()
		first := s.main.create(t, s.fill(t, "{one}"), text(script.Tag, "idempotencyKey", key)).ok(t)
		second := s.main.create(t, s.fill(t, "{one}"), text(script.Tag, "idempotencyKey", key)).ok(t)
		if first.ID == second.ID || script.Calls() != 2 {
			t.Errorf("ids %s and %s after %d calls", first.ID, second.ID, script.Calls())
		}
	})
}
