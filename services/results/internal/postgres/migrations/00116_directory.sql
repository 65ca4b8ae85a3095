-- In the home of several databases: in which database each account is, and whose each API key is (spec: directory). With one database the
-- tables are empty.

-- +goose Up
CREATE TABLE directory_accounts (
    account_id uuid    NOT NULL,
    name       text    NOT NULL COLLATE "C",
    database   text    NOT NULL COLLATE "C",
    epoch      bigint  NOT NULL DEFAULT 1,
    made       boolean NOT NULL,
    CONSTRAINT directory_accounts_pkey PRIMARY KEY (account_id),
    CONSTRAINT directory_accounts_name_key UNIQUE (name)
);
COMMENT ON COLUMN directory_accounts.made IS 'false until the account is in its database too';

CREATE TABLE directory_keys (
    digest     bytea NOT NULL,
    account_id uuid  NOT NULL,
    CONSTRAINT directory_keys_pkey PRIMARY KEY (digest),
    CONSTRAINT directory_keys_digest_check CHECK (octet_length(digest) = 32)
);
CREATE INDEX directory_keys_of_account ON directory_keys (account_id);
