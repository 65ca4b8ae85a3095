package wire_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
)

// TestEveryMethodRefusesAMemberThatItDoesNotKnow holds what a release beside the next one relies on: nothing that a caller asks for
// is ignored.
// spec: releases-side-by-side
func TestEveryMethodRefusesAMemberThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	const later = `{"Later":1}`
	app, asked := newServer(t), 0
	for _, route := range app.GetRoutes(true) {
		if route.Method != http.MethodPost {
			continue
		}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, route.Path, strings.NewReader(later))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := app.Test(request)
		if err == nil && response.StatusCode == http.StatusUnsupportedMediaType { // the body is octets
			request.Header.Set("Content-Type", "application/octet-stream")
			request.Header.Set("Prism-Args", later)
			request.Body = io.NopCloser(strings.NewReader(later))
			response, err = app.Test(request)
		}
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d, want %d", route.Path, response.StatusCode, http.StatusBadRequest)
		}
		asked++
	}
	if asked < len(api.Operations()) {
		t.Errorf("only %d methods were called", asked)
	}
}

// A member of the next release is not sent while nobody uses it, so that the release before takes the call.
// spec: releases-side-by-side
func TestAnOperationIsSentWithoutMembersThatAreZero(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies <- string(body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(server.Close)
	near := resultsAt(t, server.URL)
	for _, op := range api.Operations() {
		if _, err := near.Do(t.Context(), contract.KeyDigest{}, op, op.NewRequest()); err != nil {
			t.Errorf("%s: %v", op.Declared().Name, err)
		}
		if body := <-bodies; body != `{"Request":{}}` {
			t.Errorf("%s is sent as %s", op.Declared().Name, body)
		}
	}
}

// spec: releases-side-by-side
func TestAServiceRefusesMembersThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, body string
		want             int
	}{
		{"known members of a method", "renew-leases", `{"Leases":[{"Chunk":1}]}`, http.StatusOK},
		{"another member of a method", "renew-leases", `{"Leases":[{"Chunk":1,"Later":1}]}`, http.StatusBadRequest},
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
