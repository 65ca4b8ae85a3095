package postgres

import (
	"context"
	"database/sql"
)

// The index of results (spec: result-index): hashes of their words and of what is known of them, and the numbers of their answers, each in
// four bytes that sort as it does. A result that is deleted is taken out in the same transaction.
//
// index_cursors has for each account the last change that is indexed, and the id from which on older results are; null: all of them. An
// account without a row was made later, so that all of its results have changes.
const (
	createIndex = `CREATE TABLE IF NOT EXISTS result_index (
    account_id uuid      NOT NULL,
    result_id  uuid      NOT NULL,
    version    integer   NOT NULL,
    terms      integer[] NOT NULL,
    numbers    bytea     NOT NULL,
    CONSTRAINT result_index_pkey PRIMARY KEY (account_id, result_id)
);
CREATE INDEX IF NOT EXISTS result_index_terms ON result_index USING gin (terms);
CREATE TABLE IF NOT EXISTS index_cursors (
    account_id uuid   NOT NULL,
    seq        bigint NOT NULL,
    old        uuid,
    CONSTRAINT index_cursors_pkey PRIMARY KEY (account_id)
)`

	// The writer of the index locks the results that it indexes, so a result that is deleted is in the index before, or never.
	unindexResults = `EXECUTE format($f$CREATE OR REPLACE FUNCTION unindex_results() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
    DELETE FROM %I.result_index i USING removed r WHERE i.account_id = r.account_id AND i.result_id = r.id;
    RETURN NULL;
END $t$
$f$, current_schema());
DROP TRIGGER IF EXISTS unindex_results ON results;
CREATE TRIGGER unindex_results AFTER DELETE ON results REFERENCING OLD TABLE AS removed FOR EACH STATEMENT
	EXECUTE FUNCTION unindex_results()`

	startCursors = `INSERT INTO index_cursors (account_id, seq, old)
SELECT account_id, seq, 'ffffffff-ffff-ffff-ffff-ffffffffffff' FROM change_counts
ON CONFLICT (account_id) DO NOTHING`
)

// makeIndex makes the index, without rows.
func makeIndex(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, createIndex); err != nil {
		return err
	}
	if err := changeTables(ctx, db, unindexResults); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, startCursors)
	return err
}

// countTerms has Postgres keep how many results have each of ten times as many terms, and so take one that it does not know for ten times as
// rare: few results have most of the words that are searched for.
func countTerms(ctx context.Context, db *sql.DB) error {
	return changeTables(ctx, db, "ALTER TABLE result_index ALTER COLUMN terms SET STATISTICS 1000")
}

// searchDeletions adds the deletions of what a search finds (spec: search-of-all): its words and conditions, and when such a job is due. For
// the release before, which would delete what they leave out, the job is never due.
func searchDeletions(ctx context.Context, db *sql.DB) error {
	return changeTables(ctx, db, `ALTER TABLE deletions ADD COLUMN IF NOT EXISTS search text COLLATE "C",
	ADD COLUMN IF NOT EXISTS search_due_at timestamptz(3);
CREATE INDEX IF NOT EXISTS deletions_search_due ON deletions (search_due_at) WHERE search_due_at IS NOT NULL`)
}

// indexExpiringKeys finds the keys that end soon without a look at all others (spec: event-types).
func indexExpiringKeys(ctx context.Context, db *sql.DB) error {
	return eachConcurrently(ctx, db, "DROP INDEX CONCURRENTLY IF EXISTS api_keys_expiring",
		"CREATE INDEX CONCURRENTLY api_keys_expiring ON api_keys (expires_at) WHERE session_id IS NULL AND revoked_at IS NULL AND expires_at IS NOT NULL")
}
