-- Accounts that have moved to another database (spec: account-moves), which are left out of the work beside the calls. A file is the only
-- database, so there is never a row.

-- +goose Up
CREATE TABLE moved_accounts (
    account_id BLOB    NOT NULL PRIMARY KEY,
    database   TEXT    NOT NULL,
    epoch      INTEGER NOT NULL,
    moved_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
