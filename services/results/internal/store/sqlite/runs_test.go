package sqlite_test

import (
	"testing"

	"github.com/prism-results/prism/services/results/internal/store/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/store/storetest"
)

func BenchmarkSaveRows(b *testing.B) { storetest.BenchmarkSaveRows(b, sqlitetest.New(b)) }
