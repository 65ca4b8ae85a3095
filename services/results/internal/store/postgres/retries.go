package postgres

import (
	"context"
	"database/sql"
)

// addRetries is migration 12: retries of many results (spec: retry-many). A retry has a row until all its results had their turn,
// and a row for each chunk of at most 200 results of one version: their ids one after the other, and a letter for the state of each.
// Ids are not compressed, which would save nothing. The index finds what can be retried, and counts it without reading the results.
// The previous release works without the tables, and ends a lease of them that it is asked to renew.
func addRetries(ctx context.Context, db *sql.DB) error {
	for _, statement := range []string{createRetries, createRetryChunks} {
		if err := alter(ctx, db, statement); err != nil {
			return err
		}
	}
	return eachConcurrently(ctx, db,
		"DROP INDEX CONCURRENTLY IF EXISTS results_retryable",
		"CREATE INDEX CONCURRENTLY results_retryable ON results (account_id, prism_id, id) INCLUDE (version, created_at) "+
			"WHERE status = 'failed' AND retried_by IS NULL",
	)
}

const (
	createRetries = `CREATE TABLE IF NOT EXISTS retries (
    account_id uuid           NOT NULL,
    prism_id   uuid           NOT NULL,
    id         uuid           NOT NULL,
    key_id     uuid           NOT NULL,
    leased_at  timestamptz(3) NOT NULL,
    CONSTRAINT retries_pkey PRIMARY KEY (account_id, prism_id),
    CONSTRAINT retries_id UNIQUE (account_id, id)
) WITH (fillfactor = 70)`

	createRetryChunks = `CREATE TABLE IF NOT EXISTS retry_chunks (
    account_id   uuid           NOT NULL,
    retry_id     uuid           NOT NULL,
    number       integer        NOT NULL,
    version      integer        NOT NULL,
    ids          bytea          NOT NULL,
    states       text           NOT NULL COLLATE "C",
    pending      integer        NOT NULL,
    begun_at     timestamptz(3),
    token        uuid,
    leased_until timestamptz(3),
    CONSTRAINT retry_chunks_pkey PRIMARY KEY (account_id, retry_id, number),
    CONSTRAINT retry_chunks_ids_check CHECK (length(ids) = 16 * length(states)),
    CONSTRAINT retry_chunks_lease_check CHECK ((token IS NULL) = (leased_until IS NULL))
);
ALTER TABLE retry_chunks ALTER COLUMN ids SET STORAGE EXTERNAL;
COMMENT ON COLUMN retry_chunks.states IS 'a letter for each id: pending, or done';
CREATE INDEX IF NOT EXISTS retry_chunks_leased ON retry_chunks (account_id, retry_id, number) WHERE token IS NOT NULL`
)

// dropRetries undoes addRetries.
func dropRetries(ctx context.Context, db *sql.DB) error {
	if err := eachConcurrently(ctx, db, "DROP INDEX CONCURRENTLY IF EXISTS results_retryable"); err != nil {
		return err
	}
	return alter(ctx, db, "DROP TABLE IF EXISTS retry_chunks, retries")
}
