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
		const runs, times = 100, 3
		measure := func(r contract.Results) (allocations, statements float64) {
			allocations = math.Inf(1)
			before := statementsOf(t, metrics)
			for range times { // the least has nothing of what else the process does
				allocations = min(allocations, testing.AllocsPerRun(runs, func() {
					if err := call(r); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}))
			}
			return allocations, (statementsOf(t, metrics) - before) / times / (runs + 1)
		}
		allocations, statements := measure(s.placed.home().service)
		placedAllocations, placedStatements := measure(s.Results)
		if placedAllocations > allocations || placedStatements != statements || statements == 0 {
			t.Errorf("%s: %v allocations and %v statements, and %v and %v without the placement",
				name, placedAllocations, placedStatements, allocations, statements)
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
