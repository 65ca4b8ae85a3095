package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/pkg/testkit/redistest"
	"github.com/prism-results/prism/test/internal/load"
)

// stack is the three services, a worker of runs and a sender of events on a Postgres and a Redis of their own, and a standalone Prism.
type stack struct {
	launch.Three

	// narrow is a second gateway, which serves one request at a time.
	narrow     *launch.Service
	worker     *launch.Service
	sender     *launch.Service
	standalone *launch.Service
	operator   *launch.Service // without an API server: it exports its metrics meanwhile
	model      *model.Model
	postgres   *pgtest.Server
	database   string // its URL
	key        string
}

// modelsFile has all that a model can have, so that all its metrics are there.
const modelsFile = `default: fast
models:
  - {name: fast, provider: systemone, base_url: URL, model: small, api_key_env: MODEL_KEY, max_in_flight: 100, price: &p {currency: USD, input: 1, output: 2}, fallback: [strong]}
  - {name: strong, provider: systemone, base_url: URL, model: large, price: *p}
`

// openID has the console of the standalone Prism name an issuer, which does not answer.
var openID = map[string]string{
	"PRISM_PUBLIC_URL": "https://prism.example.com", "PRISM_OPENID_ISSUER": "http://127.0.0.1:1",
	"PRISM_OPENID_CLIENT_ID": "prism", "PRISM_OPENID_CLIENT_SECRET": "secret",
}

// worker is the program of a worker of runs.
const worker = "services/runs/cmd/prism-runs"

// callBudget bounds a call, on a machine of any load.
const callBudget = 3 * time.Minute

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
	file := filepath.Join(t.TempDir(), "models.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(modelsFile, "URL", s.model.BaseURL())), 0o600); err != nil {
		t.Fatal(err)
	}
	options := launch.Options{
		ModelsFile: file, Database: s.postgres.URL(name), Redis: redistest.New(t, redistest.Options{}).URL(),
		Flags: program.TestFlags(), TLS: t.TempDir(),
	}
	if s.Three, err = options.Services(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.database = options.Database
	databases := filepath.Join(t.TempDir(), "databases.yaml") // which has metrics of its own
	if err := os.WriteFile(databases, fmt.Appendf(nil, "home: {url: %q}\n", s.database), 0o600); err != nil {
		t.Fatal(err)
	}
	delete(s.Results.Env, "PRISM_DATABASE_URL")
	s.Results.Env["PRISM_DATABASES_FILE"] = databases
	s.Results.Env["PRISM_INTERNAL_TLS_MODE"] = "permissive" // for a call of the test itself
	if s.worker, err = options.Service(t.Context(), worker, maps.Clone(s.Gateway.Env)); err != nil {
		t.Fatal(err)
	}
	if s.sender, err = options.Sender(t.Context(), s.Gateway.Env["PRISM_RESULTS_URL"]); err != nil {
		t.Fatal(err)
	}
	options.Env = map[string]string{"PRISM_MAX_IN_FLIGHT": "1"}
	if s.narrow, err = options.Gateway(t.Context(), s.Gateway.Env["PRISM_RESULTS_URL"], s.Gateway.Env["PRISM_MODEL_PROXY_URL"]); err != nil {
		t.Fatal(err)
	}
	if s.standalone, err = (launch.Options{Dir: t.TempDir(), Flags: program.TestFlags(), Env: openID}).Standalone(t.Context()); err != nil {
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
	s.operate(t, options)
	if s.key, err = s.Results.Account(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	return s
}

// services are all processes that export metrics.
func (s *stack) services() []*launch.Service {
	return append(s.All(), s.narrow, s.worker, s.sender, s.standalone)
}

// operate starts an operator that waits for its API server.
func (s *stack) operate(t *testing.T, options launch.Options) {
	t.Helper()
	cluster := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(cluster, []byte(nowhere), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.operator, err = options.Service(t.Context(), launch.Operator, map[string]string{
		"KUBECONFIG": cluster, "PRISM_URL": s.Gateway.URL(), "PRISM_OPERATOR_NAMESPACE": "prism",
		"PRISM_RESULTS_URL": "http://127.0.0.1:1", "PRISM_OPERATOR_TOKEN": launch.OperatorToken,
	}); err != nil {
		t.Fatal(err)
	}
	p, err := s.operator.Launch(s.operator.Env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.operator.Kill)
	if _, err := p.AwaitOutput(t.Context(), regexp.MustCompile(`"working"`)); err != nil {
		t.Fatal(err)
	}
}

// nowhere is a configuration of kubectl whose API server does not answer.
const nowhere = `{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
  clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}], users: [{name: a, user: {}}]}`

// send sends a request with a key. body is JSON, or empty.
func send(t *testing.T, method, url, key, body string) load.Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), callBudget)
	defer cancel()
	in := load.Request{Method: method, URL: url, Key: key}
	if body != "" {
		in.Body = json.RawMessage(body)
	}
	return client.Do(ctx, in)
}

var client = load.NewClient(0, 0)

// call sends a request to a gateway and wants a status. It returns the id of the result in the response, if there is one.
func (s *stack) call(t *testing.T, to *launch.Service, method, path, body string, want int) string {
	t.Helper()
	r := send(t, method, to.URL()+path, s.key, body)
	// On a busy machine a call may have no turn in time, and nobody knows the end of a change that took too long.
	late := func() bool {
		return r.Unavailable() && want != http.StatusServiceUnavailable || r.Status == http.StatusInternalServerError && method == http.MethodPut
	}
	for end := time.Now().Add(callBudget); late() && time.Now().Before(end); {
		load.Wait(t.Context(), time.Second)
		r = send(t, method, to.URL()+path, s.key, body)
	}
	if r.Status != want {
		t.Fatalf("%s %s: got %s, want %d", method, path, r, want)
	}
	return r.Result().ID
}

