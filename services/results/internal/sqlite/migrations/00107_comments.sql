-- Comments of results, and whom results are assigned to (spec: comment-create, assignee-put). They are deleted with their result.

-- +goose Up
CREATE TABLE comments (
    account_id  BLOB    NOT NULL,
    result_id   BLOB    NOT NULL,
    id          BLOB    NOT NULL,
    author_kind TEXT    NOT NULL,
    author_id   BLOB    NOT NULL,
    text        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, result_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE assignments (
    account_id BLOB NOT NULL,
    result_id  BLOB NOT NULL,
    member_id  BLOB NOT NULL,
    PRIMARY KEY (account_id, result_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX assignments_by_member ON assignments (account_id, member_id, result_id);
-- +goose StatementBegin
CREATE TRIGGER store_comment AFTER INSERT ON comments BEGIN
    INSERT INTO stored_bytes VALUES (NEW.account_id, length(CAST(NEW.text AS BLOB)) + 256)
    ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER remove_comment AFTER DELETE ON comments BEGIN
    UPDATE stored_bytes SET bytes = bytes - length(CAST(OLD.text AS BLOB)) - 256 WHERE account_id = OLD.account_id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER result_discussed AFTER DELETE ON results WHEN OLD.account_id <> x'00' BEGIN
    DELETE FROM comments WHERE account_id = OLD.account_id AND result_id = OLD.id;
    DELETE FROM assignments WHERE account_id = OLD.account_id AND result_id = OLD.id;
END;
-- +goose StatementEnd
