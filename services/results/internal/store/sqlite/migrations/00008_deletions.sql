-- Results are deleted, by a prism's retention too (spec: retention-set). A deletion of many is a row until it is done
-- (spec: deletion-goes-on). For retention, id is that of the prism, and the row stays.

-- +goose Up
ALTER TABLE prisms ADD COLUMN retention_days INTEGER;
CREATE TABLE deletions (
    account_id   BLOB    NOT NULL,
    id           BLOB    NOT NULL,
    prism_id     BLOB    NOT NULL,
    days         INTEGER,
    ref          TEXT,
    status       TEXT,
    saved_before INTEGER,
    due_at       INTEGER NOT NULL,
    reached      BLOB    NOT NULL,
    deleted      INTEGER NOT NULL,
    leased_until INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((days IS NULL) = (saved_before IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX deletions_due ON deletions (due_at);

-- +goose Down
DROP TABLE deletions;
ALTER TABLE prisms DROP COLUMN retention_days;
