-- Saved views of results (spec: view-create). shows has the filters, without the prism, and the columns.

-- +goose Up
CREATE TABLE views (
    account_id BLOB    NOT NULL,
    id         BLOB    NOT NULL,
    prism_id   BLOB,
    name       TEXT    NOT NULL,
    shows      BLOB    NOT NULL,
    is_default INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
