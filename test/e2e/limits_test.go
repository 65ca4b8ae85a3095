package e2e

import (
	"strings"
	"testing"
)

// mib is the limit of a body (spec: body-limit).
const mib = 1 << 20

// TestLimits holds the limit of a body and the size estimate.
// spec: body-limit-of-chunked-bodies, error-request-too-large
func TestLimits(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		for _, chunked := range []bool{false, true} {
			how := map[bool]string{false: " with a Content-Length", true: " in chunks"}[chunked]
			// spec: body-limit
			t.Run("a body of exactly 1 MiB passes"+how, func(t *testing.T) {
				t.Parallel()
				s.main.do(t, call{path: s.fill(t, createOne), body: padded(mib), chunked: chunked}).ok(t)
			})
			// spec: body-limit
			t.Run("a body of 1 MiB and a byte is too large"+how, func(t *testing.T) {
				t.Parallel()
				s.main.do(t, call{path: s.fill(t, createOne), body: padded(mib + 1), chunked: chunked}).wantFail(t, bodyTooLarge)
			})
			t.Run("a body of 8 MiB is told so and not cut off"+how, func(t *testing.T) {
				t.Parallel()
				for range 4 {
					s.main.do(t, call{path: s.fill(t, createOne), body: padded(8 * mib), chunked: chunked}).wantFail(t, bodyTooLarge)
				}
			})
			t.Run("a retry's body of exactly 1 MiB passes"+how, func(t *testing.T) {
				t.Parallel()
				failed, script := s.main.refused(t, s.fill(t, "{one}"))
				script.Then()
				s.main.do(t, call{path: "/v1/results/" + failed.ID + "/retry", body: padded(mib), chunked: chunked}).ok(t)
			})
		}
		big, long := padded(mib+1), s.longQuestions(t)
		s.runFailing(t, []failing{
			// spec: body-limit
			{"the limit holds for the retry", call{path: "/v1/results/{one_failed}/retry", body: big}, bodyTooLarge},
			{"the limit holds for plain text", call{path: "/v1/results/{one_failed}/retry", body: big, contentType: "text/plain"}, bodyTooLarge},
			// spec: management-is-under-the-same-rules
			{"the limit holds for new prisms", call{path: "/v1/prisms", body: big}, bodyTooLarge},
			{"the limit holds for new versions", call{path: "/v1/prisms/{one}/versions", body: big}, bodyTooLarge},
			{"the limit holds for the Lens", call{method: "PUT", path: "/v1/prisms/{one}/lens", body: big}, bodyTooLarge},
			// spec: body-limit
			{"the limit holds for new keys", call{path: "/v1/keys", body: big}, bodyTooLarge},
			{"a large body without a key is still too large", call{path: createOne, body: big, auth: none}, bodyTooLarge},
			{"a large body that is not JSON is too large", call{path: createOne, body: strings.Repeat("{", mib+1)}, bodyTooLarge},
			// spec: size-estimate
			{"the longest question counts", call{path: "/v1/prisms/" + long + "/results", body: text(strings.Repeat(" a", 21_500))}, tokensTooLarge},
			// spec: size-estimate
			{"the context counts", call{path: createOne, body: text(strings.Repeat(" a", 14_000), "context", strings.Repeat(" a", 14_000))}, tokensTooLarge},
			// spec: size-estimate
			{"26,001 tokens are too many", call{path: createOne, body: text(strings.Repeat(" a", 26_001))}, tokensTooLarge},
			{"100,000 characters of many tokens are too many tokens", call{path: createOne, body: text(strings.Repeat("😀", 100_000))}, tokensTooLarge},
		})

		// spec: size-estimate
		t.Run("only the longest question counts", func(t *testing.T) {
			t.Parallel()
			s.main.create(t, long, text(strings.Repeat(" a", 18_000))).ok(t)
		})
		for _, row := range []struct{ name, body string }{
			// spec: string-limits
			{"a field of 100,000 characters passes", object("fields", map[string]string{"message": words(100_000)})},
			{"text of 100,000 characters passes", text(words(100_000))},
			// spec: size-estimate
			{"25,000 tokens pass", text(strings.Repeat(" a", 25_000))},
			// spec: string-limits
			{"an idempotency key of 200 characters passes", text("x", "idempotency_key", newKey()+strings.Repeat("k", 200-len(newKey())))},
			{"a ref of 200 characters passes", text("x", "ref", strings.Repeat("r", 200))},
			// spec: version-number
			{"the version 2147483647 passes, and does not exist", text("x", "version", 2147483647)},
		} {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				r := s.main.create(t, s.fill(t, "{one}"), row.body)
				if strings.Contains(row.name, "does not exist") {
					r.wantFail(t, noVersion)
					return
				}
				r.ok(t)
			})
		}
	})
}

// longQuestions makes a prism with two questions of about 5,000 tokens each.
func (s *stack) longQuestions(t *testing.T) string {
	t.Helper()
	long := quote(strings.Repeat(" a", 5_000))
	return s.main.prism(t, oneField, `[{"key":"first","type":"yes_no","text":`+long+`},{"key":"second","type":"yes_no","text":`+long+`}]`)
}

// padded is a create call of exactly n bytes.
func padded(n int) string {
	body := text("x", "note", "")
	return strings.Replace(body, `"note":""`, `"note":"`+strings.Repeat("p", n-len(body))+`"`, 1)
}

// words are n characters of about n/6 tokens.
func words(n int) string { return strings.Repeat("hello ", n/6+1)[:n] }
