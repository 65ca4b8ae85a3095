package pgtest

import (
	"context"
	"path"
	"strings"
	"testing"
)

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
		if err := s.exec(t.Context(), append(closed, statements...)...); err != nil {
			t.Fatalf("pgtest: %v", err)
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
