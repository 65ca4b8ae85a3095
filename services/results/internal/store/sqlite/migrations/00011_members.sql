-- Members of accounts, their sign-in links and sessions, and the API keys of sessions, which are rows of api_keys that name their
-- session and member. A member may be an actor of the audit. A member who was removed keeps its row, so that no rule makes it a
-- member again.

-- +goose Up
ALTER TABLE api_keys ADD COLUMN member_id BLOB;
ALTER TABLE api_keys ADD COLUMN session_id BLOB;
CREATE INDEX api_keys_of_session ON api_keys (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX api_keys_of_member ON api_keys (account_id, member_id) WHERE member_id IS NOT NULL;
CREATE INDEX api_keys_of_sessions_expiring ON api_keys (expires_at) WHERE session_id IS NOT NULL;

CREATE TABLE members (
    account_id   BLOB    NOT NULL,
    id           BLOB    NOT NULL,
    name         TEXT    NOT NULL,
    email        TEXT    NOT NULL,
    role         TEXT    NOT NULL,
    operator     INTEGER NOT NULL,
    claim_name   TEXT, -- of a rule, which makes members
    claim_value  TEXT,
    issuer       TEXT,
    subject      TEXT,
    signed_in_by TEXT,
    created_at   INTEGER NOT NULL,
    last_seen_at INTEGER,
    removed_at   INTEGER,
    PRIMARY KEY (account_id, id),
    CHECK ((issuer IS NULL) = (subject IS NULL)),
    CHECK ((claim_name IS NULL) = (claim_value IS NULL)),
    CHECK (claim_name IS NULL OR (signed_in_by IS NULL AND issuer IS NULL AND NOT operator))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX members_operator ON members (account_id) WHERE operator AND removed_at IS NULL;
CREATE UNIQUE INDEX members_identity ON members (issuer, subject, account_id) WHERE removed_at IS NULL;
CREATE INDEX members_claim ON members (claim_name, claim_value) WHERE claim_name IS NOT NULL AND removed_at IS NULL;

CREATE TABLE sign_in_links (
    digest     BLOB    NOT NULL PRIMARY KEY,
    account_id BLOB    NOT NULL,
    member_id  BLOB    NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_links_of_member ON sign_in_links (account_id, member_id);
CREATE INDEX sign_in_links_expiring ON sign_in_links (expires_at);

CREATE TABLE sessions (
    id         BLOB    NOT NULL PRIMARY KEY,
    digest     BLOB    NOT NULL UNIQUE,
    seen_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_expiring ON sessions (expires_at);
CREATE TABLE session_members (
    session_id   BLOB    NOT NULL,
    account_id   BLOB    NOT NULL,
    member_id    BLOB    NOT NULL,
    signed_in_at INTEGER NOT NULL,
    PRIMARY KEY (session_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_members_of_member ON session_members (account_id, member_id);

-- SQLite cannot change the check of a table. Dropping a table fires no trigger of its rows.
CREATE TABLE audit_with_members (
    account_id  BLOB    NOT NULL,
    id          BLOB    NOT NULL,
    created_at  INTEGER NOT NULL,
    actor_kind  TEXT    NOT NULL,
    actor_id    BLOB,
    actor_name  TEXT    NOT NULL,
    action      TEXT    NOT NULL,
    object_kind TEXT    NOT NULL,
    object_id   BLOB    NOT NULL,
    object_name TEXT    NOT NULL,
    detail      BLOB    NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((actor_kind IN ('key', 'member')) = (actor_id IS NOT NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO audit_with_members SELECT * FROM audit;
DROP TABLE audit;
ALTER TABLE audit_with_members RENAME TO audit;
-- +goose StatementBegin
CREATE TRIGGER audit_not_updated BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_not_deleted BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE session_members;
DROP TABLE sessions;
DROP TABLE sign_in_links;
DROP TABLE members;
DELETE FROM api_keys WHERE session_id IS NOT NULL;
DROP INDEX api_keys_of_sessions_expiring;
DROP INDEX api_keys_of_member;
DROP INDEX api_keys_of_session;
ALTER TABLE api_keys DROP COLUMN session_id;
ALTER TABLE api_keys DROP COLUMN member_id;
