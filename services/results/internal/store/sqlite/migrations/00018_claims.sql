-- The claims that the operator has granted to accounts (spec: claim-grant), and which account of a session comes first.

-- +goose Up
CREATE TABLE claim_grants (
    account_id  BLOB    NOT NULL,
    claim_name  TEXT    NOT NULL,
    claim_value TEXT    NOT NULL,
    granted_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, claim_name, claim_value)
) STRICT, WITHOUT ROWID;
ALTER TABLE session_members ADD COLUMN first INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE session_members DROP COLUMN first;
DROP TABLE claim_grants;
