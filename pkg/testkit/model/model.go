// Package model is a decision model for tests that answers as a test tells it to. It speaks the systemone wire format as
// vLLM documents it (docs/serving/online_serving/structured_decisions.md): POST {base}/systemone.
//
// One model serves many tests at once. A test registers a Script and puts the script's Tag into a field of its call; the
// model finds the tag in the call's state and takes the script's next Step. A Policy decides about calls without a tag.
package model

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"time"
)

// Mark begins every tag. Tags are field values, so no log and no error may hold the mark.
const Mark = "sentmark"

// BodyMark is in every response of the model, beside the answers. No log and no response of Prism may hold it.
const BodyMark = "upstreambodymark"

var tagPattern = regexp.MustCompile(Mark + `-[A-Za-z0-9]{26}`)

// Policy decides what a call without a script gets.
type Policy func(Request) Step

// Model is an http.Handler for the calls of model-proxy.
type Model struct {
	policy Policy
	server *httptest.Server
	ctx    context.Context // ends the calls that hang when the model is closed
	cancel context.CancelFunc

	mu      sync.Mutex
	scripts map[string]*Script
}

// Handler returns a model for a server of the caller's own. A nil policy gives likely answers.
func Handler(policy Policy) *Model {
	if policy == nil {
		policy = func(Request) Step { return Likely() }
	}
	m := &Model{policy: policy, scripts: map[string]*Script{}}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// New starts a model on a loopback address. A nil policy gives likely answers.
func New(policy Policy) *Model {
	m := Handler(policy)
	mux := http.NewServeMux()
	mux.Handle("POST /base/v1/systemone", m)
	m.server = httptest.NewServer(mux)
	return m
}

// Addr is the model's host and port.
func (m *Model) Addr() string { return m.server.Listener.Addr().String() }

// Path is the path of a model's base URL.
const Path = "/base/v1"

// BaseURL is the value for PRISM_MODEL_BASE_URL.
func (m *Model) BaseURL() string { return m.server.URL + Path }

// Close ends the calls that still hang and stops the server.
func (m *Model) Close() {
	m.cancel()
	m.server.CloseClientConnections()
	m.server.Close()
}

// Request is a call as model-proxy sent it.
type Request struct {
	Header    http.Header                `json:"-"`
	Raw       []byte                     `json:"-"`
	Model     string                     `json:"model"`
	State     map[string]json.RawMessage `json:"state"`
	Questions Questions                  `json:"questions"`
	At        time.Time                  `json:"-"`
}

// Field is a string member of the state.
func (r Request) Field(key string) string {
	var v string
	_ = json.Unmarshal(r.State[key], &v)
	return v
}

// ServeHTTP plays the step of the call's script, or of the policy.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the connection broke before the whole call arrived
	}
	req := Request{Header: r.Header, Raw: raw, At: time.Now()}
	if err := json.Unmarshal(raw, &req); err != nil {
		http.Error(w, `{"error":"`+BodyMark+` `+err.Error()+`"}`, http.StatusUnprocessableEntity)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	var step Step
	if s := m.find(req.State); s != nil {
		step = s.next(req)
	} else {
		step = m.policy(req)
	}
	step(ctx, w, req)
}

func (m *Model) find(state map[string]json.RawMessage) *Script {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range state {
		for _, tag := range tagPattern.FindAll(v, -1) {
			if s := m.scripts[string(tag)]; s != nil {
				return s
			}
		}
	}
	return nil
}
