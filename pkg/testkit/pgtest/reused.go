package pgtest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// emptyTables empties all tables that have a row, except that of migrations.
const emptyTables = `DO $$
DECLARE
	name text;
	filled boolean;
	used text[] := '{}';
BEGIN
	FOR name IN SELECT oid::regclass FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
		AND NOT relispartition AND relname <> 'goose_db_version'
	LOOP
		EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || name || ')' INTO filled;
		IF filled THEN
			used := used || name;
		END IF;
	END LOOP;
	IF used <> '{}' THEN
		EXECUTE 'TRUNCATE ' || array_to_string(used, ', ') || ' CASCADE';
	END IF;
END $$`

// Reused returns a function that gives the URL of an empty database of a template to a subtest of t, and empties the database after the
// subtest for the next one: making one takes longer than most tests. The template has no rows.
func (s *Server) Reused(t testing.TB, template string) func(testing.TB) string {
	t.Helper()
	free := &stack{}
	return func(sub testing.TB) string {
		sub.Helper()
		url, found := free.pop()
		if !found {
			url = s.Database(t, template)
		}
		sub.Cleanup(func() {
			if err := empty(context.WithoutCancel(sub.Context()), url); err != nil {
				sub.Error(err)
				return
			}
			free.push(url)
		})
		return url
	}
}

func empty(ctx context.Context, url string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, databaseBudget)
	defer cancel()
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, emptyTables).ReadAll()
	return err
}

type stack struct {
	mu   sync.Mutex
	urls []string
}

func (s *stack) push(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.urls = append(s.urls, url)
}

func (s *stack) pop() (url string, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.urls) == 0 {
		return "", false
	}
	last := len(s.urls) - 1
	url, s.urls = s.urls[last], s.urls[:last]
	return url, true
}