// live causes every event that the metrics count and that a test can cause.
func (s *stack) live(t *testing.T) {
	t.Helper()
	const results = "/v1/prisms/triage/results"
	s.call(t, s.Gateway, "POST", "/v1/prisms", `{"slug":"triage","fields":[{"key":"message"}],
		"questions":[{"key":"urgent","type":"yes_no","text":"Is it urgent?"}]}`, 201)
	s.call(t, s.Gateway, "POST", "/v1/prisms", `{"slug":"other","fields":[{"key":"message"}],
		"questions":[{"key":"urgent","type":"yes_no","text":"Is it urgent?"}]}`, 201)
	ok := s.call(t, s.Gateway, "POST", results, `{"text":"Hello","idempotency_key":"k"}`, 200)
	s.call(t, s.Gateway, "POST", results, `{"text":"Hello","idempotency_key":"k"}`, 200)
	s.call(t, s.Gateway, "POST", "/v1/prisms/other/results", `{"text":"Hello","idempotency_key":"k"}`, 409)
	s.call(t, s.Gateway, "POST", results, text(s.model.Script(model.Status(429), model.Likely())), 200)
	s.call(t, s.Gateway, "POST", results, text(s.model.Script(model.Status(503, "Retry-After", "60"), model.Likely())), 200) // a fallback
	failed := s.call(t, s.Gateway, "POST", results, text(s.model.Script(model.Status(400))), 502)
	s.call(t, s.Gateway, "POST", "/v1/results/"+failed+"/retry", "", 502)
	s.call(t, s.Gateway, "POST", "/v1/results/"+ok+"/retry", "", 409)
	s.call(t, s.Gateway, "GET", "/v1/results/"+ok, "", 200)
	s.call(t, s.Gateway, "GET", "/v1/results", "", 200)
	s.call(t, s.Gateway, "GET", results+"?format=csv", "", 200)
	s.call(t, s.Gateway, "DELETE", "/v1/results/"+s.call(t, s.Gateway, "POST", results, `{"text":"Hello"}`, 200), "", 204)
	s.call(t, s.Gateway, "GET", "/nowhere", "", 404)
	if r := send(t, "POST", s.Results.URL()+"/internal/save", "other", "{}"); r.Status != 401 {
		t.Fatalf("with another token results answers %s", r)
	}
	// Standalone counts a request under its own service name. The call needs no valid key.
	if r := send(t, "GET", s.standalone.URL()+"/v1/results", "none", ""); r.Status != 401 {
		t.Fatalf("without a key standalone answers %s", r)
	}
	if r := send(t, "POST", s.standalone.URL()+"/console/openid/start", "", "{}"); r.Status != 503 {
		t.Fatalf("without an issuer that answers, a sign-in begins with %s", r)
	}

	s.drift(t)

	// One request too many: the narrow gateway waits for the model.
	release := make(chan struct{})
	held := s.hold(t, results, release)
	s.call(t, s.narrow, "GET", "/v1/results/"+ok, "", 503)
	release <- struct{}{}
	if got := <-held; got != 200 {
		t.Fatalf("the call that waited for the model got %d", got)
	}

	// The database goes away after the model was asked: saving is tried until the time of the call is over.
	held = s.hold(t, results, release)
	if err := s.postgres.Stop(); err != nil {
		t.Fatal(err)
	}
	release <- struct{}{}
	s.call(t, s.Gateway, "GET", "/v1/results/"+ok, "", 503)
	if got := <-held; got != 500 {
		t.Fatalf("the call that could not be saved got %d", got)
	}
}

// copyAnswer stores 2,100 results like the one of prism triage, which began half an hour ago.
const copyAnswer = `INSERT INTO results (account_id, id, prism_id, version, context, fields, status, took_ms, created_at, answers, call)
SELECT r.account_id, (overlay(gen_random_uuid()::text PLACING left(lpad(to_hex(
	(extract(epoch FROM now() - interval '30 minutes') * 1000)::bigint), 12, '0'), 8) FROM 1 FOR 8))::uuid, r.prism_id, r.version, r.context, r.fields,
	r.status, r.took_ms, r.created_at, r.answers, r.call
FROM (SELECT * FROM results WHERE status = 'ok' LIMIT 1) r, generate_series(1, 2100)`

// drift has answers of a prism compared with its reference, and waits until results has measured that.
func (s *stack) drift(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), callBudget)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, copyAnswer); err != nil {
		t.Fatal(err)
	}
	s.call(t, s.Gateway, "PUT", "/v1/prisms/triage/drift", `{"watched":true}`, 200)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		_, text, err := s.Results.Get(ctx, "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "prism_quality_psi{") {
			return
		}
		<-tick.C
	}
}

// text is the body of a call with a script.
func text(s *model.Script) string { return `{"text":"` + s.Tag + `"}` }

// hold sends a call to the narrow gateway that the model answers at a release. hold returns when the model has the call; the
// channel then gets the call's status.
func (s *stack) hold(t *testing.T, path string, release <-chan struct{}) <-chan int {
	t.Helper()
	script := s.model.Script(model.Hold(release, model.Likely()))
	held := make(chan int, 1)
	go func() {
		r := send(t, "POST", s.narrow.URL()+path, s.key, text(script))
		held <- r.Status
	}()
	ctx, cancel := context.WithTimeout(t.Context(), callBudget)
	defer cancel()
	if err := script.Await(ctx, 1); err != nil {
		t.Fatal(err)
	}
	return held
}
