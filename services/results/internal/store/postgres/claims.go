package postgres

import (
	"context"
	"database/sql"
)

// addClaims is migration 18: the claims that the operator has granted to accounts (spec: claim-grant), and which account of a
// session comes first. The previous release asks for no grant until it is gone, and marks no account.
func addClaims(ctx context.Context, db *sql.DB) error {
	return alter(ctx, db, `CREATE TABLE IF NOT EXISTS claim_grants (
    account_id  uuid           NOT NULL,
    claim_name  text           NOT NULL COLLATE "C",
    claim_value text           NOT NULL COLLATE "C",
    granted_at  timestamptz(3) NOT NULL,
    CONSTRAINT claim_grants_pkey PRIMARY KEY (account_id, claim_name, claim_value)
);
ALTER TABLE session_members ADD COLUMN IF NOT EXISTS first boolean NOT NULL DEFAULT false`)
}

// dropClaims undoes addClaims.
func dropClaims(ctx context.Context, db *sql.DB) error {
	return alter(ctx, db, "DROP TABLE IF EXISTS claim_grants; ALTER TABLE session_members DROP COLUMN IF EXISTS first")
}
