package results_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/services/results"
)

// spec: shared-in-a-database
func TestMetricsNameTheDatabase(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry()
	s, err := results.Open(t.Context(), results.Config{DataDir: t.TempDir()}, results.Deps{Metrics: metrics, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Ready(t.Context()); err != nil { // which has the store measure something
		t.Fatal(err)
	}
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range families {
		seen[f.GetName()] = true
		for _, m := range f.GetMetric() {
			database := ""
			for _, l := range m.GetLabel() {
				if l.GetName() == "database" {
					database = l.GetValue()
				}
			}
			if database != "home" && f.GetName() != "prism_credential_renewals_total" { // of the process
				t.Errorf("%s has the database %q", f.GetName(), database)
			}
		}
	}
	for _, name := range strings.Fields("prism_store_operation_duration_seconds prism_store_writable prism_places_taken prism_deletion_jobs prism_run_queue_runs") {
		if !seen[name] {
			t.Errorf("there is no %s", name)
		}
	}
}
