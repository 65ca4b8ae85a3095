package results_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/pkg/testkit/wallclock"
	"github.com/prism-results/prism/services/results"
)

// spec: one-clock, clocks-that-jump
func TestAnIDBeginsWithTheTimeOfPostgres(t *testing.T) {
	t.Parallel()
	server, err := pgtest.Start(t.Context(), pgtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	clock, err := wallclock.TakeOver(server.PID())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = clock.Close() }()
	database, err := server.CreateDatabase(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, ahead := range map[string]time.Duration{"back": -time.Minute, "forward": time.Hour} {
		if err := clock.Set(ahead); err != nil {
			t.Fatal(err)
		}
		cfg := results.Config{DatabaseURL: server.URL(database)}
		s, err := results.Open(t.Context(), cfg, results.Deps{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		const exactness = time.Second
		from := prism.FirstUUID(time.Now().Add(ahead - exactness))
		id, err := s.Operator().CreateAccount(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		to := prism.FirstUUID(time.Now().Add(ahead + exactness))
		if bytes.Compare(id.UUID[:], from[:]) < 0 || bytes.Compare(id.UUID[:], to[:]) > 0 {
			t.Errorf("with a clock set %s, the id is %s, not from %s to %s", name, id, from, to)
		}
	}
}
