package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// stage is a Prism in which a process dies again and again.
type stage struct {
	victim   *system.Part
	at, next string // where the call goes that reaches the step, and where the next caller goes
	answers  bool   // the call is answered although the victim died
	model    *upstream.Model
	key      string
	client   *load.Client
	cases    []*crashCase

	// victimInUse is held while a case kills the victim, and while a case calls the victim.
	victimInUse sync.Mutex

	begun atomic.Int64 // races
}

// crashCase is one step and one kind of call, with a race of its own each time it is prepared.
type crashCase struct {
	*stage
	kind
	point crash.Point
	left  left
	race  int
	old   string // the failed result
	first int    // model calls that it took
}

// operated is a Prism with operator's commands.
type operated interface {
	Account(ctx context.Context, name string) (key string, err error)
}

func newStage(t *testing.T, model *upstream.Model, o operated) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	key, err := o.Account(ctx, "crashes")
	if err != nil {
		t.Fatal(err)
	}
	// Each call has a connection of its own, so the client sends no call again after a broken connection.
	return &stage{model: model, key: key, client: load.NewClient(0, 1)}
}

// plan lists the cases.
func (s *stage) plan(steps map[crash.Point]left) {
	for _, point := range crash.Points() {
		leaves, ok := steps[point]
		if !ok {
			continue
		}
		for _, k := range possible(point) {
			s.cases = append(s.cases, &crashCase{stage: s, kind: k, point: point, left: leaves})
		}
	}
}

func (s *stage) prism(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	got := s.do(ctx, s.next, http.MethodPost, "/v1/prisms", load.Definition(load.Slugs[0]))
	if got.Status != http.StatusCreated {
		t.Fatalf("making a prism was answered %s", got)
	}
}

// prepare begins a race. If the race needs a failed result, prepare creates one; then the model fails the race no more.
func (c *crashCase) prepare(ctx context.Context, t *testing.T) {
	t.Helper()
	c.race = int(c.begun.Add(1))
	if !c.failed {
		return
	}
	got := c.create(ctx, c.next)
	if got.Status != http.StatusBadGateway || got.Result().Status != "failed" {
		t.Fatalf("a call that the model fails was answered %s", got)
	}
	c.old, c.first = got.Result().ID, c.model.Count(c.race).Asked
	if c.first != 1 {
		t.Fatalf("the model was asked %d times for one result", c.first)
	}
	c.model.Mend(c.race)
}

// asked is the number of model calls since prepare.
func (c *crashCase) asked() int { return c.model.Count(c.race).Asked - c.first }

func (c *crashCase) ref() string { return fmt.Sprintf("race-%d", c.race) }

// start makes the case's call.
func (c *crashCase) start(ctx context.Context, addr string) <-chan load.Reply {
	answer := make(chan load.Reply, 1)
	go func() {
		if c.retries() {
			answer <- c.retry(ctx, addr, c.old)
		} else {
			answer <- c.create(ctx, addr)
		}
	}()
	return answer
}

func (c *crashCase) create(ctx context.Context, addr string) load.Reply {
	tag := upstream.Tag{Race: c.race}
	if c.failed {
		tag.FailPercent = 100
	}
	body := map[string]any{"fields": map[string]string{"message": tag.String()}, "ref": c.ref()}
	if c.keyed {
		body["idempotency_key"] = fmt.Sprintf("key-%d", c.race)
	}
	return c.do(ctx, addr, http.MethodPost, "/v1/prisms/"+load.Slugs[0]+"/results", body)
}

func (c *crashCase) retry(ctx context.Context, addr, id string) load.Reply {
	return c.do(ctx, addr, http.MethodPost, "/v1/results/"+id+"/retry", nil)
}

// saved is a result in a list.
type saved struct{ ID, Status string }

// saved are the case's results but the failed one, newest first.
func (c *crashCase) saved(ctx context.Context, t *testing.T, addr string) (all []saved) {
	t.Helper()
	got := c.do(ctx, addr, http.MethodGet, "/v1/results?ref="+c.ref(), nil)
	var list struct {
		Data []saved `json:"data"`
	}
	if err := json.Unmarshal(got.Body, &list); err != nil || got.Status != http.StatusOK {
		t.Fatalf("the list of results was answered %s", got)
	}
	for _, r := range list.Data {
		if r.ID != c.old {
			all = append(all, r)
		}
	}
	if n := len(list.Data); c.failed && n != len(all)+1 {
		t.Fatalf("the failed result is not among %s", got)
	}
	return all
}

// reachable waits until calls succeed again after a restart.
func (s *stage) reachable(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, addr := range []string{s.at, s.next} {
		until(t, addr+" answers", func() bool {
			return s.do(ctx, addr, http.MethodGet, "/v1/results?limit=1", nil).Status == http.StatusOK
		})
	}
}

// until waits for what happens soon.
func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	untilWithin(t, recoveryBudget, what, happened)
}

func untilWithin(t *testing.T, budget time.Duration, what string, happened func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), budget)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("it did not come to this: %s", what)
		}
	}
}

// do repeats a call while the response is the 503, which took nothing: on a busy machine a service may not respond in time.
// The saved results and the model calls prove that nothing was taken.
func (s *stage) do(ctx context.Context, addr, method, path string, in any) load.Reply {
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for {
		out := s.client.Do(ctx, load.Request{Method: method, URL: "http://" + addr + path, Key: s.key, Body: in})
		if out.Status != http.StatusServiceUnavailable {
			return out
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return out
		}
	}
}
