-- Saved views of results (spec: view-create). shows has the filters, without the prism, and the columns.

-- +goose Up
CREATE TABLE views (
    account_id uuid           NOT NULL,
    id         uuid           NOT NULL,
    prism_id   uuid,
    name       text           NOT NULL,
    shows      json           NOT NULL,
    is_default boolean        NOT NULL,
    created_at timestamptz(3) NOT NULL,
    CONSTRAINT views_pkey PRIMARY KEY (account_id, id)
);
