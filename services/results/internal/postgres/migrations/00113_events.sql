-- Events (spec: event-types): what happened to runs, prisms, keys and drift, in the order in which it is told, as changes of results are. Each is
-- written in event_tail by the transaction of what it tells, and gets its number when the tail is folded. The tail of results has none of
-- them: the release before would number them as changes, and a save writes not a byte more.

-- +goose Up
CREATE TABLE event_tail (
    account_id uuid           NOT NULL,
    prism_id   uuid,
    subject_id uuid,
    position   bigint         NOT NULL GENERATED ALWAYS AS IDENTITY,
    at         timestamptz(3) NOT NULL,
    type       text           NOT NULL COLLATE "C",
    detail     json           NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
COMMENT ON COLUMN event_tail.subject_id IS 'the run of run.…, and the key of key.expiring';
ALTER TABLE event_tail REPLICA IDENTITY FULL;

-- As changes: for 30 days, and the last one of each account for good. event_counts is as change_counts.
CREATE TABLE events (
    account_id uuid           NOT NULL,
    seq        bigint         NOT NULL,
    at         timestamptz(3) NOT NULL,
    type       text           NOT NULL COLLATE "C",
    prism_id   uuid,
    subject_id uuid,
    detail     json           NOT NULL,
    CONSTRAINT events_pkey PRIMARY KEY (account_id, seq)
);

CREATE VIEW event_counts AS
SELECT a.id AS account_id, coalesce((SELECT max(e.seq) FROM events e WHERE e.account_id = a.id), 0) AS seq,
    coalesce((SELECT min(e.seq) FROM events e WHERE e.account_id = a.id) - 1, 0) AS removed
FROM accounts a;

-- The alarms of drift that were told and have not ended (spec: event-types).
CREATE TABLE drift_alarms (
    account_id uuid    NOT NULL,
    prism_id   uuid    NOT NULL,
    version    integer NOT NULL,
    question   text    NOT NULL COLLATE "C",
    "option"   text    NOT NULL COLLATE "C",
    CONSTRAINT drift_alarms_pkey PRIMARY KEY (account_id, prism_id, version, question, "option")
);

-- The keys whose end was told (spec: event-types).
CREATE TABLE expiring_keys (
    account_id uuid           NOT NULL,
    key_id     uuid           NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    CONSTRAINT expiring_keys_pkey PRIMARY KEY (account_id, key_id)
);
