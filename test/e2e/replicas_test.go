package e2e

import (
	"context"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/pkg/testkit/redistest"
)

// secondGateway starts another gateway beside the stack's, and returns the stack's main account as its client.
func (s *stack) secondGateway(t *testing.T) *client {
	t.Helper()
	second, err := s.options.Gateway(t.Context(), s.part(t, "prism-results").URL(), s.part(t, "prism-model-proxy").URL())
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.parts = append(s.parts, second) // stopped with the others
	beside := &stack{topology: s.topology, model: s.model, front: second, store: s.store, http: s.http}
	return &client{stack: beside, key: s.main.key, account: s.main.account}
}

// race sends a call from each client, and releases the model when the expected number of model calls has arrived.
func race(t *testing.T, script *model.Script, asked int, clients []*client, calls ...call) (replies []reply) {
	t.Helper()
	release := make(chan struct{})
	script.Then(model.Hold(release, model.Likely()))
	pending := make([]<-chan outcome, len(calls))
	for i, in := range calls {
		pending[i] = clients[i].start(t, in)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := script.Await(ctx, asked); err != nil {
		t.Error(err)
	}
	close(release)
	for _, p := range pending {
		replies = append(replies, await(t, p))
	}
	wantEqual(t, "the number of model calls", script.Calls(), asked)
	return replies
}

// TestReplicas holds the rules of concurrent calls and of revoked keys for several gateways on one store.
func TestReplicas(t *testing.T) {
	only(t, services, func(t *testing.T, s *stack) {
		// spec: key-revocation
		t.Run("a revoked key is refused by every gateway from the answer of the revoke on", func(t *testing.T) {
			t.Parallel()
			own := s.private(t, nil)
			beside := own.secondGateway(t)
			key, id := own.main.newAPIKey(t)
			there := &client{stack: beside.stack, key: key.key, account: key.account}
			there.get(t, "/v1/prisms").wantStatus(t, 200)
			own.main.post(t, "/v1/keys/"+id+"/revoke", "").wantStatus(t, 200)
			there.get(t, "/v1/prisms").wantFail(t, invalidKey)
		})
		// spec: first-calls-race-on-different-prisms
		t.Run("without Redis the loser for another prism answers 409 after its call, and saves nothing", func(t *testing.T) {
			t.Parallel()
			own, both := s.withoutRedis(t)
			one, two, script := own.main.triage(t), own.main.triage(t), own.model.Script()
			body := text(script.Tag, "idempotency_key", newKey())
			replies := race(t, script, 2, both,
				call{path: "/v1/prisms/" + one + "/results", body: body}, call{path: "/v1/prisms/" + two + "/results", body: body})
			won, lost := replies[0], replies[1]
			if won.status != 200 {
				won, lost = lost, won
			}
			won.ok(t)
			lost.wantFail(t, otherPrism)
			wantEqual(t, "the number of results",
				len(own.main.results(t, "prism="+one).Data)+len(own.main.results(t, "prism="+two).Data), 1)
		})
	})
}

// withoutRedis is a stack with two gateways and a stopped Redis.
func (s *stack) withoutRedis(t *testing.T) (own *stack, both []*client) {
	t.Helper()
	redis := redistest.New(t, redistest.Options{})
	own = s.private(t, map[string]string{"PRISM_REDIS_URL": redis.URL()})
	both = []*client{own.main, own.secondGateway(t)}
	if err := redis.Stop(); err != nil {
		t.Fatal(err)
	}
	return own, both
}
