-- Events (spec: event-types): what happened to runs, prisms, keys and drift, in the order of their commits, for 30 days, and the last one of each
-- account for good. event_counts is as change_counts.

-- +goose Up
CREATE TABLE events (
    account_id BLOB    NOT NULL,
    seq        INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    type       TEXT    NOT NULL,
    prism_id   BLOB,
    subject_id BLOB, -- the run of run.…, and the key of key.expiring
    detail     BLOB    NOT NULL,
    PRIMARY KEY (account_id, seq)
) STRICT, WITHOUT ROWID;

CREATE VIEW event_counts AS
SELECT a.id AS account_id, coalesce((SELECT max(e.seq) FROM events e WHERE e.account_id = a.id), 0) AS seq,
    coalesce((SELECT min(e.seq) FROM events e WHERE e.account_id = a.id) - 1, 0) AS removed
FROM accounts a;

-- What is inserted in the tail gets its number at once, so there is never a row.
CREATE VIEW event_tail AS SELECT account_id, at, type, prism_id, subject_id, detail FROM events WHERE false;
-- +goose StatementBegin
CREATE TRIGGER tail_event INSTEAD OF INSERT ON event_tail BEGIN
    INSERT INTO events (account_id, seq, at, type, prism_id, subject_id, detail)
    SELECT NEW.account_id, coalesce(max(e.seq), 0) + 1, NEW.at, NEW.type, NEW.prism_id, NEW.subject_id, NEW.detail
    FROM events e WHERE e.account_id = NEW.account_id;
END;
-- +goose StatementEnd

-- The alarms of drift that were told and have not ended (spec: event-types).
CREATE TABLE drift_alarms (
    account_id BLOB    NOT NULL,
    prism_id   BLOB    NOT NULL,
    version    INTEGER NOT NULL,
    question   TEXT    NOT NULL,
    "option"   TEXT    NOT NULL,
    PRIMARY KEY (account_id, prism_id, version, question, "option")
) STRICT, WITHOUT ROWID;

-- The keys whose end was told (spec: event-types).
CREATE TABLE expiring_keys (
    account_id BLOB    NOT NULL,
    key_id     BLOB    NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, key_id)
) STRICT, WITHOUT ROWID;
