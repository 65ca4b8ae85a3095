package postgres

import (
	"context"
	"database/sql"
)

// addDrift is migration 16: which prisms are watched for drift, the references of their versions, and counts of answers in spans of
// time (spec: drift-counting). Calls do not use the tables, and the previous release works without them.
func addDrift(ctx context.Context, db *sql.DB) error {
	return alter(ctx, db, `CREATE TABLE IF NOT EXISTS drift_watches (
    account_id uuid           NOT NULL,
    prism_id   uuid           NOT NULL,
    watched_at timestamptz(3) NOT NULL,
    reached    uuid           NOT NULL,
    due_at     timestamptz(3) NOT NULL,
    CONSTRAINT drift_watches_pkey PRIMARY KEY (account_id, prism_id)
) WITH (fillfactor = 70);
CREATE TABLE IF NOT EXISTS drift_versions (
    account_id    uuid    NOT NULL,
    prism_id      uuid    NOT NULL,
    version       integer NOT NULL,
    first_results bigint  NOT NULL,
    first_from    timestamptz(3),
    first_to      timestamptz(3),
    set_from      timestamptz(3),
    set_to        timestamptz(3),
    CONSTRAINT drift_versions_pkey PRIMARY KEY (account_id, prism_id, version),
    CONSTRAINT drift_versions_set_check CHECK ((set_from IS NULL) = (set_to IS NULL))
);
CREATE TABLE IF NOT EXISTS drift_counts (
    account_id uuid           NOT NULL,
    prism_id   uuid           NOT NULL,
    span       integer        NOT NULL,
    at         timestamptz(3) NOT NULL,
    version    integer        NOT NULL,
    results    bigint         NOT NULL,
    counts     bytea          NOT NULL,
    CONSTRAINT drift_counts_pkey PRIMARY KEY (account_id, prism_id, span, at, version)
)`)
}

// dropDrift undoes addDrift.
func dropDrift(ctx context.Context, db *sql.DB) error {
	return alter(ctx, db, "DROP TABLE IF EXISTS drift_counts, drift_versions, drift_watches")
}
