package e2e

import (
	"strings"
	"testing"
)

// TestValidation walks the validation of a call from the path to the body. The tests of the gateway's request package have
// every rule.
// spec: create-members, unknown-members-ignored, validation-message, validation-order
func TestValidation(t *testing.T) {
	const badText = "must not contain NUL or unpaired surrogate characters"
	onEach(t, func(t *testing.T, s *stack) {
		s.runFailing(t, []failing{
			{
				"every problem is listed in the order of the members, whatever the order sent",
				call{path: "/v1/prisms/a%00b/results?format=xml", body: `{"context":1,"ref":2,"idempotency_key":"","version":0,"text":3,"fields":4}`},
				invalid("prism: " + badText + "; format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'; fields: Expected object, received number; " +
					"text: Expected string, received number; version: Number must be greater than or equal to 1; " +
					"idempotency_key: String must contain at least 1 character(s); ref: Expected string, received number; " +
					"context: Expected string, received number"),
			},
			{"a format sent twice is refused", call{path: createOne + "?format=json&format=json", body: text("x")}, unknownFormat},
			{"an encoded name of the format is the format", call{path: createOne + "?%66ormat=xml", body: text("x")}, unknownFormat},
			{
				"a result id that is not a UUID comes before the format",
				call{path: "/v1/results/1?format=xml"},
				invalid("result_id: Invalid uuid; format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'"),
			},
			{"a result id of a retry that is not a UUID is refused", call{method: "POST", path: "/v1/results/1/retry"}, badResultID},
			{
				"missing fields come in the version's order, before unknown ones",
				call{path: createTwo, body: `{"fields":{"other":"y"}}`},
				fail{400, "validation_failed", "Missing fields: subject, message"},
			},
			{
				"unknown fields come in the order sent",
				call{path: createOne, body: `{"fields":{"z":"1","message":"x","a":"2","m":"3"}}`},
				fail{400, "validation_failed", "Unknown fields: z, a, m"},
			},
		})
		// spec: unknown-query-parameters
		t.Run("unknown query parameters are ignored", func(t *testing.T) {
			t.Parallel()
			s.main.post(t, s.fill(t, createOne)+"?formats=xml&x=%20&%66ormat=%6Ason", text("x")).ok(t)
		})
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
		t.Run("a misspelled idempotency key is no key", func(t *testing.T) {
			t.Parallel()
			script, key := s.model.Script(), newKey()
			first := s.main.create(t, s.fill(t, "{one}"), text(script.Tag, "idempotencyKey", key)).ok(t)
			second := s.main.create(t, s.fill(t, "{one}"), text(script.Tag, "idempotencyKey", key)).ok(t)
			if first.ID == second.ID || script.Calls() != 2 {
				t.Errorf("ids %s and %s after %d calls", first.ID, second.ID, script.Calls())
			}
		})
	})
}
