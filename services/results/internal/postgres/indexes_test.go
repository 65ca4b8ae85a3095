package postgres_test

import (
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
)

// wantIndexes are the indexes of results and prisms. Each save of a result writes those of results whose condition holds.
func wantIndexes() []string {
	return []string{
		"prisms_ad_hoc", "prisms_pkey", "prisms_slug_key",
		"results_by_failure", "results_by_prism", "results_by_ref", "results_by_run", "results_idempotency_key", "results_pkey",
		"results_retry_of", "results_retryable",
	}
}

func indexes(t *testing.T, url string) []string {
	t.Helper()
	return values[string](t, url, `
SELECT i.indexrelid::regclass::text FROM pg_index i
WHERE i.indrelid IN ('results'::regclass, 'prisms'::regclass) AND i.indisvalid ORDER BY 1`)
}

func TestTheNewestSchemaHasTheseIndexes(t *testing.T) {
	t.Parallel()
	if got := indexes(t, migrated(t)); !slices.Equal(got, wantIndexes()) {
		t.Errorf("got %v, want %v", got, wantIndexes())
	}
}

func TestIndexesAreReplacedOnPartitionedTablesToo(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	server.Template(t, "by account", byAccount)
	url := server.Database(t, "by account")
	migrateTo(t, url, postgres.NextMigration)
	want := wantIndexes()
	want[slices.Index(want, "results_by_ref")] = "results_by_mood"
	slices.Sort(want)
	if got := indexes(t, url); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
