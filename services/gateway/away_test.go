package gateway

import (
	"log/slog"
	"testing"

	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/httpkit"
)

// Every call on what results keeps is refused while results is away, and told when to call again.
//
// spec: retry-after-of-a-503, dependency-away-before-the-model
func TestEveryCallWithoutResultsIsToldToCallAgain(t *testing.T) {
	t.Parallel()
	const (
		id         = "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10"
		definition = `"fields":[{"key":"text"}],"questions":[{"key":"q","type":"yes_no","text":"?"}]}`
		body       = `{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}`
	)
	list := wire.ResultsTokens{List: []string{"0123456789abcdef0123456789abcdef"}}
	tokens, err := list.Open(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	results, err := wire.NewResults(wire.ClientConfig{URL: "http://127.0.0.1:1", Tokens: tokens}, wire.ClientDeps{})
	if err != nil {
		t.Fatal(err)
	}
	call, key := serve(t, httpkit.Config{}, results, nil), newKey(t).Reveal()
	for _, row := range []struct{ method, path, body string }{
		{"POST", "/v1/prisms/p/results", `{"fields":{"text":"x"}}`},
		{"POST", "/v1/prisms/p/results", `{"fields":{"text":"x"},"idempotency_key":"k"}`},
		{"GET", "/v1/prisms/p/results", ""},
		{"GET", "/v1/results", ""},
		{"GET", "/v1/results/" + id, ""},
		{"GET", "/v1/results/" + id + "/record", ""},
		{"DELETE", "/v1/results/" + id, ""},
		{"POST", "/v1/results/" + id + "/retry", ""},
		{"POST", "/v1/prisms", `{"slug":"s",` + definition},
		{"GET", "/v1/prisms", ""},
		{"GET", "/v1/prisms/p", ""},
		{"POST", "/v1/prisms/p/versions", `{` + definition},
		{"GET", "/v1/prisms/p/versions", ""},
		{"GET", "/v1/prisms/p/versions/1", ""},
		{"PUT", "/v1/prisms/p/name", `{"name":"x"}`},
		{"PUT", "/v1/prisms/p/lens", `{"columns":[{"name":"x","question":"q","show":"answer"}]}`},
		{"POST", "/v1/prisms/p/lens/preview", `{"columns":[{"name":"x","question":"q","show":"answer"}],"result_ids":[]}`},
		{"POST", "/v1/try", `{"text":"x","definition":{` + definition + `}`},
		{"POST", "/v1/prisms/p/archive", ""},
		{"POST", "/v1/prisms/p/unarchive", ""},
		{"POST", "/v1/prisms/p/results/delete", `{"status":"failed"}`},
		{"POST", "/v1/results/retry", `{"prism":"p","status":"failed","expect":1}`},
		{"PUT", "/v1/prisms/p/retention", `{"days":30}`},
		{"GET", "/v1/models", ""},
		{"POST", "/v1/keys", `{"name":"x"}`},
		{"GET", "/v1/keys", ""},
		{"GET", "/v1/prisms/p/drift", ""},
		{"PUT", "/v1/prisms/p/drift", `{"watched":true}`},
		{"POST", "/v1/keys/" + id + "/revoke", ""},
		{"POST", "/v1/prisms/p/versions/1/calibrations", `{"question":"q","method":"auto"}`},
		{"GET", "/v1/prisms/p/versions/1/calibrations", ""},
		{"GET", "/v1/prisms/p/versions/1/calibrations/" + id, ""},
		{"PUT", "/v1/prisms/p/versions/1/calibration", `{"questions":{}}`},
		{"GET", "/v1/prisms/p/versions/1/calibration", ""},
		{"GET", "/v1/prisms/p/versions/1/quality", ""},
		{"GET", "/v1/prisms/p/versions/1/quality/thresholds?question=q&false_yes=1&false_no=1&unsure=1", ""},
		{"GET", "/v1/prisms/p/compare?a=1&b=2&question=q", ""},
		{"POST", "/v1/members", `{"name":"x","role":"reader"}`},
		{"GET", "/v1/members", ""},
		{"PUT", "/v1/members/" + id, `{"name":"x"}`},
		{"DELETE", "/v1/members/" + id, ""},
		{"POST", "/v1/members/" + id + "/link", ""},
		{"GET", "/v1/audit", ""},
		{"GET", "/v1/usage", ""},
	} {
		if got, want := call(key, row.method, row.path, row.body), (reply{503, "1", body}); got != want {
			t.Errorf("%s %s: got %+v", row.method, row.path, got)
		}
	}
}
