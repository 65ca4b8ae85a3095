package postgres_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/testkit/metrictest"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

func TestThePoolIsMeasured(t *testing.T) {
	t.Parallel()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: migrated(t), MaxConns: 3}, postgres.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	reg := prometheus.NewRegistry()
	if err := s.Measure(reg); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := metrictest.Values(t, reg)
	for name, want := range map[string]float64{
		"prism_postgres_connections_max":         3,
		"prism_postgres_connections acquired":    0,
		"prism_postgres_connections idle":        1,
		"prism_postgres_connections connecting":  0,
		"prism_postgres_acquires_total":          1,
		"prism_postgres_acquires_canceled_total": 0,
		"prism_postgres_acquire_waits_total":     1, // for its first connection
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %v, want %v", name, value, want)
		}
	}
	if got["prism_postgres_acquire_wait_seconds_total"] <= 0 {
		t.Errorf("the wait took no time: %v", got)
	}
	if s.Measure(reg) == nil {
		t.Error("two pools under one name")
	}
}

// spec: fair-connections
func TestAccountsShareTheConnections(t *testing.T) {
	t.Parallel()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: migrated(t), MaxConns: 4}, postgres.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	reg := prometheus.NewRegistry()
	if err := s.Measure(reg); err != nil {
		t.Fatal(err)
	}
	storetest.Share(t, s, 4, s.Waiting)
	got := metrictest.Values(t, reg)
	if n := got["prism_postgres_acquires_canceled_total"]; n != 1 {
		t.Errorf("%v statements gave up, want 1", n)
	}
	// The 4 that waited for a place, and those for which a connection was opened.
	if n := got["prism_postgres_acquire_waits_total"]; n < 5 {
		t.Errorf("%v statements waited", n)
	}
}
