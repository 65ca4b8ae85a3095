package providertest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Recorded is a request as an upstream saw it.
type Recorded struct {
	Path   string
	Header http.Header
	Raw    string // the body
	Body   any    // decoded JSON
}

// Record starts an upstream on loopback that answers everything with body. next returns the requests in the order in which they
// came. An official SDK and our provider are pointed at it in turn, and their requests are compared.
func Record(t *testing.T, body string) (baseURL string, next func() Recorded) {
	t.Helper()
	seen := make(chan Recorded, 64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		rec := Recorded{Path: r.URL.Path, Header: r.Header, Raw: string(raw)}
		_ = json.Unmarshal(raw, &rec.Body)
		seen <- rec
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() Recorded { return <-seen }
}

// Send makes the provider's first call once.
func Send(t *testing.T, w Wire, baseURL string) provider.Reply {
	t.Helper()
	r, fault := calls(t, w, baseURL)[0].Do(t.Context())
	if fault != nil {
		t.Fatal(fault)
	}
	return r
}

// Bodies are what the provider's calls send.
func Bodies(t *testing.T, w Wire) (bodies []string) {
	t.Helper()
	baseURL, next := Record(t, "{}")
	for _, c := range calls(t, w, baseURL) {
		if _, fault := c.Do(t.Context()); fault != nil {
			t.Fatal(fault)
		}
		bodies = append(bodies, next().Raw)
	}
	return bodies
}

// SameAsKept fails when the provider's first call does not send testdata/request.json, which the official client sends too
// (make compat).
func SameAsKept(t *testing.T, w Wire) {
	t.Helper()
	want, err := os.ReadFile("testdata/request.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := Bodies(t, w)[0]; got != strings.TrimSpace(string(want)) {
		t.Errorf("sent\n%s\nnot\n%s", got, want)
	}
}

func calls(t *testing.T, w Wire, baseURL string) []provider.Call {
	t.Helper()
	client, err := upstream.New(upstream.Config{BaseURL: baseURL, Header: w.Format.Header(Secret)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return w.Format.Open(client, Model).Calls(Ask())
}

// SameRequest fails when ours is not what the SDK sent: path, body and the named headers.
func SameRequest(t *testing.T, ours, sdk Recorded, headers ...string) {
	t.Helper()
	if ours.Path != sdk.Path {
		t.Errorf("path %s, the SDK's is %s", ours.Path, sdk.Path)
	}
	if !reflect.DeepEqual(ours.Body, sdk.Body) {
		a, _ := json.MarshalIndent(ours.Body, "", " ")
		b, _ := json.MarshalIndent(sdk.Body, "", " ")
		t.Errorf("body\n%s\nthe SDK's is\n%s", a, b)
	}
	for _, h := range headers {
		if ours.Header.Get(h) != sdk.Header.Get(h) || ours.Header.Get(h) == "" {
			t.Errorf("header %s is %q, the SDK's is %q", h, ours.Header.Get(h), sdk.Header.Get(h))
		}
	}
}
