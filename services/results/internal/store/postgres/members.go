package postgres

import (
	"context"
	"database/sql"
)

// addMembers is migration 11: members of accounts, their sign-in links and sessions, and the API keys of sessions, which are rows
// of api_keys that name their session and member. A member may be an actor of the audit. Keys of the release before this one have
// neither; that release lists keys of sessions too until it is gone. A member who was removed keeps its row, so that no rule makes
// it a member again. Nothing refers to another table, whose rows a foreign key would lock.
func addMembers(ctx context.Context, db *sql.DB) error {
	const columns = "ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS member_id uuid, ADD COLUMN IF NOT EXISTS session_id uuid"
	for _, statement := range []string{columns, actorsWithMembers, createMembers, createSessions} {
		if err := alter(ctx, db, statement); err != nil {
			return err
		}
	}
	// It reads the entries that are there while others are added.
	if _, err := db.ExecContext(ctx, "ALTER TABLE audit VALIDATE CONSTRAINT audit_actor_check"); err != nil {
		return err
	}
	return eachConcurrently(ctx, db,
		"DROP INDEX CONCURRENTLY IF EXISTS api_keys_of_session",
		"CREATE INDEX CONCURRENTLY api_keys_of_session ON api_keys (session_id) WHERE session_id IS NOT NULL",
		"DROP INDEX CONCURRENTLY IF EXISTS api_keys_of_member",
		"CREATE INDEX CONCURRENTLY api_keys_of_member ON api_keys (account_id, member_id) WHERE member_id IS NOT NULL",
		"DROP INDEX CONCURRENTLY IF EXISTS api_keys_of_sessions_expiring",
		"CREATE INDEX CONCURRENTLY api_keys_of_sessions_expiring ON api_keys (expires_at) WHERE session_id IS NOT NULL",
	)
}

const (
	actorsWithMembers = `ALTER TABLE audit DROP CONSTRAINT IF EXISTS audit_actor_check,
	ADD CONSTRAINT audit_actor_check CHECK ((actor_kind IN ('key', 'member')) = (actor_id IS NOT NULL)) NOT VALID`

	createMembers = `CREATE TABLE IF NOT EXISTS members (
    account_id   uuid           NOT NULL,
    id           uuid           NOT NULL,
    name         text           NOT NULL,
    email        text           NOT NULL,
    role         text           NOT NULL COLLATE "C",
    operator     boolean        NOT NULL,
    claim_name   text           COLLATE "C",
    claim_value  text           COLLATE "C",
    issuer       text           COLLATE "C",
    subject      text           COLLATE "C",
    signed_in_by text           COLLATE "C",
    created_at   timestamptz(3) NOT NULL,
    last_seen_at timestamptz(3),
    removed_at   timestamptz(3),
    CONSTRAINT members_pkey PRIMARY KEY (account_id, id),
    CONSTRAINT members_identity_check CHECK ((issuer IS NULL) = (subject IS NULL)),
    CONSTRAINT members_claim_check CHECK ((claim_name IS NULL) = (claim_value IS NULL)),
    CONSTRAINT members_rule_check CHECK (claim_name IS NULL OR (signed_in_by IS NULL AND issuer IS NULL AND NOT operator))
);
COMMENT ON COLUMN members.claim_name IS 'of a rule, which makes members';
CREATE UNIQUE INDEX IF NOT EXISTS members_operator ON members (account_id) WHERE operator AND removed_at IS NULL;
CREATE UNIQUE INDEX IF NOT EXISTS members_identity ON members (issuer, subject, account_id) WHERE removed_at IS NULL;
CREATE INDEX IF NOT EXISTS members_claim ON members (claim_name, claim_value) WHERE claim_name IS NOT NULL AND removed_at IS NULL;
CREATE TABLE IF NOT EXISTS sign_in_links (
    digest     bytea          NOT NULL,
    account_id uuid           NOT NULL,
    member_id  uuid           NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    CONSTRAINT sign_in_links_pkey PRIMARY KEY (digest)
);
CREATE INDEX IF NOT EXISTS sign_in_links_of_member ON sign_in_links (account_id, member_id);
CREATE INDEX IF NOT EXISTS sign_in_links_expiring ON sign_in_links (expires_at)`

	createSessions = `CREATE TABLE IF NOT EXISTS sessions (
    id         uuid           NOT NULL,
    digest     bytea          NOT NULL,
    seen_at    timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    ends_at    timestamptz(3) NOT NULL,
    CONSTRAINT sessions_pkey PRIMARY KEY (id),
    CONSTRAINT sessions_digest_key UNIQUE (digest)
);
CREATE INDEX IF NOT EXISTS sessions_expiring ON sessions (expires_at);
CREATE TABLE IF NOT EXISTS session_members (
    session_id   uuid           NOT NULL,
    account_id   uuid           NOT NULL,
    member_id    uuid           NOT NULL,
    signed_in_at timestamptz(3) NOT NULL,
    CONSTRAINT session_members_pkey PRIMARY KEY (session_id, account_id)
);
CREATE INDEX IF NOT EXISTS session_members_of_member ON session_members (account_id, member_id)`
)

// dropMembers undoes addMembers, but for the constraint of the audit: entries of members stay.
func dropMembers(ctx context.Context, db *sql.DB) error {
	err := eachConcurrently(ctx, db,
		"DROP INDEX CONCURRENTLY IF EXISTS api_keys_of_session",
		"DROP INDEX CONCURRENTLY IF EXISTS api_keys_of_member",
		"DROP INDEX CONCURRENTLY IF EXISTS api_keys_of_sessions_expiring",
	)
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "DELETE FROM api_keys WHERE session_id IS NOT NULL"); err != nil {
		return err
	}
	return alter(ctx, db, "DROP TABLE IF EXISTS session_members, sessions, sign_in_links, members; "+
		"ALTER TABLE api_keys DROP COLUMN IF EXISTS member_id, DROP COLUMN IF EXISTS session_id")
}
