package chaos

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/wallclock"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/upstream"
)

// TestRowsLearnOfCallsWhateverTheClockSays sets the wall clock of model-proxy between a call and the rows that follow. A row that
// follows within half a second learns that calls come, and later rows do not.
// spec: run-yields, clocks-that-jump
func TestRowsLearnOfCallsWhateverTheClockSays(t *testing.T) {
	t.Parallel()
	const learning = 500 * time.Millisecond
	s := startSystem(t, system.Config{Flags: shipped, Forgetful: true})
	clock, err := wallclock.TakeOver(s.Models.Process().PID())
	if err != nil {
		t.Fatal(err)
	}
	defer clock.Close()
	ask := asker(t, s)
	for name, ahead := range map[string]time.Duration{"an hour back": -time.Hour, "an hour forward": time.Hour} {
		for late := true; late; {
			if err := clock.Set(0); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			ask(false)
			if err := clock.Set(ahead); err != nil {
				t.Fatal(err)
			}
			learned := ask(true)
			if late = time.Since(began) >= learning; !late && !learned {
				t.Errorf("VIOLATION: %s: the row after a call learns of no call", name)
			}
		}
		for ends := time.Now().Add(recoveryBudget); ask(true); {
			if time.Now().After(ends) {
				t.Fatalf("VIOLATION: %s: rows still learn of a call %s after it", name, recoveryBudget)
			}
		}
	}
}

// asker asks model-proxy for a call, or for a row of a run, and returns whether calls come.
func asker(t *testing.T, s *system.System) func(background bool) (callsCome bool) {
	t.Helper()
	tokens, err := wire.ModelsTokens{List: []string{launch.ModelsToken}}.Open(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	models, err := wire.NewModels(wire.ClientConfig{URL: s.Models.URL(), Tokens: tokens}, wire.ClientDeps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(models.Close)
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	t.Cleanup(cancel)
	question := prism.Question{Key: "urgent", Type: prism.YesNo, Text: "Is it urgent?"}
	return func(background bool) bool {
		outcome, err := models.Ask(ctx, contract.Ask{
			Definition: prism.Definition{Fields: []prism.Field{{Key: "message"}}, Questions: []prism.Question{question}},
			Fields:     []prism.FieldValue{{Key: "message", Value: upstream.Tag{Race: 1}.String()}},
			Background: background,
		})
		if err != nil || outcome.Error != "" {
			t.Fatalf("VIOLATION: model-proxy answers %q, %v", outcome.Error, err)
		}
		return outcome.CallsCome
	}
}
