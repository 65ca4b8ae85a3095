-- Files of runs (spec: file-states), which of their parts are there, where their rows are, and contents for those who keep them
-- in the database. A file that was deleted has the status deleted until its content is gone. The previous release works without
-- these tables. Nothing refers to another table, whose rows a foreign key would lock; no account is ever deleted.

-- +goose Up
CREATE TABLE IF NOT EXISTS files (
    account_id   uuid           NOT NULL,
    id           uuid           NOT NULL,
    name         text           NOT NULL,
    format       text           NOT NULL COLLATE "C",
    bytes        bigint         NOT NULL,
    sha256       bytea,
    status       text           NOT NULL COLLATE "C",
    error        text           NOT NULL,
    row_count    bigint         NOT NULL,
    chunks       integer        NOT NULL,
    layout       json,
    copy_id      uuid,
    copy_bytes   bigint         NOT NULL,
    created_at   timestamptz(3) NOT NULL,
    expires_at   timestamptz(3) NOT NULL,
    hashed       integer        NOT NULL,
    hash_state   bytea,
    completed_at timestamptz(3),
    readings     integer        NOT NULL,
    lease_token  uuid,
    leased_until timestamptz(3),
    CONSTRAINT files_pkey PRIMARY KEY (account_id, id),
    CONSTRAINT files_status_check CHECK (status IN ('uploading', 'reading', 'ready', 'unusable', 'deleted')),
    CONSTRAINT files_leased_until_check CHECK ((status = 'reading') = (leased_until IS NOT NULL))
);
CREATE INDEX IF NOT EXISTS files_reading ON files (leased_until) WHERE status = 'reading';
CREATE INDEX IF NOT EXISTS files_expiring ON files (expires_at);

CREATE TABLE IF NOT EXISTS file_parts (
    account_id uuid    NOT NULL,
    file_id    uuid    NOT NULL,
    number     integer NOT NULL,
    bytes      integer NOT NULL,
    sha256     bytea   NOT NULL,
    CONSTRAINT file_parts_pkey PRIMARY KEY (account_id, file_id, number)
);

-- The order of the columns leaves no room unused between them: 96 bytes for up to 200 rows of a file.
CREATE TABLE IF NOT EXISTS file_chunks (
    account_id uuid    NOT NULL,
    file_id    uuid    NOT NULL,
    first_row  bigint  NOT NULL,
    position   bigint  NOT NULL,
    line       bigint  NOT NULL,
    bytes      integer NOT NULL,
    number     integer NOT NULL,
    row_count  integer NOT NULL,
    CONSTRAINT file_chunks_pkey PRIMARY KEY (account_id, file_id, number)
);

CREATE TABLE IF NOT EXISTS file_contents (
    account_id uuid  NOT NULL,
    file_id    uuid  NOT NULL,
    name       text  NOT NULL COLLATE "C",
    content    bytea NOT NULL,
    CONSTRAINT file_contents_pkey PRIMARY KEY (account_id, file_id, name)
);
-- Not compressed: a range of a content is read alone.
ALTER TABLE file_contents ALTER COLUMN content SET STORAGE EXTERNAL;

-- +goose Down
DROP TABLE file_contents;
DROP TABLE file_chunks;
DROP TABLE file_parts;
DROP TABLE files;
