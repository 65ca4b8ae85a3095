-- Labels of results (spec: label-one), and how many a run has stored. A label is deleted with its result.

-- +goose Up
CREATE TABLE labels (
    account_id  BLOB    NOT NULL,
    prism_id    BLOB    NOT NULL,
    result_id   BLOB    NOT NULL,
    question    TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    value       TEXT    NOT NULL,
    sample      TEXT    NOT NULL,
    annotator   TEXT    NOT NULL,
    origin      TEXT    NOT NULL,
    key_id      BLOB    NOT NULL,
    labelled_at INTEGER NOT NULL,
    hash        INTEGER NOT NULL,
    PRIMARY KEY (account_id, prism_id, result_id, question)
) STRICT, WITHOUT ROWID;
CREATE INDEX labels_by_question ON labels (account_id, prism_id, version, question, result_id, hash);
ALTER TABLE runs ADD COLUMN labels INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN invalid_labels INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run_chunks ADD COLUMN labels INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run_chunks ADD COLUMN invalid_labels INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE run_chunks DROP COLUMN invalid_labels;
ALTER TABLE run_chunks DROP COLUMN labels;
ALTER TABLE runs DROP COLUMN invalid_labels;
ALTER TABLE runs DROP COLUMN labels;
DROP TABLE labels;
