package e2e

import (
	"net/http"
	"testing"
)

// TestHeaders holds the headers of responses that TestFormats does not. TestHostileHTTP has requests over a bare connection.
func TestHeaders(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: request-id
		t.Run("a sane X-Request-Id is the caller's, on success and on error", func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"/v1/prisms?limit=1", "/v1/nothing", "/v1/results/1", "/v1/results/" + absentID} {
				r := s.main.get(t, path)
				wantEqual(t, path+": X-Request-Id", r.header.Get("X-Request-Id"), r.request)
			}
		})
		// spec: console-root
		t.Run("a browser that opens / is sent to the console, and nobody else", func(t *testing.T) {
			t.Parallel()
			const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				r := s.main.do(t, call{method: method, path: "/", auth: none, header: http.Header{"Accept": {browser}}})
				r.wantStatus(t, 303)
				wantEqual(t, "Location", r.header.Get("Location"), "/console/")
			}
			for _, accept := range []string{"", "*/*", "application/json", "application/json, text/html;q=0.9"} {
				s.main.do(t, call{path: "/", auth: none, header: http.Header{"Accept": {accept}}}).wantFail(t, noRoute)
			}
			s.main.do(t, call{method: http.MethodPost, path: "/", auth: none, header: http.Header{"Accept": {browser}}}).wantFail(t, noRoute)
			s.main.do(t, call{path: "/v1", auth: none, header: http.Header{"Accept": {browser}}}).wantFail(t, noRoute)
		})
	})
}
