-- The changes of results in the order of their commits, for 30 days, and the last one of each account for good, which has the greatest
-- number (spec: changes). Triggers write them, so those of the release before are told too. change_counts has for each account the number
-- of the last change, and of the last one that was removed.

-- +goose Up
CREATE TABLE changes (
    account_id BLOB    NOT NULL,
    seq        INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    type       INTEGER NOT NULL, -- 1 created, 2 retried, 3 labelled, 4 deleted
    prism_id   BLOB    NOT NULL,
    result_id  BLOB    NOT NULL,
    PRIMARY KEY (account_id, seq)
) STRICT, WITHOUT ROWID;

CREATE VIEW change_counts AS
SELECT a.id AS account_id, coalesce((SELECT max(c.seq) FROM changes c WHERE c.account_id = a.id), 0) AS seq,
    coalesce((SELECT min(c.seq) FROM changes c WHERE c.account_id = a.id) - 1, 0) AS removed
FROM accounts a;

-- What is inserted in the tail gets its number at once, so there is never a row. Its other columns are those of Postgres.
CREATE VIEW tail AS SELECT account_id, at, type, prism_id, result_id FROM changes WHERE false;
-- +goose StatementBegin
CREATE TRIGGER tail_change INSTEAD OF INSERT ON tail BEGIN
    INSERT INTO changes (account_id, seq, at, type, prism_id, result_id)
    SELECT NEW.account_id, coalesce(max(c.seq), 0) + 1, NEW.at, NEW.type, NEW.prism_id, NEW.result_id
    FROM changes c WHERE c.account_id = NEW.account_id;
END;
-- +goose StatementEnd
-- The probe is told as little as it is counted.
-- +goose StatementBegin
CREATE TRIGGER tail_result AFTER INSERT ON results WHEN NEW.account_id <> x'00' BEGIN
    INSERT INTO tail VALUES (NEW.account_id, NEW.created_at, 1, NEW.prism_id, NEW.id);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER tail_retried AFTER UPDATE OF retried_by ON results WHEN NEW.retried_by IS NOT NULL AND OLD.retried_by IS NOT NEW.retried_by
BEGIN
    INSERT INTO tail
    VALUES (NEW.account_id, CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER), 2, NEW.prism_id, NEW.id);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER tail_removed AFTER DELETE ON results WHEN OLD.account_id <> x'00' BEGIN
    INSERT INTO tail
    VALUES (OLD.account_id, CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER), 4, OLD.prism_id, OLD.id);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER tail_label AFTER INSERT ON labels BEGIN
    INSERT INTO tail VALUES (NEW.account_id, NEW.labelled_at, 3, NEW.prism_id, NEW.result_id);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER tail_label_changed AFTER UPDATE ON labels BEGIN
    INSERT INTO tail VALUES (NEW.account_id, NEW.labelled_at, 3, NEW.prism_id, NEW.result_id);
END;
-- +goose StatementEnd
-- A label is removed with its result, which is told already, or alone.
-- +goose StatementBegin
CREATE TRIGGER tail_label_removed AFTER DELETE ON labels
WHEN EXISTS (SELECT 1 FROM results r WHERE r.account_id = OLD.account_id AND r.id = OLD.result_id) BEGIN
    INSERT INTO tail
    VALUES (OLD.account_id, CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER), 3, OLD.prism_id, OLD.result_id);
END;
-- +goose StatementEnd
