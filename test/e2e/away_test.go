package e2e

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/pkg/testkit/redistest"
)

// promptly bounds the response time of a call while a dependency is away, on a machine without any other work. The gateway
// waits contract.ResultsWait for results that hang.
const promptly = 2 * time.Second

// need is what an operation depends on.
type need int

const (
	looksUp need = iota // results, to read
	writes              // results, to write
	asks                // model-proxy, and results to read first
	names               // model-proxy, and results to write
)

type operation struct {
	name string
	need need
	call call
}

// operations are calls of every kind. Each would succeed. retried is a failed result.
func operations(prism, retried, created string) []operation {
	path := "/v1/prisms/" + prism
	return []operation{
		{"create", asks, call{path: path + "/results", body: text(model.Mark)}},
		{"create with a key", asks, call{path: path + "/results", body: text(model.Mark, "idempotency_key", newKey())}},
		{"retry", asks, call{method: "POST", path: "/v1/results/" + retried + "/retry"}},
		{"read", looksUp, call{path: "/v1/results/" + created}},
		{"list results", looksUp, call{path: "/v1/results"}},
		{"list failed results", looksUp, call{path: "/v1/results?status=failed"}},
		{"export csv", looksUp, call{path: path + "/results?format=csv"}},
		{"export jsonl", looksUp, call{path: path + "/results?format=jsonl"}},
		{"list prisms", looksUp, call{path: "/v1/prisms"}},
		{"get a prism", looksUp, call{path: path}},
		{"get a version", looksUp, call{path: path + "/versions/1"}},
		{"list keys", looksUp, call{path: "/v1/keys"}},
		{"create a prism", writes, call{path: "/v1/prisms", body: definition(newSlug(), oneField, yesNo)}},
		{"list models", asks, call{path: "/v1/models"}},
		{"create a prism of a model", names, call{path: "/v1/prisms", body: definition(newSlug(), oneField, yesNo, "model", "default")}},
		{"put a Lens", writes, call{method: "PUT", path: path + "/lens", body: `{"columns":[{"name":"only","question":"mood","show":"answer"}]}`}},
		{"unarchive", writes, call{method: "POST", path: path + "/unarchive"}},
		{"create a key", writes, call{path: "/v1/keys", body: `{"name":"x"}`}},
	}
}

// fault makes a dependency unavailable. want is the status of each kind of operation meanwhile; 0 is the usual status.
type fault struct {
	name       string
	begin, end func() error
	want       map[need]int
	// unknown tells that the hanging dependency has the request of a write and may still execute it. Then the 503, which says
	// that nothing was taken, is not the only correct response.
	unknown bool
}

