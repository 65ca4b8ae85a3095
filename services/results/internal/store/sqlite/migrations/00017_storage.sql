-- How many bytes the results and files of each account have (spec: stored-bytes), and how many they may have: 0 stands for what an
-- account has without a limit of its own.

-- +goose Up
-- sqlite3 of 2022, which backups are made with, has no octet_length.
ALTER TABLE results ADD COLUMN bytes INTEGER GENERATED ALWAYS AS (coalesce(length(CAST(ref AS BLOB)), 0)
    + length(CAST(context AS BLOB)) + length(CAST(fields AS BLOB)) + coalesce(length(CAST(error AS BLOB)), 0)
    + coalesce(length(CAST(answers AS BLOB)), 0) + coalesce(length(CAST(call AS BLOB)), 0) + 256) VIRTUAL;
ALTER TABLE account_limits ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0 CHECK (stored_bytes >= 0);
CREATE INDEX files_uploading ON files (account_id) WHERE status = 'uploading';

CREATE TABLE stored_bytes (
    account_id BLOB    NOT NULL PRIMARY KEY,
    bytes      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO stored_bytes SELECT account_id, sum(bytes) FROM (
    SELECT account_id, bytes FROM results
    UNION ALL SELECT account_id, bytes + copy_bytes FROM files WHERE status <> 'deleted'
) GROUP BY account_id;

-- The name that the statements share with those of Postgres, where a tail is behind.
CREATE VIEW stored_bytes_now AS SELECT * FROM stored_bytes;

-- The probe of a store that cannot be written saves a result of an account that is none, and deletes it (probe.go).
-- +goose StatementBegin
CREATE TRIGGER store_result AFTER INSERT ON results WHEN NEW.account_id <> x'00' BEGIN
    INSERT INTO stored_bytes VALUES (NEW.account_id, NEW.bytes) ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER remove_result AFTER DELETE ON results WHEN OLD.account_id <> x'00' BEGIN
    UPDATE stored_bytes SET bytes = bytes - OLD.bytes WHERE account_id = OLD.account_id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER store_file AFTER INSERT ON files BEGIN
    INSERT INTO stored_bytes VALUES (NEW.account_id, NEW.bytes) ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER change_file AFTER UPDATE OF status, copy_bytes ON files BEGIN
    UPDATE stored_bytes SET bytes = bytes + iif(NEW.status = 'deleted', 0, NEW.bytes + NEW.copy_bytes)
        - iif(OLD.status = 'deleted', 0, OLD.bytes + OLD.copy_bytes)
    WHERE account_id = NEW.account_id;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER change_file;
DROP TRIGGER store_file;
DROP TRIGGER remove_result;
DROP TRIGGER store_result;
DROP VIEW stored_bytes_now;
DROP TABLE stored_bytes;
DROP INDEX files_uploading;
ALTER TABLE account_limits DROP COLUMN stored_bytes;
ALTER TABLE results DROP COLUMN bytes;
