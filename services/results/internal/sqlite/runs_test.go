package sqlite_test

import (
	"testing"

	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

func BenchmarkSaveRows(b *testing.B) { storetest.BenchmarkSaveRows(b, sqlitetest.New(b)) }

func BenchmarkReadDistribution(b *testing.B) {
	storetest.BenchmarkReadDistribution(b, sqlitetest.New(b))
}
