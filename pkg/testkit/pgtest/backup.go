package pgtest

import (
	"context"
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// objectInUse is Postgres's code for a database that others use: nothing was done.
const objectInUse = "55006"

// Backup copies the database at a URL that Database returned. restore puts the copy in the place of the database, under the same URL. Both close
// the connections to it.
func (s *Server) Backup(t testing.TB, url string) (restore func()) {
	t.Helper()
	location, _, _ := strings.Cut(url, "?")
	name := path.Base(location)
	backup := name + "_backup"
	do := func(statements ...string) {
		t.Helper()
		closed := []string{
			"ALTER DATABASE " + quote(name) + " ALLOW_CONNECTIONS false",
			"SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '" + name + "'",
		}
		for {
			err := s.exec(t.Context(), append(closed, statements...)...)
			if refusal, is := errors.AsType[*pgconn.PgError](err); is && refusal.Code == objectInUse {
				continue // somebody was just connecting, and is there now
			}
			if err != nil {
				t.Fatalf("pgtest: %v", err)
			}
			return
		}
	}
	t.Cleanup(func() {
		if err := s.DropDatabase(context.WithoutCancel(t.Context()), backup); err != nil {
			t.Logf("pgtest: a database is left: %v", err)
		}
	})
	do("CREATE DATABASE "+quote(backup)+" TEMPLATE "+quote(name), "ALTER DATABASE "+quote(name)+" ALLOW_CONNECTIONS true")
	return func() {
		t.Helper()
		do("DROP DATABASE "+quote(name), "CREATE DATABASE "+quote(name)+" TEMPLATE "+quote(backup))
	}
}
