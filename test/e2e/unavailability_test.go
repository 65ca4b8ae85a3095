package e2e

import (
	"net/http"
	"strings"
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
		// spec: token-for-each-edge
		// The gateway and the workers call both.
		t.Run("the token of one service is refused by the other, and so is a call without a token", func(t *testing.T) {
			t.Parallel()
			for name, path := range map[string]string{"prism-results": "/internal/save", "prism-model-proxy": "/internal/ask"} {
				for _, p := range s.parts {
					for _, variable := range []string{"", "PRISM_RESULTS_TOKEN", "PRISM_MODEL_PROXY_TOKEN"} {
						if p == s.front || p.Name == "prism-runs" || variable != "" && p.Env[variable] == "" || p.Name == name && variable != "" {
							continue
						}
						status := post(t, s.part(t, name).URL()+path, p.Env[variable])
						if status != http.StatusUnauthorized {
							t.Errorf("%s answered %d to the %s of %s", name, status, variable, p.Name)
						}
					}
				}
			}
		})
	})
}

// post sends an empty call with a token and returns the status.
func post(t *testing.T, url, token string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}
