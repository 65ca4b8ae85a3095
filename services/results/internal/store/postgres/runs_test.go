package postgres_test

import (
	"testing"

	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/store/postgres"
	"github.com/prism-results/prism/services/results/internal/store/storetest"
)

func BenchmarkSaveRows(b *testing.B) {
	server := pgtest.Shared(b)
	server.Template(b, "store", postgres.Migrate)
	storetest.BenchmarkSaveRows(b, open(b, server.Database(b, "store")))
}
