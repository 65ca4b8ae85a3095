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
    account_id      uuid           NOT NULL,
    id              uuid           NOT NULL,
    url             text           NOT NULL,
    settings        json           NOT NULL,
    secret          bytea          NOT NULL,
    previous_secret bytea,
    previous_until  timestamptz(3),
    created_at      timestamptz(3) NOT NULL,
    deleted         boolean        NOT NULL,
    enabled         boolean        NOT NULL,
    disabled_reason text           NOT NULL,
    generation      bigint         NOT NULL,
    change          bigint         NOT NULL,
    other           bigint         NOT NULL,
    last_id         uuid           NOT NULL,
    waiting         bigint         NOT NULL,
    due_at          timestamptz(3),
    token           uuid,
    healthy         boolean        NOT NULL,
    aside_first     boolean        NOT NULL,
    leftover        boolean        NOT NULL,
    CONSTRAINT webhooks_pkey PRIMARY KEY (account_id, id)
);
CREATE INDEX webhooks_due ON webhooks (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhooks_leased ON webhooks (account_id) WHERE token IS NOT NULL;
CREATE INDEX webhooks_leftover ON webhooks (account_id) WHERE leftover;
CREATE TABLE deliveries (
    account_id uuid    NOT NULL,
    webhook_id uuid    NOT NULL,
    id         uuid    NOT NULL,
    event      json    NOT NULL,
    state      bigint  NOT NULL,
    aside      boolean NOT NULL,
    tries      integer NOT NULL,
    tried      json    NOT NULL,
    due_at     timestamptz(3),
    remove_at  timestamptz(3),
    CONSTRAINT deliveries_pkey PRIMARY KEY (account_id, webhook_id, id)
);
CREATE INDEX deliveries_by_state ON deliveries (account_id, webhook_id, state, id, aside);
CREATE INDEX deliveries_tried ON deliveries (account_id, webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_ended ON deliveries (remove_at) WHERE remove_at IS NOT NULL;
