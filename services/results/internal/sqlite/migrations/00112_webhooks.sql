-- Webhooks, and events for them (spec: webhook-create, delivery-tries).
--
-- webhooks: generation counts how often the webhook was disabled. change and other are the place behind the last event that was looked at,
-- last_id is the id of the last delivery, and waiting how many wait. due_at is when somebody may take the webhook: when its next delivery is
-- due, or while token is set, when the lease ends; null: nothing waits. leftover: the webhook is deleted, or deliveries of an earlier
-- generation are still to be marked as failed.
--
-- deliveries: state is 0 for delivered, -1 for failed, and else the generation of the webhook in which the event waits; if that is over, it
-- has failed. due_at is when it is tried again, or null. aside: others go on before it. tries are those since it was last sent anew, tried is
-- the log.

-- +goose Up
CREATE TABLE webhooks (
    account_id      BLOB NOT NULL,
    id              BLOB NOT NULL,
    url             TEXT NOT NULL,
    settings        BLOB NOT NULL,
    secret          BLOB NOT NULL,
    previous_secret BLOB,
    previous_until  INTEGER,
    created_at      INTEGER NOT NULL,
    deleted         INTEGER NOT NULL,
    enabled         INTEGER NOT NULL,
    disabled_reason TEXT NOT NULL,
    generation      INTEGER NOT NULL,
    change          INTEGER NOT NULL,
    other           INTEGER NOT NULL,
    last_id         BLOB NOT NULL,
    waiting         INTEGER NOT NULL,
    due_at          INTEGER,
    token           BLOB,
    healthy         INTEGER NOT NULL,
    aside_first     INTEGER NOT NULL,
    leftover        INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_due ON webhooks (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhooks_leased ON webhooks (account_id) WHERE token IS NOT NULL;
CREATE INDEX webhooks_leftover ON webhooks (account_id) WHERE leftover;
CREATE TABLE deliveries (
    account_id BLOB NOT NULL,
    webhook_id BLOB NOT NULL,
    id         BLOB NOT NULL,
    event      BLOB NOT NULL,
    state      INTEGER NOT NULL,
    aside      INTEGER NOT NULL,
    tries      INTEGER NOT NULL,
    tried      BLOB NOT NULL,
    due_at     INTEGER,
    remove_at  INTEGER,
    PRIMARY KEY (account_id, webhook_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_by_state ON deliveries (account_id, webhook_id, state, id, aside);
CREATE INDEX deliveries_tried ON deliveries (account_id, webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_ended ON deliveries (remove_at) WHERE remove_at IS NOT NULL;
