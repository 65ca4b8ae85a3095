-- Limits of accounts (spec: account-limits). Only accounts with limits have a row; 0 is no limit.

-- +goose Up
CREATE TABLE account_limits (
    account_id          BLOB    NOT NULL PRIMARY KEY REFERENCES accounts (id),
    requests_per_second INTEGER NOT NULL CHECK (requests_per_second >= 0),
    concurrency         INTEGER NOT NULL CHECK (concurrency >= 0),
    results_per_day     INTEGER NOT NULL CHECK (results_per_day >= 0)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE account_limits;
