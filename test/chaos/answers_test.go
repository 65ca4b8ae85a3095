package chaos

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/test/internal/load"
)

// chartLimit is the memory limit that the chart gives to a service, in bytes.
func chartLimit(t *testing.T, service string) int64 {
	t.Helper()
	text, err := os.ReadFile("../../charts/prism/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	type values struct {
		Resources struct{ Limits struct{ Memory string } }
	}
	all := map[string]any{}
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{service, "defaults"} {
		var v values
		part, err := yaml.Marshal(all[name])
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(part, &v); err != nil {
			t.Fatal(err)
		}
		if v.Resources.Limits.Memory != "" {
			limit := resource.MustParse(v.Resources.Limits.Memory)
			return limit.Value()
		}
	}
	t.Fatalf("the chart has no memory limit for %s", service)
	return 0
}

// huge are answers that are nearly as large as one to a question may be, by what they would become in memory. Those behind the first
// never end.
func huge() []http.HandlerFunc {
	many := func(before, part, after string) string {
		return before + strings.TrimSuffix(strings.Repeat(part+",", (500<<10)/(len(part)+1)), ",") + after
	}
	choices, likely := many(`{"choices":[`, `{}`, `]}`), many(`{"choices":[{"logprobs":{"content":[{"top_logprobs":[`, `{"token":"x"}`, ``)
	hang := func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	return []http.HandlerFunc{
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, choices) },
		func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, likely)
			hang(w, r)
		},
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, likely)
			_ = z.Flush()
			hang(w, r)
		},
		func(w http.ResponseWriter, r *http.Request) {
			for i := range 2000 {
				w.Header().Add(fmt.Sprintf("X%d", i), "y")
			}
			hang(w, r)
		},
	}
}

// A model that answers each of 64 questions with half a MiB takes what model-proxy has for answers from nobody but the account
// that asks it.
//
// spec: answer-budget, overload
func TestHugeAnswersOfAModelStayWithinTheMemory(t *testing.T) {
	const asks, questions = 32, 64
	ctx, cancel := context.WithTimeout(t.Context(), startBudget)
	defer cancel()
	good := model.New(nil)
	t.Cleanup(good.Close)
	answers, n := huge(), atomic.Int64{}
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the caller has left
		i := n.Add(1)
		if strings.HasPrefix(r.URL.Path, "/ends") {
			i = 0
		} else if i %= int64(len(answers)); i == 0 {
			i = 1
		}
		answers[i](w, r)
	}))
	t.Cleanup(hostile.Close)
	file := filepath.Join(t.TempDir(), "models.yaml")
	text := fmt.Sprintf("default: good\nmodels:\n  - {name: good, provider: systemone, base_url: %s}\n"+
		"  - {name: ends, provider: openai-chat, model: m, base_url: %[2]s/ends}\n  - {name: hangs, provider: openai-chat, model: m, base_url: %[2]s}\n",
		good.BaseURL(), hostile.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	service, err := launch.Options{Env: map[string]string{"PRISM_LOG_LEVEL": "error"}}.Service(ctx, launch.ModelProxy,
		map[string]string{"PRISM_MODELS_FILE": file, "PRISM_MODEL_PROXY_TOKEN": launch.ModelsToken})
	if err != nil {
		t.Fatal(err)
	}
	c := &confined{services: []*launch.Service{service}}
	c.confine(t, each(chartLimit(t, "modelProxy")), good)
	if err := service.Start(ctx); err != nil {
		t.Fatal(err)
	}
	tokens, err := wire.ModelsTokens{List: []string{launch.ModelsToken}}.Open(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	models, err := wire.NewModels(wire.ClientConfig{URL: service.URL(), Tokens: tokens}, wire.ClientDeps{})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(account, model string, questions int) (contract.Outcome, error) {
		a := contract.Ask{Definition: prism.Definition{Model: model}, Fields: []prism.FieldValue{{Key: "message", Value: "hello"}}}
		for q := range questions {
			a.Definition.Questions = append(a.Definition.Questions, prism.Question{Key: fmt.Sprintf("q%d", q), Type: prism.YesNo, Text: "Is it?"})
		}
		ctx, cancel := context.WithTimeout(t.Context(), contract.ModelWait+5*time.Second)
		defer cancel()
		return models.Ask(fair.With(ctx, account), a)
	}
	onceOf(t, func() (late string) {
		var attack sync.WaitGroup
		for i := range asks {
			attack.Go(func() {
				if out, err := ask("hostile", []string{"ends", "hangs"}[min(i%4, 1)], questions); err == nil && !out.Failed() {
					t.Errorf("an answer of a hostile model: %+v", out)
				}
			})
		}
		over := make(chan struct{})
		go func() { attack.Wait(); close(over) }()
		for calls := 1; ; calls++ {
			if out, err := ask("quiet", "good", 1); err != nil || out.Failed() {
				late = fmt.Sprintf("call %d of another account: %q, %v", calls, out.Error, err)
			}
			select {
			case <-over:
				t.Logf("%d answers of the hostile model, %d calls of another account", n.Load(), calls)
				return late
			default:
				load.Wait(t.Context(), 20*time.Millisecond)
			}
		}
	})
	c.alive(t)
}
