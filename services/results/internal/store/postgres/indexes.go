package postgres

import (
	"context"
	"database/sql"
	"strings"
)

// listByID is migration 2. Lists and exports are ordered by id, which begins with its time of creation. So the primary
// keys serve the lists of all results and of all prisms, and a save writes one index less.
//
// Calls go on meanwhile: the indexes are built concurrently, and the old ones are dropped last. Each statement can be
// repeated after an interruption, which may leave an invalid index behind. The previous release's statements work without
// the old indexes; its lists are slower.
func listByID(ctx context.Context, db *sql.DB) error {
	return eachConcurrently(ctx, db,
		"DROP INDEX CONCURRENTLY IF EXISTS results_by_prism",
		"CREATE INDEX CONCURRENTLY results_by_prism ON results (account_id, prism_id, id)",
		"DROP INDEX CONCURRENTLY IF EXISTS results_by_ref",
		"CREATE INDEX CONCURRENTLY results_by_ref ON results (account_id, ref, id) WHERE ref IS NOT NULL",
		"DROP INDEX CONCURRENTLY IF EXISTS results_by_failure",
		"CREATE INDEX CONCURRENTLY results_by_failure ON results (account_id, id) WHERE status = 'failed'",
		"DROP INDEX CONCURRENTLY IF EXISTS results_newest",
		"DROP INDEX CONCURRENTLY IF EXISTS results_of_prism",
		"DROP INDEX CONCURRENTLY IF EXISTS results_of_ref",
		"DROP INDEX CONCURRENTLY IF EXISTS results_failed",
		"DROP INDEX CONCURRENTLY IF EXISTS prisms_newest",
	)
}

// listByTime undoes listByID.
func listByTime(ctx context.Context, db *sql.DB) error {
	return eachConcurrently(ctx, db,
		"DROP INDEX CONCURRENTLY IF EXISTS results_newest",
		"CREATE INDEX CONCURRENTLY results_newest ON results (account_id, created_at, id)",
		"DROP INDEX CONCURRENTLY IF EXISTS results_of_prism",
		"CREATE INDEX CONCURRENTLY results_of_prism ON results (account_id, prism_id, created_at, id)",
		"DROP INDEX CONCURRENTLY IF EXISTS results_of_ref",
		"CREATE INDEX CONCURRENTLY results_of_ref ON results (account_id, ref, created_at, id) WHERE ref IS NOT NULL",
		"DROP INDEX CONCURRENTLY IF EXISTS results_failed",
		"CREATE INDEX CONCURRENTLY results_failed ON results (account_id, created_at, id) WHERE status = 'failed'",
		"DROP INDEX CONCURRENTLY IF EXISTS prisms_newest",
		"CREATE INDEX CONCURRENTLY prisms_newest ON prisms (account_id, created_at, id)",
		"DROP INDEX CONCURRENTLY IF EXISTS results_by_prism",
		"DROP INDEX CONCURRENTLY IF EXISTS results_by_ref",
		"DROP INDEX CONCURRENTLY IF EXISTS results_by_failure",
	)
}

// eachConcurrently executes statements outside of a transaction. Postgres can't build an index of a partitioned table
// concurrently, so if results is partitioned the statements lock their table.
func eachConcurrently(ctx context.Context, db *sql.DB, statements ...string) error {
	var partitioned bool
	const query = "SELECT relkind = 'p' FROM pg_class WHERE oid = 'results'::regclass"
	if err := db.QueryRowContext(ctx, query).Scan(&partitioned); err != nil {
		return err
	}
	for _, statement := range statements {
		if partitioned {
			statement = strings.Replace(statement, " CONCURRENTLY", "", 1)
		}
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
