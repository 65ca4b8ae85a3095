package postgres

import (
	"context"
	"database/sql"
)

// addLabels is migration 13: labels of results (spec: label-one), and how many a run has stored. A label is deleted with its result
// by the statement's transaction. Nothing refers to another table, whose rows a foreign key would lock, and results get no index.
// Columns with a constant default do not make Postgres write the rows. The previous release works on the new tables, but leaves the
// labels of results that it deletes, and loses those of rows that its workers answer.
func addLabels(ctx context.Context, db *sql.DB) error {
	const counts = " ADD COLUMN IF NOT EXISTS labels bigint NOT NULL DEFAULT 0," +
		" ADD COLUMN IF NOT EXISTS invalid_labels bigint NOT NULL DEFAULT 0"
	for _, statement := range []string{createLabels, "ALTER TABLE runs" + counts, "ALTER TABLE run_chunks" + counts} {
		if err := alter(ctx, db, statement); err != nil {
			return err
		}
	}
	return nil
}

const createLabels = `CREATE TABLE IF NOT EXISTS labels (
    account_id  uuid           NOT NULL,
    prism_id    uuid           NOT NULL,
    result_id   uuid           NOT NULL,
    question    text           NOT NULL COLLATE "C",
    version     integer        NOT NULL,
    value       text           NOT NULL COLLATE "C",
    sample      text           NOT NULL COLLATE "C",
    annotator   text           NOT NULL,
    origin      text           NOT NULL COLLATE "C",
    key_id      uuid           NOT NULL,
    labelled_at timestamptz(3) NOT NULL,
    hash        bigint         NOT NULL,
    CONSTRAINT labels_pkey PRIMARY KEY (account_id, prism_id, result_id, question)
);
CREATE INDEX IF NOT EXISTS labels_by_question ON labels (account_id, prism_id, version, question, result_id) INCLUDE (hash)`

// dropLabels undoes addLabels.
func dropLabels(ctx context.Context, db *sql.DB) error {
	const counts = " DROP COLUMN IF EXISTS labels, DROP COLUMN IF EXISTS invalid_labels"
	return alter(ctx, db, "DROP TABLE IF EXISTS labels; ALTER TABLE run_chunks"+counts+"; ALTER TABLE runs"+counts)
}
