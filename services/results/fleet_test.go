package results

import (
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/postgres"
)

// BenchmarkFleetDatabases measures what a process takes for each of many databases, before it connects to them.
func BenchmarkFleetDatabases(b *testing.B) {
	const many = 100
	var all []Database
	for n := range many {
		all = append(all, Database{fmt.Sprintf("database-%d", n), Config{DatabaseURL: fmt.Sprintf("postgres://prism@127.0.0.1:1/d%d?sslmode=disable", n)}})
	}
	for b.Loop() {
		before := heap()
		s, err := openSeveral(b.Context(), all, Deps{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(heap()-before)/many/(1<<10), "KiB/database")
		b.ReportMetric(float64(share(postgres.DefaultMaxConns, many)), "connections/database")
		s.Close()
	}
}

// BenchmarkFleetFill measures how long a process takes to read a directory of home, by key.
func BenchmarkFleetFill(b *testing.B) {
	accounts := 1_000_000
	if testing.Short() {
		accounts = 1000
	}
	server := pgtest.Shared(b)
	server.Template(b, "store", postgres.Migrate)
	url := server.Database(b, "store")
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	for _, statement := range []string{
		`INSERT INTO directory_accounts (account_id, name, database, made)
SELECT md5(n::text)::uuid, 'account-' || n, 'database-' || n % 100, true FROM generate_series(1, $1::int) AS n`,
		`INSERT INTO directory_keys (digest, account_id)
SELECT sha256(convert_to(n || '-' || k, 'UTF8')), md5(n::text)::uuid FROM generate_series(1, $1::int) AS n, generate_series(1, 2) AS k`,
		`ANALYZE directory_accounts, directory_keys`,
	} {
		var args []any
		if strings.Contains(statement, "$1") {
			args = append(args, accounts)
		}
		if _, err := conn.Exec(b.Context(), statement, args...); err != nil {
			b.Fatal(err)
		}
	}
	if err := conn.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	pg, err := postgres.Open(b.Context(), postgres.Config{URL: url}, postgres.Deps{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pg.Close)
	for b.Loop() {
		c := directory.NewCached(directory.SQL{Database: pg.Database}, 4*accounts)
		began := time.Now()
		read, err := c.Fill(b.Context())
		if err != nil || read != 2*accounts {
			b.Fatal(read, err)
		}
		b.ReportMetric(time.Since(began).Seconds()/float64(read)*1e6, "µs/key")
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
