-- Counts of answers by time (spec: distribution-exact). counts has those of the four quarters of the hour that begins at at, encoded by the
-- program. A cursor is how far the counting of an account is in changes; results with ids below walk are still to be counted, but for those
-- in distribution_seen, which changes told meanwhile. distribution_labels are the labels that are counted.

-- +goose Up
CREATE TABLE distribution (
    account_id uuid           NOT NULL,
    prism_id   uuid           NOT NULL,
    question   text           NOT NULL COLLATE "C",
    at         timestamptz(3) NOT NULL,
    version    integer        NOT NULL,
    counts     bytea          NOT NULL,
    CONSTRAINT distribution_pkey PRIMARY KEY (account_id, prism_id, question, at, version)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);

CREATE TABLE distribution_cursors (
    account_id uuid   NOT NULL,
    seq        bigint NOT NULL,
    walk       uuid   NOT NULL,
    CONSTRAINT distribution_cursors_pkey PRIMARY KEY (account_id)
) WITH (fillfactor = 50);

CREATE TABLE distribution_seen (
    account_id uuid NOT NULL,
    result_id  uuid NOT NULL,
    CONSTRAINT distribution_seen_pkey PRIMARY KEY (account_id, result_id)
);

CREATE TABLE distribution_labels (
    account_id uuid    NOT NULL,
    result_id  uuid    NOT NULL,
    question   text    NOT NULL COLLATE "C",
    is_right   integer NOT NULL,
    CONSTRAINT distribution_labels_pkey PRIMARY KEY (account_id, result_id, question)
);
