package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/config"
)

func TestAProbeWaitsUntilAKeyIsRefused(t *testing.T) {
	t.Parallel()
	answers := []int{http.StatusServiceUnavailable, http.StatusUnauthorized}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if _, ok := apikey.Parse(key); !ok || r.URL.Path != "/v1/prisms" {
			t.Errorf("%s with %q", r.URL, key)
		}
		w.WriteHeader(answers[0])
		answers = answers[1:]
	}))
	defer server.Close()
	var out strings.Builder
	if err := run(t.Context(), []string{"probe", server.URL}, config.Environment{}, &out, &out); err != nil || len(answers) > 0 || !strings.Contains(out.String(), "Prism answers") {
		t.Errorf("%v, %q", err, out.String())
	}
}

func TestAProbeEnds(t *testing.T) {
	t.Parallel()
	if err := probe(t.Context(), nil, nil); err == nil {
		t.Error("a probe of nothing")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := probe(ctx, []string{"http://127.0.0.1:1"}, nil); err == nil {
		t.Error("a probe of nobody succeeded")
	}
}
