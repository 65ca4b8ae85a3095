package postgres_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
)

// spec: databases-commands
func TestTheStateOfADatabaseIsWhatItsServerSays(t *testing.T) {
	t.Parallel()
	direct := migrated(t)
	exec(t, direct, `DO $$ BEGIN
		IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'state_reader') THEN CREATE ROLE state_reader LOGIN; END IF;
	END $$; GRANT SELECT ON goose_db_version TO state_reader`)
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("state_reader")
	empty := pgtest.Shared(t).Database(t, "")
	for name, c := range map[string]struct {
		url       string
		migration int64
	}{
		"directly":               {direct, postgres.NewestMigration},
		"through PgBouncer":      {through(t, lender(t, pgtest.Shared(t), "1"), direct) + unprepared, postgres.NewestMigration},
		"as a role without much": {u.String(), postgres.NewestMigration},
		"without tables":         {empty, 0},
	} {
		s, err := open(t, c.url).State(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Migration != c.migration || s.Plain {
			t.Errorf("%s: %+v", name, s)
		}
		if s.Number < 90000 || s.Version == "" || s.Bytes < 1<<20 || len(s.Losses) != 1 {
			t.Errorf("%s: %+v", name, s)
		}
		if apart := s.Ahead.Abs(); apart > time.Second+s.Took {
			t.Errorf("%s: the clock of this machine is %s from itself", name, apart)
		}
	}
}
