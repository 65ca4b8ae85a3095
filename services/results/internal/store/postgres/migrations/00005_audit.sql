-- The audit: who changed what, and when (spec: audit-entry-members). An entry outlives what it is about, so it has no foreign
-- key. The previous release works without the table: its changes have no entries.

-- +goose Up
CREATE TABLE audit (
    account_id  uuid           NOT NULL,
    id          uuid           NOT NULL,
    created_at  timestamptz(3) NOT NULL,
    actor_kind  text           NOT NULL COLLATE "C",
    actor_id    uuid,
    actor_name  text           NOT NULL,
    action      text           NOT NULL COLLATE "C",
    object_kind text           NOT NULL COLLATE "C",
    object_id   uuid           NOT NULL,
    object_name text           NOT NULL,
    detail      json           NOT NULL,
    CONSTRAINT audit_pkey PRIMARY KEY (account_id, id),
    CONSTRAINT audit_actor_check CHECK ((actor_kind = 'key') = (actor_id IS NOT NULL))
);

-- Entries are never changed (spec: audit-append-only).
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION refuse_change_of_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit is append-only';
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit();

-- +goose Down
DROP TABLE audit;
DROP FUNCTION refuse_change_of_audit();
