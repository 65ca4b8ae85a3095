-- Files of runs (spec: file-states), which of their parts are there, where their rows are, and contents for those who keep them
-- in the database. A file that was deleted has the status deleted until its content is gone.

-- +goose Up
CREATE TABLE files (
    account_id   BLOB    NOT NULL,
    id           BLOB    NOT NULL,
    name         TEXT    NOT NULL,
    format       TEXT    NOT NULL,
    bytes        INTEGER NOT NULL,
    sha256       BLOB,
    status       TEXT    NOT NULL CHECK (status IN ('uploading', 'reading', 'ready', 'unusable', 'deleted')),
    error        TEXT    NOT NULL,
    row_count    INTEGER NOT NULL,
    chunks       INTEGER NOT NULL,
    layout       BLOB,
    copy_id      BLOB,
    copy_bytes   INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    hashed       INTEGER NOT NULL,
    hash_state   BLOB,
    completed_at INTEGER,
    readings     INTEGER NOT NULL,
    lease_token  BLOB,
    leased_until INTEGER,
    PRIMARY KEY (account_id, id),
    CHECK ((status = 'reading') = (leased_until IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX files_reading ON files (leased_until) WHERE status = 'reading';
CREATE INDEX files_expiring ON files (expires_at);

CREATE TABLE file_parts (
    account_id BLOB    NOT NULL,
    file_id    BLOB    NOT NULL,
    number     INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    sha256     BLOB    NOT NULL,
    PRIMARY KEY (account_id, file_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_chunks (
    account_id BLOB    NOT NULL,
    file_id    BLOB    NOT NULL,
    number     INTEGER NOT NULL,
    first_row  INTEGER NOT NULL,
    row_count  INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    line       INTEGER NOT NULL,
    PRIMARY KEY (account_id, file_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_contents (
    account_id BLOB NOT NULL,
    file_id    BLOB NOT NULL,
    name       TEXT NOT NULL,
    content    BLOB NOT NULL,
    PRIMARY KEY (account_id, file_id, name)
) STRICT;

-- +goose Down
DROP TABLE file_contents;
DROP TABLE file_chunks;
DROP TABLE file_parts;
DROP TABLE files;
