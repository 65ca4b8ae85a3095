-- File runs (spec: run-states). A run has a row for each chunk of its file, with a letter for each row of the chunk, so that ten
-- million rows are 50,000 rows here. A result of a run has its run and row; other results have none.

-- +goose Up
ALTER TABLE results ADD COLUMN run_id BLOB;
ALTER TABLE results ADD COLUMN run_row INTEGER;
CREATE INDEX results_by_run ON results (account_id, run_id, run_row) WHERE run_id IS NOT NULL;

CREATE TABLE runs (
    account_id      BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    prism_id        BLOB    NOT NULL,
    version         INTEGER NOT NULL,
    file_id         BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    mapping         BLOB    NOT NULL,
    status          TEXT    NOT NULL
        CHECK (status IN ('queued', 'running', 'pausing', 'paused', 'cancelling', 'cancelled', 'finished')),
    reason          TEXT    NOT NULL,
    key_id          BLOB    NOT NULL,
    idempotency_key TEXT,
    pause_at        REAL    NOT NULL,
    rows_per_second REAL    NOT NULL,
    concurrency     INTEGER NOT NULL,
    row_count       INTEGER NOT NULL,
    chunks          INTEGER NOT NULL,
    attempt         INTEGER NOT NULL,
    retry_from      INTEGER,
    created_at      INTEGER NOT NULL,
    started_at      INTEGER,
    finished_at     INTEGER,
    stopped_at      INTEGER,
    leased_at       INTEGER NOT NULL,
    watched_from    INTEGER NOT NULL,
    folded          INTEGER NOT NULL DEFAULT 0, -- the chunks below this number have all outcomes and no lease; their sums follow
    ok              INTEGER NOT NULL DEFAULT 0,
    failed          INTEGER NOT NULL DEFAULT 0,
    invalid         INTEGER NOT NULL DEFAULT 0,
    cancelled       INTEGER NOT NULL DEFAULT 0,
    input_tokens    INTEGER NOT NULL DEFAULT 0,
    output_tokens   INTEGER NOT NULL DEFAULT 0,
    cost            INTEGER NOT NULL DEFAULT 0,
    cost_rest       INTEGER NOT NULL DEFAULT 0,
    currency        TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX runs_idempotency_key ON runs (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX runs_by_prism ON runs (account_id, prism_id, id);
CREATE INDEX runs_by_file ON runs (account_id, file_id) WHERE status NOT IN ('finished', 'cancelled');
CREATE INDEX runs_under_way ON runs (status) WHERE status IN ('queued', 'running', 'pausing', 'cancelling');
CREATE INDEX runs_retrying ON runs (account_id, id) WHERE retry_from IS NOT NULL;
CREATE INDEX runs_folding ON runs (account_id, id) WHERE folded < chunks;

CREATE TABLE run_chunks (
    account_id    BLOB    NOT NULL,
    run_id        BLOB    NOT NULL,
    number        INTEGER NOT NULL,
    first_row     INTEGER NOT NULL,
    row_count     INTEGER NOT NULL,
    attempt       INTEGER NOT NULL,
    states        TEXT    NOT NULL,
    pending       INTEGER NOT NULL,
    ok            INTEGER NOT NULL,
    failed        INTEGER NOT NULL,
    invalid       INTEGER NOT NULL,
    cancelled     INTEGER NOT NULL,
    messages      BLOB,
    outcomes      TEXT    NOT NULL,
    saved_at      INTEGER,
    begun_at      INTEGER,
    token         BLOB,
    leased_until  INTEGER,
    granted       INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost          INTEGER NOT NULL,
    cost_rest     INTEGER NOT NULL,
    currency      TEXT    NOT NULL,
    PRIMARY KEY (account_id, run_id, number),
    CHECK (pending + ok + failed + invalid + cancelled = row_count AND length(states) = row_count),
    CHECK ((token IS NULL) = (leased_until IS NULL))
) STRICT;
CREATE INDEX run_chunks_pending ON run_chunks (account_id, run_id, number) WHERE pending > 0;
CREATE INDEX run_chunks_leased ON run_chunks (account_id, run_id, number) WHERE token IS NOT NULL;
CREATE INDEX run_chunks_counted ON run_chunks (account_id, run_id, number) WHERE pending < row_count OR saved_at IS NOT NULL;
CREATE INDEX run_chunks_failed ON run_chunks (account_id, run_id, saved_at) WHERE failed > 0;
CREATE INDEX run_chunks_saved ON run_chunks (account_id, run_id, saved_at) WHERE saved_at IS NOT NULL;

-- +goose Down
DROP TABLE run_chunks;
DROP TABLE runs;
DROP INDEX results_by_run;
ALTER TABLE results DROP COLUMN run_row;
ALTER TABLE results DROP COLUMN run_id;
