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
		}
		big, long := padded(mib+1), s.longQuestions(t)
		s.runFailing(t, []failing{
			// spec: body-limit
			{"the limit holds for the retry", call{path: "/v1/results/{one_failed}/retry", body: big}, bodyTooLarge},
			// spec: management-is-under-the-same-rules
			{"the limit holds for new prisms", call{path: "/v1/prisms", body: big}, bodyTooLarge},
			// spec: body-limit
			{"the limit holds for new keys", call{path: "/v1/keys", body: big}, bodyTooLarge},
			// spec: size-estimate
			{"the longest question counts", call{path: "/v1/prisms/" + long + "/results", body: text(strings.Repeat(" a", 21_500))}, tokensTooLarge},
		})

		// spec: size-estimate
		t.Run("only the longest question counts", func(t *testing.T) {
			t.Parallel()
			s.main.create(t, long, text(strings.Repeat(" a", 18_000))).ok(t)
		})
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
