package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner(m)) }

func TestStore(t *testing.T) {
	t.Parallel()
	database := reused(t, "store", postgres.Migrate)
	storetest.Run(t, func(t *testing.T) sqlstore.Store {
		t.Helper()
		url := database(t)
		return deleting{open(t, url), connect(t, url)}
	})
}

// deleting is a store whose results can be deleted.
type deleting struct {
	*postgres.Store
	conn *pgx.Conn
}

func (d deleting) DeleteSome(ctx context.Context, account prism.AccountID) error {
	_, err := d.conn.Exec(ctx, "DELETE FROM results WHERE account_id = $1 AND right(id::text, 1) IN ('0', '3', '6', '9', 'c', 'f')", account.UUID)
	return err
}

// migrated is the URL of a new database.
func migrated(t *testing.T) string {
	t.Helper()
	server := pgtest.Shared(t)
	server.Template(t, "store", postgres.Migrate)
	return server.Database(t, "store")
}

func open(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url}, postgres.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
