-- The results that examples of versions were taken from (spec: emptied-examples).

-- +goose Up
CREATE TABLE example_results (
    account_id BLOB    NOT NULL,
    result_id  BLOB    NOT NULL,
    prism_id   BLOB    NOT NULL,
    version    INTEGER NOT NULL,
    PRIMARY KEY (account_id, result_id, prism_id, version)
) STRICT, WITHOUT ROWID;
