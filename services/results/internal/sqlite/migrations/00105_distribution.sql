-- Counts of answers by time (spec: distribution-exact). counts has those of the four quarters of the hour that begins at at, encoded by the
-- program. A cursor is how far the counting of an account is in changes; results with ids below walk are still to be counted, but for those
-- in distribution_seen, which changes told meanwhile. distribution_labels are the labels that are counted.

-- +goose Up
CREATE TABLE distribution (
    account_id BLOB    NOT NULL,
    prism_id   BLOB    NOT NULL,
    question   TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    counts     BLOB    NOT NULL,
    PRIMARY KEY (account_id, prism_id, question, at, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE distribution_cursors (
    account_id BLOB    NOT NULL PRIMARY KEY,
    seq        INTEGER NOT NULL,
    walk       BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE distribution_seen (
    account_id BLOB NOT NULL,
    result_id  BLOB NOT NULL,
    PRIMARY KEY (account_id, result_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE distribution_labels (
    account_id BLOB    NOT NULL,
    result_id  BLOB    NOT NULL,
    question   TEXT    NOT NULL,
    is_right   INTEGER NOT NULL,
    PRIMARY KEY (account_id, result_id, question)
) STRICT, WITHOUT ROWID;
