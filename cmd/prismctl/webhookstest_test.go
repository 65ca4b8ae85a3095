package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestWebhookTests holds what is said of each end of a test, and its exit code.
// spec: webhook-test
func TestWebhookTests(t *testing.T) {
	t.Parallel()
	const waiting = `{"id":"` + longID + `","event":"webhook.test","at":"2026-01-01T00:00:00.000Z","status":"waiting","next_at":null,"tries":[]}`
	for _, c := range []struct {
		status, try, want string
		code              int
	}{
		{"delivered", `"took_ms":31,"status":204,"error":null`, "The receiver answered 204 after 31 ms.", exitOK},
		{"failed", `"took_ms":31,"status":503,"error":"status"`, "the test was not delivered: 503, the answer is not 2xx after 31 ms", exitFailed},
		{"failed", `"took_ms":2,"status":null,"error":"forbidden_address"`, "the address is not public, and the operator has not allowed it", exitFailed},
		{"failed", `"took_ms":2,"status":null,"error":"later"`, "later after 2 ms", exitFailed}, // of a later release
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.Method == http.MethodPost {
				_, _ = w.Write([]byte(waiting))
				return
			}
			_, _ = w.Write([]byte(`{"data":[{"id":"` + longID + `","event":"webhook.test","at":"2026-01-01T00:00:00.000Z","status":"` + c.status +
				`","next_at":null,"tries":[{"at":"2026-01-01T00:00:00.000Z",` + c.try + `,"answer":null}]}],"next_cursor":null}`))
		}))
		u := &user{t: t, env: map[string]string{"PRISM_URL": s.URL, "PRISM_API_KEY": "prism_fake", "HOME": t.TempDir()}}
		u.run("webhooks", "test", longID).want(c.code, c.want)
		s.Close()
	}
}
