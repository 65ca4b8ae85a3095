-- The audit: who changed what, and when (spec: audit-entry-members). An entry outlives what it is about, so it has no foreign
-- key.

-- +goose Up
CREATE TABLE audit (
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
    CHECK ((actor_kind = 'key') = (actor_id IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- Entries are never changed (spec: audit-append-only).
-- +goose StatementBegin
CREATE TRIGGER audit_not_updated BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_not_deleted BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE audit;
