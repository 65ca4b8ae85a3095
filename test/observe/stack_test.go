package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/pkg/testkit/redistest"
)

// stack is the three services on a Postgres and a Redis of their own, and a standalone Prism.
type stack struct {
	launch.Three

	// narrow is a second gateway, which serves one request at a time.
	narrow     *launch.Service
	standalone *launch.Service
	model      *model.Model
	postgres   *pgtest.Server
	key        string
}

// callBudget bounds a call, on a machine of any load.
const callBudget = time.Minute

func start(t *testing.T) *stack {
	t.Helper()
	s := &stack{model: model.New(nil)}
	t.Cleanup(s.model.Close)
	var err error
	if s.postgres, err = pgtest.Start(t.Context(), pgtest.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.postgres.Close(); err != nil {
			t.Error(err)
		}
	})
	name, err := s.postgres.CreateDatabase(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	options := launch.Options{
		ModelURL: s.model.BaseURL(), Database: s.postgres.URL(name), Redis: redistest.New(t, redistest.Options{}).URL(),
		Flags: program.AsTests(),
	}
	if s.Three, err = options.Services(t.Context()); err != nil {
		t.Fatal(err)
	}
	options.Env = map[string]string{"PRISM_MAX_IN_FLIGHT": "1"}
	if s.narrow, err = options.Gateway(t.Context(), s.Results.URL(), s.Models.URL()); err != nil {
		t.Fatal(err)
	}
	if s.standalone, err = (launch.Options{Dir: t.TempDir(), Flags: program.AsTests()}).Standalone(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, service := range s.services() {
			if p := service.Process(); t.Failed() && p != nil {
				t.Logf("%s printed:\n%s", service.Name, launch.Tail(p, 40))
			}
		}
		if err := launch.Stop(s.services()...); err != nil {
			t.Error(err)
		}
	})
	if err := launch.Start(t.Context(), s.services()...); err != nil {
		t.Fatal(err)
	}
	if s.key, err = s.Results.Account(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	return s
}

// services are all processes that export metrics.
func (s *stack) services() []*launch.Service { return append(s.All(), s.narrow, s.standalone) }

func send(t *testing.T, method, url, body string, header http.Header) (status int, answer string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), callBudget)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// call sends a request to a gateway and wants a status.
func (s *stack) call(t *testing.T, to *launch.Service, method, path, body string, want int) string {
	t.Helper()
	status, answer, err := send(t, method, to.URL()+path, body, http.Header{"Authorization": {"Bearer " + s.key}})
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	if status != want {
		t.Fatalf("%s %s: got %d %s, want %d", method, path, status, answer, want)
	}
	return answer
}

// live causes every event that the metrics count and that a test can cause.
func (s *stack) live(t *testing.T) {
	t.Helper()
	const results = "/v1/prisms/triage/results"
	s.call(t, s.Gateway, "POST", "/v1/prisms", `{"slug":"triage","fields":[{"key":"message"}],
		"questions":[{"key":"urgent","type":"yes_no","text":"Is it urgent?"}]}`, 201)
	s.call(t, s.Gateway, "POST", "/v1/prisms", `{"slug":"other","fields":[{"key":"message"}],
		"questions":[{"key":"urgent","type":"yes_no","text":"Is it urgent?"}]}`, 201)
	ok := id(t, s.call(t, s.Gateway, "POST", results, `{"text":"Hello","idempotency_key":"k"}`, 200))
	s.call(t, s.Gateway, "POST", results, `{"text":"Hello","idempotency_key":"k"}`, 200)
	s.call(t, s.Gateway, "POST", "/v1/prisms/other/results", `{"text":"Hello","idempotency_key":"k"}`, 409)
	s.call(t, s.Gateway, "POST", results, text(s.model.Script(model.Status(429), model.Likely())), 200)
	failed := id(t, s.call(t, s.Gateway, "POST", results, text(s.model.Script(model.Status(400))), 502))
	s.call(t, s.Gateway, "POST", "/v1/results/"+failed+"/retry", "", 502)
	s.call(t, s.Gateway, "POST", "/v1/results/"+ok+"/retry", "", 409)
	s.call(t, s.Gateway, "GET", "/v1/results/"+ok, "", 200)
	s.call(t, s.Gateway, "GET", "/v1/results", "", 200)
	s.call(t, s.Gateway, "GET", results+"?format=csv", "", 200)
	s.call(t, s.Gateway, "GET", "/nowhere", "", 404)
	if status, _, err := send(t, "POST", s.Results.URL()+"/internal/read", "{}", http.Header{"Authorization": {"Bearer other"}}); err != nil || status != 401 {
		t.Fatalf("with another token results answers %d, %v", status, err)
	}
	s.standaloneCall(t)

	// One request too many: the narrow gateway waits for the model.
	release := make(chan struct{})
	held := s.hold(t, results, release)
	s.call(t, s.narrow, "GET", "/v1/results/"+ok, "", 503)
	release <- struct{}{}
	if got := <-held; got != "200" {
		t.Fatalf("the call that waited for the model got %s", got)
	}

	// The database goes away after the model was asked: saving is tried until the time of the call is over.
	held = s.hold(t, results, release)
	if err := s.postgres.Stop(); err != nil {
		t.Fatal(err)
	}
	release <- struct{}{}
	s.call(t, s.Gateway, "GET", "/v1/results/"+ok, "", 503)
	if got := <-held; got != "500" {
		t.Fatalf("the call that could not be saved got %s", got)
	}
}

// text is the body of a call with a script.
func text(s *model.Script) string { return `{"text":"` + s.Tag + `"}` }

// hold sends a call to the narrow gateway that the model answers at a release. hold returns when the model has the call; the
// channel then gets the call's status.
func (s *stack) hold(t *testing.T, path string, release <-chan struct{}) <-chan string {
	t.Helper()
	script := s.model.Script(model.Hold(release, model.Likely()))
	held := make(chan string, 1)
	go func() {
		status, _, err := send(t, "POST", s.narrow.URL()+path, text(script), http.Header{"Authorization": {"Bearer " + s.key}})
		if err != nil {
			held <- err.Error()
			return
		}
		held <- fmt.Sprint(status)
	}()
	ctx, cancel := context.WithTimeout(t.Context(), callBudget)
	defer cancel()
	if err := script.Await(ctx, 1); err != nil {
		t.Fatal(err)
	}
	return held
}

// standaloneCall makes standalone count a request under its own service name. The call needs no key.
func (s *stack) standaloneCall(t *testing.T) {
	t.Helper()
	if status, _, err := send(t, "GET", s.standalone.URL()+"/v1/results", "", nil); err != nil || status != 401 {
		t.Fatalf("without a key standalone answers %d, %v", status, err)
	}
}

func id(t *testing.T, result string) string {
	t.Helper()
	var r struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(result), &r); err != nil {
		t.Fatal(err)
	}
	return r.ID
}
