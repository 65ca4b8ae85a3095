package browser

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/test/internal/load"
)

// Bounds of waiting. None of them is a pause.
const (
	startBudget = 5 * time.Minute
	callBudget  = 2 * time.Minute
	stopBudget  = time.Minute
)

// The accounts of the Prism: that of its first start, and one that has been used for a month.
const (
	firstAccount = "demo"
	usedAccount  = "example"
)

// prism is a standalone Prism with the offline model.
type prism struct {
	url  string
	key  string // of firstAccount
	used string // the key of usedAccount

	service *launch.Service
}

// startPrism starts a Prism as it is shipped, with both accounts: nearly all that happens here happens in Chromium.
func startPrism(t *testing.T) *prism {
	t.Helper()
	s, err := launch.Options{Dir: t.TempDir()}.Standalone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Operate(t.Context(), "demo", "--account", usedAccount, "--results", "2000"); err != nil {
		t.Fatal(err)
	}
	used, err := s.Operate(t.Context(), "key", "create", "--account", usedAccount)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Process().StopAfter(t)
	key, err := s.DemoKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &prism{url: s.URL(), key: key, used: used, service: s}
}

// call sends a request with the demo key and wants a status.
func (p *prism) call(t *testing.T, method, path, body string, want int) []byte {
	t.Helper()
	return p.callAs(t, p.key, method, path, body, want)
}

// callAs is call with another key.
func (p *prism) callAs(t *testing.T, key, method, path, body string, want int) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), callBudget)
	defer cancel()
	in := load.Request{Method: method, URL: p.url + path, Key: key}
	if body != "" {
		in.Body = json.RawMessage(body)
	}
	r := client.Do(ctx, in)
	for r.Unavailable() && ctx.Err() == nil { // a service that had no place took nothing
		load.Wait(ctx, time.Second) // as its Retry-After says
		r = client.Do(ctx, in)
	}
	if r.Status != want {
		t.Fatalf("%s %s: got %s, want %d", method, path, r, want)
	}
	return r.Body
}

var client = load.NewClient(0, 0)
