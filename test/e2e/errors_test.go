package e2e

import (
	"strings"
	"testing"
)

const (
	createOne = "/v1/prisms/{one}/results"
	createTwo = "/v1/prisms/{two}/results"
)

// manyTokens is a field value of about 30,000 tokens in 60,000 characters.
var manyTokens = strings.Repeat(" a", 30_000)

// TestErrors has a case for each error that a request alone causes. The 500 and the 503 need a fault: TestUnavailability and
// TestStop have them.
func TestErrors(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		s.runFailing(t, []failing{
			// spec: error-invalid-request
			{
				"a failing path is named with its problem",
				call{path: createOne, body: `{"text":5}`},
				invalid("text: Expected string, received number"),
			},
			// spec: error-invalid-request
			{
				"several problems are joined with a semicolon and a space",
				call{path: createOne, body: `{"text":5,"version":"x"}`},
				invalid("text: Expected string, received number; version: Expected number, received string"),
			},
			// spec: error-missing-fields
			{
				"missing fields are listed",
				call{path: createTwo, body: `{"fields":{"subject":"x"}}`},
				fail{400, "validation_failed", "Missing fields: message"},
			},
			// spec: error-unknown-fields
			{
				"unknown fields are listed",
				call{path: createOne, body: `{"fields":{"message":"x","extra":"y"}}`},
				fail{400, "validation_failed", "Unknown fields: extra"},
			},
			// spec: error-request-too-large
			{
				"too many tokens are refused with an estimate",
				call{path: createOne, body: text(manyTokens)},
				tokensTooLarge,
			},
			// spec: json-syntax, error-malformed-request
			{"a body that is not JSON is malformed", call{path: createOne, body: `{"text":`}, malformed},
			// spec: json-type-with-empty-body
			{
				"a JSON content type without a body is malformed",
				call{method: "POST", path: createOne, contentType: "application/json"},
				malformed,
			},
			// spec: error-authentication-required
			{
				"no Authorization header is told so",
				call{path: createOne, body: text("x"), auth: none},
				authRequired,
			},
			// spec: error-invalid-api-key
			{
				"an unknown API key is invalid",
				call{path: createOne, body: text("x"), auth: "Bearer prism_x"},
				invalidKey,
			},
			// spec: error-prism-not-found
			{
				"a prism that does not exist is not found by slug",
				call{path: "/v1/prisms/nobody-has-this/results", body: text("x")},
				noPrism,
			},
			// spec: error-prism-not-found
			{
				"a prism that does not exist is not found by id",
				call{path: "/v1/prisms/{absent}/results", body: text("x")},
				noPrism,
			},
			// spec: error-prism-not-found, archived-prism-cannot-answer
			{
				"an archived prism is not found by slug when it should answer",
				call{path: "/v1/prisms/{archived}/results", body: text("x")},
				noPrism,
			},
			{
				"an archived prism is not found by id when it should answer",
				call{path: "/v1/prisms/{archived_id}/results", body: text("x")},
				noPrism,
			},
			// spec: error-prism-version-not-found
			{
				"a pinned version that does not exist is not found",
				call{path: createOne, body: text("x", "version", 99)},
				noVersion,
			},
			// spec: error-result-not-found
			{"reading a result that does not exist finds nothing", call{path: "/v1/results/{absent}"}, noResult},
			// spec: error-result-not-found
			{
				"retrying a result that does not exist finds nothing",
				call{method: "POST", path: "/v1/results/{absent}/retry"},
				noResult,
			},
			// spec: error-prism-cannot-answer, archived-prism-cannot-answer
			{
				"a retry of a result of an archived prism is refused",
				call{method: "POST", path: "/v1/results/{archived_failed}/retry"},
				prismArchived,
			},
			// spec: error-route-not-found
			{"an unknown path is no route", call{path: "/v1/nothing"}, noRoute},
			// spec: error-route-not-found
			{"an unknown method is no route", call{method: "PATCH", path: "/v1/results/{one_ok}"}, noRoute},
			// spec: error-route-not-found
			{
				"a browser's CORS preflight is no route",
				call{method: "OPTIONS", path: createOne, auth: none, header: map[string][]string{
					"Origin": {"https://example.com"}, "Access-Control-Request-Method": {"POST"},
				}},
				noRoute,
			},
			// spec: error-key-of-another-prism
			{
				"an idempotency key of another prism conflicts",
				call{path: createTwo, body: `{"text":"x","idempotency_key":"{one_key}"}`},
				otherPrism,
			},
			// spec: error-only-failed-is-retried
			{"a result that succeeded is not retried", call{method: "POST", path: "/v1/results/{one_ok}/retry"}, onlyFailed},
			// spec: error-already-retried
			{
				"a second retry names the result that retried it",
				call{method: "POST", path: "/v1/results/{one_retried}/retry"},
				alreadyRetried("{one_retry}"),
			},
			// spec: error-malformed-request
			{
				"a body over 1 MiB is too large",
				call{path: createOne, body: text(strings.Repeat("x", 1<<20))},
				bodyTooLarge,
			},
			// spec: error-malformed-request
			{
				"a content type that is not parsed is refused",
				call{path: createOne, body: text("x"), contentType: "application/xml"},
				unparsedType,
			},
		})

		for _, format := range []string{"json", "raw", "csv", "tsv", "jsonl"} {
			// spec: error-body
			t.Run("an error is JSON in format "+format, func(t *testing.T) {
				t.Parallel()
				s.main.get(t, "/v1/results/"+absentID+"?format="+format).wantFail(t, noResult)
			})
		}
	})
}

// TestNothingIsSaved holds that a call with a 4xx error saves nothing and never reaches the model.
func TestNothingIsSaved(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: errors-save-nothing
		t.Run("a 4xx error saves nothing and never reaches the model", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			path := "/v1/prisms/" + prism + "/results"
			script := s.model.Script()
			calls := []call{
				{path: path + "?format=xml", body: text(script.Tag)},
				{path: path, body: text(script.Tag) + "x"},
				{path: path, body: text(script.Tag), contentType: "application/xml"},
				{path: path, body: text(script.Tag), auth: none},
				{path: path, body: text(script.Tag), auth: "Bearer prism_x"},
				{path: path, body: text(script.Tag, "version", 2)},
				{path: path, body: text(script.Tag, "version", 1.5)},
				{path: path, body: text(script.Tag, "idempotency_key", s.fill(t, "{one_key}"))},
				{path: path, body: object("fields", map[string]string{"other": script.Tag})},
				{path: path, body: object("fields", map[string]string{"message": script.Tag, "other": "x"})},
				{path: path, body: text(script.Tag + manyTokens)},
				{path: path, body: text(script.Tag + strings.Repeat("x", 1<<20))},
			}
			for _, in := range calls {
				if r := s.main.do(t, in); r.status < 400 || r.status > 499 {
					t.Errorf("%.80s: status %d", in.body, r.status)
				}
			}
			wantEqual(t, "the number of model calls", script.Calls(), 0)
			s.main.get(t, "/v1/results?prism="+prism).wantBody(t, `{"data":[],"next_cursor":null}`)
		})
	})
}
