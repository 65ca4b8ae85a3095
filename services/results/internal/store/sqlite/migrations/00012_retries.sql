-- Retries of many results (spec: retry-many). A retry has a row until all its results had their turn, and a row for each chunk of at
-- most 200 results of one version: their ids one after the other, and a letter for the state of each, pending or done.

-- +goose Up
CREATE INDEX results_retryable ON results (account_id, prism_id, id, version, created_at)
    WHERE status = 'failed' AND retried_by IS NULL;
CREATE TABLE retries (
    account_id BLOB    NOT NULL,
    prism_id   BLOB    NOT NULL,
    id         BLOB    NOT NULL,
    key_id     BLOB    NOT NULL,
    leased_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, prism_id),
    UNIQUE (account_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE retry_chunks (
    account_id   BLOB    NOT NULL,
    retry_id     BLOB    NOT NULL,
    number       INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    ids          BLOB    NOT NULL,
    states       TEXT    NOT NULL,
    pending      INTEGER NOT NULL,
    begun_at     INTEGER,
    token        BLOB,
    leased_until INTEGER,
    PRIMARY KEY (account_id, retry_id, number),
    CHECK (length(ids) = 16 * length(states)),
    CHECK ((token IS NULL) = (leased_until IS NULL))
) STRICT;
CREATE INDEX retry_chunks_leased ON retry_chunks (account_id, retry_id, number) WHERE token IS NOT NULL;

-- +goose Down
DROP TABLE retry_chunks;
DROP TABLE retries;
DROP INDEX results_retryable;
