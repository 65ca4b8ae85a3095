package postgres

import (
	"context"
	"database/sql"
)

// vacuumSooner has autovacuum remove deleted results when they are 1% of the table and not a fifth: until then, whatever reads the
// oldest results of a prism passes the index entries of the deleted ones (docs/performance.md).
const (
	vacuumSooner = `SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
	autovacuum_analyze_scale_factor = 0.02)`
	vacuumAsBefore = `RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, autovacuum_analyze_scale_factor)`
)

// onLeaves alters results, or its partitions: partitioned tables themselves have no storage parameters.
func onLeaves(change string) string {
	return `DECLARE leaf regclass; BEGIN
	FOR leaf IN SELECT oid FROM pg_class WHERE relkind = 'r' AND
		(oid = 'results'::regclass OR oid IN (SELECT relid FROM pg_partition_tree('results'))) LOOP
		EXECUTE format('ALTER TABLE %s ` + change + `', leaf);
	END LOOP;
END`
}

// addDeletions is migration 8. Results are deleted, by a prism's retention too (spec: retention-set). A deletion of many is a row
// until it is done (spec: deletion-goes-on). For retention, id is that of the prism, and the row stays. Foreign keys would lock
// other tables for a moment; no prism is ever deleted.
func addDeletions(ctx context.Context, db *sql.DB) error {
	if err := alter(ctx, db, "ALTER TABLE prisms ADD COLUMN IF NOT EXISTS retention_days integer"); err != nil {
		return err
	}
	if err := alter(ctx, db, onLeaves(vacuumSooner)); err != nil {
		return err
	}
	return alter(ctx, db, `CREATE TABLE IF NOT EXISTS deletions (
    account_id   uuid           NOT NULL,
    id           uuid           NOT NULL,
    prism_id     uuid           NOT NULL,
    days         integer,
    ref          text           COLLATE "C",
    status       text           COLLATE "C",
    saved_before timestamptz(3),
    due_at       timestamptz(3) NOT NULL,
    reached      uuid           NOT NULL,
    deleted      bigint         NOT NULL,
    leased_until timestamptz(3) NOT NULL,
    CONSTRAINT deletions_pkey PRIMARY KEY (account_id, id),
    CONSTRAINT deletions_days_check CHECK ((days IS NULL) = (saved_before IS NOT NULL))
);
CREATE INDEX IF NOT EXISTS deletions_due ON deletions (due_at)`)
}

// dropDeletions undoes addDeletions.
func dropDeletions(ctx context.Context, db *sql.DB) error {
	for _, statement := range []string{onLeaves(vacuumAsBefore), "DROP TABLE IF EXISTS deletions"} {
		if err := alter(ctx, db, statement); err != nil {
			return err
		}
	}
	return alter(ctx, db, "ALTER TABLE prisms DROP COLUMN IF EXISTS retention_days")
}
