package postgres

import (
	"context"
	"database/sql"
)

// addRuns is migration 10: file runs (spec: run-states). A run has a row for each chunk of its file, with a letter for each row of
// the chunk, so that ten million rows are 50,000 rows here. A result of a run has its run and row; other results, and those that
// the previous release saves, have none. The columns do not make Postgres write the rows. Nothing refers to another table, whose
// rows a foreign key would lock.
func addRuns(ctx context.Context, db *sql.DB) error {
	const columns = "ALTER TABLE results ADD COLUMN IF NOT EXISTS run_id uuid, ADD COLUMN IF NOT EXISTS run_row bigint"
	for _, statement := range []string{columns, createRuns, createRunChunks} {
		if err := alter(ctx, db, statement); err != nil {
			return err
		}
	}
	return eachConcurrently(ctx, db,
		"DROP INDEX CONCURRENTLY IF EXISTS results_by_run",
		"CREATE INDEX CONCURRENTLY results_by_run ON results (account_id, run_id, run_row) WHERE run_id IS NOT NULL",
	)
}

const (
	createRuns = `CREATE TABLE IF NOT EXISTS runs (
    account_id      uuid             NOT NULL,
    id              uuid             NOT NULL,
    prism_id        uuid             NOT NULL,
    version         integer          NOT NULL,
    file_id         uuid             NOT NULL,
    name            text             NOT NULL,
    mapping         json             NOT NULL,
    status          text             NOT NULL COLLATE "C",
    reason          text             NOT NULL,
    key_id          uuid             NOT NULL,
    idempotency_key text             COLLATE "C",
    pause_at        double precision NOT NULL,
    rows_per_second double precision NOT NULL,
    concurrency     integer          NOT NULL,
    row_count       bigint           NOT NULL,
    chunks          integer          NOT NULL,
    attempt         integer          NOT NULL,
    retry_from      integer,
    created_at      timestamptz(3)   NOT NULL,
    started_at      timestamptz(3),
    finished_at     timestamptz(3),
    stopped_at      timestamptz(3),
    leased_at       timestamptz(3)   NOT NULL,
    watched_from    timestamptz(3)   NOT NULL,
    folded          integer          NOT NULL DEFAULT 0,
    ok              bigint           NOT NULL DEFAULT 0,
    failed          bigint           NOT NULL DEFAULT 0,
    invalid         bigint           NOT NULL DEFAULT 0,
    cancelled       bigint           NOT NULL DEFAULT 0,
    input_tokens    bigint           NOT NULL DEFAULT 0,
    output_tokens   bigint           NOT NULL DEFAULT 0,
    cost            bigint           NOT NULL DEFAULT 0,
    cost_rest       bigint           NOT NULL DEFAULT 0,
    currency        text             NOT NULL COLLATE "C" DEFAULT '',
    CONSTRAINT runs_pkey PRIMARY KEY (account_id, id),
    CONSTRAINT runs_status_check
        CHECK (status IN ('queued', 'running', 'pausing', 'paused', 'cancelling', 'cancelled', 'finished'))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX IF NOT EXISTS runs_idempotency_key ON runs (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX IF NOT EXISTS runs_by_prism ON runs (account_id, prism_id, id);
CREATE INDEX IF NOT EXISTS runs_by_file ON runs (account_id, file_id) WHERE status NOT IN ('finished', 'cancelled');
CREATE INDEX IF NOT EXISTS runs_under_way ON runs (status) WHERE status IN ('queued', 'running', 'pausing', 'cancelling');
CREATE INDEX IF NOT EXISTS runs_retrying ON runs (account_id, id) WHERE retry_from IS NOT NULL;
CREATE INDEX IF NOT EXISTS runs_folding ON runs (account_id, id) WHERE folded < chunks;
COMMENT ON COLUMN runs.folded IS 'the chunks below this number have all outcomes and no lease; ok to currency are their sums'`

	createRunChunks = `CREATE TABLE IF NOT EXISTS run_chunks (
    account_id    uuid           NOT NULL,
    run_id        uuid           NOT NULL,
    number        integer        NOT NULL,
    first_row     bigint         NOT NULL,
    row_count     integer        NOT NULL,
    attempt       integer        NOT NULL,
    states        text           NOT NULL COLLATE "C",
    pending       integer        NOT NULL,
    ok            integer        NOT NULL,
    failed        integer        NOT NULL,
    invalid       integer        NOT NULL,
    cancelled     integer        NOT NULL,
    messages      json,
    outcomes      text           NOT NULL COLLATE "C",
    saved_at      timestamptz(3),
    begun_at      timestamptz(3),
    token         uuid,
    leased_until  timestamptz(3),
    granted       integer        NOT NULL,
    input_tokens  bigint         NOT NULL,
    output_tokens bigint         NOT NULL,
    cost          bigint         NOT NULL,
    cost_rest     bigint         NOT NULL,
    currency      text           NOT NULL COLLATE "C",
    CONSTRAINT run_chunks_pkey PRIMARY KEY (account_id, run_id, number),
    CONSTRAINT run_chunks_states_check
        CHECK (pending + ok + failed + invalid + cancelled = row_count AND length(states) = row_count),
    CONSTRAINT run_chunks_lease_check CHECK ((token IS NULL) = (leased_until IS NULL))
);
COMMENT ON COLUMN run_chunks.states IS 'a letter for each row: pending, pending after the lease (q), ok, failed, invalid, cancelled';
COMMENT ON COLUMN run_chunks.outcomes IS 'of the last rows: milliseconds since 1970 and then the letters that were saved at that time';
CREATE INDEX IF NOT EXISTS run_chunks_pending ON run_chunks (account_id, run_id, number) WHERE pending > 0;
CREATE INDEX IF NOT EXISTS run_chunks_leased ON run_chunks (account_id, run_id, number) WHERE token IS NOT NULL;
CREATE INDEX IF NOT EXISTS run_chunks_counted ON run_chunks (account_id, run_id, number)
    WHERE pending < row_count OR saved_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS run_chunks_failed ON run_chunks (account_id, run_id, saved_at) WHERE failed > 0;
CREATE INDEX IF NOT EXISTS run_chunks_saved ON run_chunks (account_id, run_id, saved_at) WHERE saved_at IS NOT NULL`
)

// dropRuns undoes addRuns.
func dropRuns(ctx context.Context, db *sql.DB) error {
	if err := eachConcurrently(ctx, db, "DROP INDEX CONCURRENTLY IF EXISTS results_by_run"); err != nil {
		return err
	}
	return alter(ctx, db, "DROP TABLE IF EXISTS run_chunks, runs; "+
		"ALTER TABLE results DROP COLUMN IF EXISTS run_id, DROP COLUMN IF EXISTS run_row")
}
