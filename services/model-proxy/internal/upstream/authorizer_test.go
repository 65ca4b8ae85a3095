package upstream

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// tokens is an Authorizer with a token, or without one.
type tokens struct {
	token    string
	refusals atomic.Int64
}

func (a *tokens) Authorize(_ context.Context, request *http.Request, _ Body) error {
	if a.token == "" {
		return errors.New("no token")
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	return nil
}

func (a *tokens) Refused() { a.refusals.Add(1) }

// spec: model-identity, upstream-error-logs
func TestATokenThatIsRefusedIsToldOfAndNotLogged(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Error(w, `{"error":{"message":"wrong: `+r.Header.Get("Authorization")+`"}}`, http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	a := &tokens{token: "token-of-the-workload"}
	c, err := New(Config{BaseURL: server.URL, Authorizer: a, Explain: func(context.Context) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	fault := c.Post(t.Context(), "/", Body{[]byte("{}")}, 1, func([]byte) *Fault { return nil })
	if message := fault.Message(nil); a.refusals.Load() != 1 || !strings.Contains(message, "wrong: ") || strings.Contains(message, a.token) {
		t.Errorf("%d refusals, %q", a.refusals.Load(), message)
	}
	a.token = ""
	fault = c.Post(t.Context(), "/", Body{[]byte("{}")}, 1, func([]byte) *Fault { return nil })
	if fault.Cause != NoCredentials || asked.Load() != 1 {
		t.Errorf("got %s, and the model was asked %d times", fault.Cause, asked.Load())
	}
}
