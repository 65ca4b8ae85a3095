-- Which prisms are watched for drift, the references of their versions, and counts of answers in spans of time
-- (spec: drift-counting).

-- +goose Up
CREATE TABLE drift_watches (
    account_id BLOB    NOT NULL,
    prism_id   BLOB    NOT NULL,
    watched_at INTEGER NOT NULL,
    reached    BLOB    NOT NULL,
    due_at     INTEGER NOT NULL,
    PRIMARY KEY (account_id, prism_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE drift_versions (
    account_id    BLOB    NOT NULL,
    prism_id      BLOB    NOT NULL,
    version       INTEGER NOT NULL,
    first_results INTEGER NOT NULL,
    first_from    INTEGER,
    first_to      INTEGER,
    set_from      INTEGER,
    set_to        INTEGER,
    PRIMARY KEY (account_id, prism_id, version),
    CHECK ((set_from IS NULL) = (set_to IS NULL))
) STRICT, WITHOUT ROWID;
CREATE TABLE drift_counts (
    account_id BLOB    NOT NULL,
    prism_id   BLOB    NOT NULL,
    span       INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    results    INTEGER NOT NULL,
    counts     BLOB    NOT NULL,
    PRIMARY KEY (account_id, prism_id, span, at, version)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE drift_counts;
DROP TABLE drift_versions;
DROP TABLE drift_watches;
