-- In the home of several databases: in which database each account is, and whose each API key is (spec: directory). With one database the
-- tables are empty.

-- +goose Up
CREATE TABLE directory_accounts (
    account_id uuid    NOT NULL,
    name       text    NOT NULL COLLATE "C",
    database   text    NOT NULL COLLATE "C",
    epoch      bigint  NOT NULL DEFAULT 1,
    made       boolean NOT NULL,
    object     uuid,
    CONSTRAINT directory_accounts_pkey PRIMARY KEY (account_id),
    CONSTRAINT directory_accounts_name_key UNIQUE (name),
    CONSTRAINT directory_accounts_object_key UNIQUE (object)
);
COMMENT ON COLUMN directory_accounts.made IS 'false until the account is in its database too';
COMMENT ON COLUMN directory_accounts.object IS 'what declared the account, as in declared_accounts';

CREATE TABLE directory_keys (
    digest     bytea NOT NULL,
    account_id uuid  NOT NULL,
    CONSTRAINT directory_keys_pkey PRIMARY KEY (digest),
    CONSTRAINT directory_keys_digest_check CHECK (octet_length(digest) = 32)
);
CREATE INDEX directory_keys_of_account ON directory_keys (account_id);

-- Sign-in over several databases: the accounts of which an identity is a member, or was; what is left to do of ends of sessions in the databases
-- of accounts; and which identity uses a link (spec: directory-sign-in).
CREATE TABLE directory_identities (
    issuer     text NOT NULL COLLATE "C",
    subject    text NOT NULL COLLATE "C",
    account_id uuid NOT NULL,
    CONSTRAINT directory_identities_pkey PRIMARY KEY (issuer, subject, account_id)
);

CREATE TABLE ending_sessions (
    account_id uuid           NOT NULL,
    session_id uuid           NOT NULL,
    member_id  uuid           NOT NULL,
    digest     bytea          NOT NULL,
    ended_at   timestamptz(3) NOT NULL,
    entry_id   uuid,
    CONSTRAINT ending_sessions_pkey PRIMARY KEY (account_id, session_id)
);
CREATE INDEX ending_sessions_of_digest ON ending_sessions (digest);
COMMENT ON COLUMN ending_sessions.entry_id IS 'the entry of the audit about the sign-out; null: there is none to make';

ALTER TABLE sign_in_links ADD COLUMN taken_by bytea;
COMMENT ON COLUMN sign_in_links.taken_by IS 'SHA-256 of the identity that uses the link; null: none yet';
