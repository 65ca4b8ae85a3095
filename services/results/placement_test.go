package results

import (
	"crypto/sha256"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
)

// The test counts the allocations of the process, so no other one runs beside it.
//
// spec: placement
func TestTheOnlyDatabaseIsFoundWithoutAStatementOrAnAllocation(t *testing.T) {
	metrics := prometheus.NewRegistry()
	s, err := Open(t.Context(), Config{DataDir: t.TempDir()}, Deps{Metrics: metrics, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	account, err := s.Operator().CreateAccount(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.Operator().CreateKey(t.Context(), account, "a key", prism.Editor)
	if err != nil {
		t.Fatal(err)
	}
	key := contract.KeyDigest(sha256.Sum256([]byte(text)))
	for name, call := range map[string]func(contract.Results) error{
		"Account": func(r contract.Results) error {
			_, err := r.Account(t.Context(), key)
			return err
		},
		"CreateFacts": func(r contract.Results) error {
			_, err := r.CreateFacts(t.Context(), contract.CreateQuery{Key: key, Prism: prism.Ref{Slug: "none"}})
			return err
		},
		"Do": func(r contract.Results) error {
			_, err := contract.Do(t.Context(), r, key, api.ReadAccount, api.ReadAccountRequest{})
			return err
		},
		"Save": func(r contract.Results) error {
			_, err := r.Save(t.Context(), contract.Save{Account: account})
			if err == nil {
				return errors.New("a result without a prism was saved")
			}
			return nil
		},
	} {
		measure := func(r contract.Results) (allocations, statements float64) {
			const runs = 100
			before := statementsOf(t, metrics)
			allocations = testing.AllocsPerRun(runs, func() {
				if err := call(r); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
			return allocations, (statementsOf(t, metrics) - before) / (runs + 1)
		}
		// The least of some rounds has nothing of what else the process does. A busy machine needs more of them.
		const leastRounds, mostRounds = 3, 30
		allocations, placedAllocations := math.Inf(1), math.Inf(1)
		for round := 0; round < leastRounds || round < mostRounds && placedAllocations > allocations; round++ {
			alone, statements := measure(s.placed.home().service)
			placed, placedStatements := measure(s.Results)
			allocations, placedAllocations = min(allocations, alone), min(placedAllocations, placed)
			if placedStatements != statements || statements == 0 {
				t.Errorf("%s: %v statements, and %v without the placement", name, placedStatements, statements)
			}
		}
		if placedAllocations > allocations {
			t.Errorf("%s: %v allocations, and %v without the placement", name, placedAllocations, allocations)
		}
	}
}

// statementsOf is how many operations of the store there were.
func statementsOf(t *testing.T, metrics prometheus.Gatherer) (n float64) {
	t.Helper()
	for series, value := range metrictest.Values(t, metrics) {
		if strings.HasPrefix(series, "prism_store_operation_duration_seconds ") {
			n += value
		}
	}
	return n
}
