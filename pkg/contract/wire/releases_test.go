package wire_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAServiceRefusesMembersThatItDoesNotKnow holds what a release beside the next one relies on: nothing that a caller asks for
// is ignored, but for hints.
func TestAServiceRefusesMembersThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, body string
		want             int
	}{
		{"known members of a method", "list-runs", `{"Query":{"Status":"paused"}}`, http.StatusOK},
		{"another member of a method", "list-runs", `{"Query":{"Status":"paused","Later":1}}`, http.StatusBadRequest},
		{"known members of an operation", "operations/setRetention", `{"Request":{"days":1}}`, http.StatusOK},
		{"another member of an operation's request", "operations/setRetention", `{"Request":{"days":1,"later":1}}`, http.StatusBadRequest},
		{"another member beside the request", "operations/setRetention", `{"Request":{},"Later":1}`, http.StatusBadRequest},
		{"another member of a definition", "ask", `{"Definition":{"questions":[],"later":1}}`, http.StatusNotFound},
		{"another hint", "ask", `{"Hints":{"Background":true,"Later":1}}`, http.StatusOK},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/internal/"+c.path, strings.NewReader(c.body))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := newServer(t).Test(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if response.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", c.name, response.StatusCode, c.want)
		}
	}
}