// TestEachDependencyAway kills and stops each dependency and calls every operation. The response is correct and comes within
// 2 s, and what the machine adds to a call that needs no dependency at the same time. When the dependency is back, every operation succeeds, without a restart of anything else.
// spec: dependency-away-before-the-model, redis-is-optional
func TestEachDependencyAway(t *testing.T) {
	only(t, services, func(t *testing.T, s *stack) {
		postgres, err := pgtest.Start(t.Context(), pgtest.Options{Fsync: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := postgres.Close(); err != nil {
				t.Error(err)
			}
		})
		database, err := postgres.CreateDatabase(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		redis := redistest.New(t, redistest.Options{})
		own := s.private(t, map[string]string{"PRISM_DATABASE_URL": postgres.URL(database), "PRISM_REDIS_URL": redis.URL()})
		restart := func(name string) func() error {
			return func() error {
				ctx, cancel := context.WithTimeout(t.Context(), startBudget)
				defer cancel()
				return own.part(t, name).Start(ctx)
			}
		}
		kill := func(name string) func() error {
			return func() error { own.part(t, name).Process().Kill(); return nil }
		}
		signal := func(name string, sig syscall.Signal) func() error {
			return func() error { return own.part(t, name).Process().Signal(sig) }
		}
		nothing := map[need]int{looksUp: 503, writes: 503, asks: 503, names: 503}
		for _, f := range []fault{
			{"results killed", kill("prism-results"), restart("prism-results"), nothing, false},
			{"results hanging", signal("prism-results", syscall.SIGSTOP), signal("prism-results", syscall.SIGCONT), nothing, true},
			{"Postgres crashed", postgres.Crash, func() error { return postgres.Restart(t.Context()) }, nothing, false},
			{"Postgres hanging", postgres.Pause, postgres.Resume, nothing, true},
			{"model-proxy killed", kill("prism-model-proxy"), restart("prism-model-proxy"), map[need]int{asks: 503, names: 503}, false},
			{"Redis killed", redis.Kill, func() error { return redis.Restart(t.Context()) }, nil, false},
			{"Redis hanging", redis.Pause, redis.Resume, nil, false},
		} {
			t.Run(f.name, func(t *testing.T) { own.wantAnswersWhile(t, f) })
		}
	})
}

// wantAnswersWhile calls every operation during a fault and after the fault. A busy machine may delay a response, so the
// fastest of six rounds counts.
func (s *stack) wantAnswersWhile(t *testing.T, f fault) {
	t.Helper()
	prism := s.main.triage(t)
	created := s.main.create(t, prism, text("x")).ok(t)
	var scripts []*model.Script // of the retries, which called the model once
	round := func() []operation {
		failed, script := s.main.refused(t, prism)
		script.Then()
		scripts = append(scripts, script)
		return operations(prism, failed.ID, created.ID)
	}
	var rounds [][]operation
	for range 6 {
		rounds = append(rounds, round())
	}
	last := round()
	s.main.impatient = true
	defer func() { s.main.impatient = false }()
	if err := f.begin(); err != nil {
		t.Fatal(err)
	}
	if f.want[looksUp] == 503 {
		// A stopped process may still complete calls in progress. A create after its look-up would call the model and not be saved.
		s.awaitUnavailable(t)
	}
	late := map[string]time.Duration{}
	for i, calls := range rounds {
		for name, took := range s.wantEach(t, f, calls) {
			if before, measured := late[name]; !measured || took < before {
				late[name] = took
			}
		}
		if onTime(late) {
			break
		}
		t.Logf("round %d: %v", i+1, late)
	}
	if !onTime(late) {
		t.Errorf("responses take longer than %s: %v", promptly, late)
	}
	if f.want[asks] == 503 {
		for _, script := range scripts {
			wantEqual(t, "the number of model calls", script.Calls(), 1)
		}
	}
	if err := f.end(); err != nil {
		t.Fatal(err)
	}
	for _, op := range last {
		s.awaitSuccess(t, op)
	}
}

func onTime(took map[string]time.Duration) bool {
	for _, d := range took {
		if d > promptly {
			return false
		}
	}
	return true
}

// yardstick makes n calls that need no dependency when a wait for results ends, and returns how late the last response is.
func (s *stack) yardstick(t *testing.T, n int) func() time.Duration {
	t.Helper()
	due := time.Now().Add(contract.ResultsWait)
	late := make(chan time.Duration, 1)
	go func() {
		<-time.After(time.Until(due))
		calls := make([]<-chan outcome, n)
		for i := range calls {
			calls[i] = s.main.start(t, call{path: "/v1/prisms", body: "{"})
		}
		for _, c := range calls {
			<-c
		}
		late <- time.Since(due)
	}()
	return sync.OnceValue(func() time.Duration { return <-late })
}

// wantEach sends the calls together and returns how long each took, less what the machine added.
func (s *stack) wantEach(t *testing.T, f fault, calls []operation) map[string]time.Duration {
	t.Helper()
	added := s.yardstick(t, len(calls))
	defer added() // its calls end before the test
	answers := make([]<-chan outcome, len(calls))
	for i, op := range calls {
		answers[i] = s.main.start(t, op.call)
	}
	all := map[string]time.Duration{}
	for i, op := range calls {
		a := <-answers[i]
		all[op.name] = a.reply.took
		if a.reply.took > promptly {
			all[op.name] -= added()
		}
		switch want := f.want[op.need]; {
		case a.err != nil:
			t.Errorf("%s: %v", op.name, a.err)
		case want == 0 && (a.reply.status < 200 || a.reply.status > 299):
			t.Errorf("%s: status %d: %.200s", op.name, a.reply.status, a.reply.body)
		case want == 0:
		case f.unknown && op.need == writes && a.reply.status == 500:
			a.reply.wantFail(t, internalError)
		case a.reply.status != want:
			t.Errorf("%s: status %d, want %d: %.200s", op.name, a.reply.status, want, a.reply.body)
		default:
			a.reply.wantUnavailable(t)
		}
	}
	return all
}

// awaitUnavailable returns when a look-up is refused.
func (s *stack) awaitUnavailable(t *testing.T) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for s.main.get(t, "/v1/prisms").status != 503 {
		select {
		case <-deadline.C:
			t.Fatal("look-ups go on")
		default:
		}
	}
}

// awaitSuccess repeats a call until it succeeds again.
func (s *stack) awaitSuccess(t *testing.T, op operation) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		r := s.main.do(t, op.call)
		if r.status != 503 {
			if r.status < 200 || r.status > 299 {
				t.Errorf("%s: status %d: %.200s", op.name, r.status, r.body)
			}
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("%s is still unavailable", op.name)
		}
	}
}
