-- In the home of several databases: which keys were revoked in the others, so that a restored database revives none. In each of the others:
-- up to where it has them (spec: revocations). With one database the tables are empty.

-- +goose Up
CREATE TABLE revocation_numbers (
    database text   NOT NULL COLLATE "C",
    seq      bigint NOT NULL,
    CONSTRAINT revocation_numbers_pkey PRIMARY KEY (database)
);
COMMENT ON COLUMN revocation_numbers.seq IS 'of the last revocation; its lock has revocations of a database commit in their order';

CREATE TABLE revocations (
    database   text        NOT NULL COLLATE "C",
    seq        bigint      NOT NULL,
    id         uuid        NOT NULL,
    key_id     uuid        NOT NULL,
    revoked_at timestamptz NOT NULL,
    kept_until timestamptz NOT NULL,
    CONSTRAINT revocations_pkey PRIMARY KEY (database, seq)
);
COMMENT ON COLUMN revocations.id IS 'tells it from another with its number, which a restored home may give';
CREATE INDEX revocations_ending ON revocations (database, kept_until);

CREATE TABLE revocation_mark (
    only_row boolean NOT NULL DEFAULT true,
    seq      bigint  NOT NULL,
    id       uuid    NOT NULL,
    CONSTRAINT revocation_mark_pkey PRIMARY KEY (only_row),
    CONSTRAINT revocation_mark_only_row_check CHECK (only_row)
);
COMMENT ON TABLE revocation_mark IS 'the last of the revocations of home that this database has';
