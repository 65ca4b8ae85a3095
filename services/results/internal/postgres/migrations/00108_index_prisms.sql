-- The prisms whose results searches leave out (spec: prism-searchable), and those whose results they left out before. The results from old
-- on are in the index, or taken out of it, as searchable says; null: all of them.

-- +goose Up
CREATE TABLE index_prisms (
    account_id uuid    NOT NULL,
    prism_id   uuid    NOT NULL,
    searchable boolean NOT NULL,
    old        uuid,
    CONSTRAINT index_prisms_pkey PRIMARY KEY (account_id, prism_id)
);
