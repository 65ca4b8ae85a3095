package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/model"
)

// TestFallback holds several models in a file, as one process and as three services.
func TestFallback(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: models-file, fallback, models-reload
		t.Run("a model that is away is covered by its fallback, and a new file takes its place", func(t *testing.T) {
			t.Parallel()
			fast, strong := model.New(nil), model.New(nil)
			t.Cleanup(strong.Close)
			file := filepath.Join(t.TempDir(), "models.yaml")
			write := func(text string) {
				t.Helper()
				text = strings.NewReplacer("<fast>", fast.BaseURL(), "<strong>", strong.BaseURL()).Replace(text)
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(`default: fast
models:
  - {name: fast, provider: systemone, base_url: "<fast>", model: small, headers: {x-team: support}, fallback: [strong]}
  - {name: strong, provider: systemone, base_url: "<strong>", model: large, api_key_env: STRONG_KEY}
`)
			own := s.private(t, map[string]string{
				"PRISM_MODELS_FILE": file, "STRONG_KEY": launch.ModelKey,
				"PRISM_MODEL_PROVIDER": "", "PRISM_MODEL_BASE_URL": "", "PRISM_MODEL_NAME": "", "PRISM_MODEL_API_KEY": "",
			})
			prism := own.main.triage(t)
			first, then := fast.Script(), strong.Script()
			own.main.create(t, prism, text(first.Tag)).ok(t)
			wantEqual(t, "the calls of the first model", first.Calls(), 1)
			wantEqual(t, "its header", first.Requests()[0].Header.Get("X-Team"), "support")
			wantEqual(t, "the model", first.Requests()[0].Model, "small")

			fast.Close()
			took := own.main.create(t, prism, text(then.Tag)).ok(t).TookMS
			wantEqual(t, "the calls of the fallback", then.Calls(), 1)
			wantEqual(t, "the model", then.Requests()[0].Model, "large")
			wantEqual(t, "the key", then.Requests()[0].Header.Get("Authorization"), "Bearer "+launch.ModelKey)
			if took >= 15_000 {
				t.Errorf("took %d ms", took)
			}

			write("default: strong\nmodels:\n  - {name: strong, provider: systemone, base_url: <strong>, model: larger}\n")
			for _, part := range own.parts {
				if p := part.Process(); strings.Contains(p.Output(), `"service":"model-proxy"`) || strings.Contains(p.Output(), `"service":"prism"`) {
					if err := p.Signal(syscall.SIGHUP); err != nil {
						t.Fatal(err)
					}
				}
			}
			// The signal is heard at some time soon, and the change is seen without it too.
			tick, late := time.NewTicker(50*time.Millisecond), time.After(time.Minute)
			defer tick.Stop()
			for {
				script := strong.Script()
				own.main.create(t, prism, text(script.Tag)).ok(t)
				if script.Requests()[0].Model == "larger" {
					break
				}
				select {
				case <-tick.C:
				case <-late:
					t.Fatal("the new file is not used")
				}
			}
		})
	})
}
