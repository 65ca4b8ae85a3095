package e2e

import (
	"testing"
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

// TestReplicas holds the rules of revoked keys for several gateways on one store. test/chaos has their concurrent calls.
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
	})
}
