package e2e

import (
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// TestUnavailability holds what a call returns while a dependency of the gateway is away, and the 500.
// spec: error-service-unavailable
func TestUnavailability(t *testing.T) {
	only(t, services, func(t *testing.T, s *stack) {
		// spec: error-internal, saving-after-the-model
		t.Run("when results go away after the model was called, the call ends with the 500", func(t *testing.T) {
			t.Parallel()
			own := s.private(t, nil)
			prism, release := own.main.triage(t), make(chan struct{})
			script := own.model.Script(model.Hold(release, model.Likely()))
			pending := own.main.start(t, call{path: "/v1/prisms/" + prism + "/results", body: text(script.Tag)})
			if err := script.Await(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			own.part(t, "prism-results").Process().Kill()
			close(release)
			await(t, pending).wantFail(t, internalError)
			wantEqual(t, "the number of model calls", script.Calls(), 1)
		})
		// spec: one-save-per-result, saving-after-the-model
		t.Run("when results come back in time, the answer is saved after all", func(t *testing.T) {
			t.Parallel()
			own := s.private(t, nil)
			prism, release := own.main.triage(t), make(chan struct{})
			script := own.model.Script(model.Hold(release, model.Likely()))
			pending := own.main.start(t, call{path: "/v1/prisms/" + prism + "/results", body: text(script.Tag)})
			if err := script.Await(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			results := own.part(t, "prism-results")
			results.Process().Kill()
			close(release)
			if err := results.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			created := await(t, pending).ok(t)
			own.main.read(t, created.ID, "").ok(t)
			wantEqual(t, "the number of model calls", script.Calls(), 1)
		})
		// spec: internal-token
		t.Run("a call that nobody shows the internal token is refused by results and model-proxy", func(t *testing.T) {
			t.Parallel()
			for _, name := range []string{"prism-results", "prism-model-proxy"} {
				status, _, err := fetch(t.Context(), s.part(t, name).URL()+"/")
				if err != nil || status < 400 || status > 499 {
					t.Errorf("%s answered %d: %v", name, status, err)
				}
			}
		})
	})
}
