-- The accounts that objects of a Kubernetes cluster declare, and the uid of the object of each (spec: operator-token).

-- +goose Up
CREATE TABLE declared_accounts (
    account_id BLOB NOT NULL PRIMARY KEY REFERENCES accounts (id),
    object     BLOB NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;
