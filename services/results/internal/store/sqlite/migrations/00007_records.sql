-- A result has the call of its model and the API key that made the call (spec: record-members). They are null for results that
-- were saved before.

-- +goose Up
ALTER TABLE results ADD COLUMN key_id BLOB;
ALTER TABLE results ADD COLUMN model TEXT;
ALTER TABLE results ADD COLUMN input_tokens INTEGER;
ALTER TABLE results ADD COLUMN output_tokens INTEGER;
ALTER TABLE results ADD COLUMN cost INTEGER;
ALTER TABLE results ADD COLUMN currency TEXT;
ALTER TABLE results ADD COLUMN call BLOB;

-- +goose Down
ALTER TABLE results DROP COLUMN call;
ALTER TABLE results DROP COLUMN currency;
ALTER TABLE results DROP COLUMN cost;
ALTER TABLE results DROP COLUMN output_tokens;
ALTER TABLE results DROP COLUMN input_tokens;
ALTER TABLE results DROP COLUMN model;
ALTER TABLE results DROP COLUMN key_id;
