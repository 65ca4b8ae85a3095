package main

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prism-results/prism/test/internal/upstream"
)

func TestACommandThatIsNotThereIsRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"serve"}, {"load", "-nope"}, {"load", "-key-files", "one"}, {"call"}, {"model", "-listen", "nowhere"}, {"revoke", "-keys", "many"}, {"filerun", "-rows", "many"}, {"get"}, {"visit"}, {"next"}} {
		if err := run(t.Context(), args, func(string) string { return "" }, io.Discard); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}

func TestGetPrintsABodyAndFailsOnAnyOtherStatus(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(upstream.Handler(upstream.Config{}))
	t.Cleanup(server.Close)
	var out strings.Builder
	if err := run(t.Context(), []string{"get", server.URL + "/tally"}, nil, &out); err != nil || !strings.Contains(out.String(), `"asked":0`) {
		t.Errorf("%v, %q", err, out.String())
	}
	if err := run(t.Context(), []string{"get", server.URL + "/nothing"}, nil, io.Discard); err == nil {
		t.Error("404 is taken for a body")
	}
}
