-- API keys have a role and may expire (spec: roles, key-expiry). A key that was made before is an owner. Lists are ordered
-- by id, and the active keys of an account are counted.

-- +goose Up
ALTER TABLE api_keys ADD COLUMN role TEXT NOT NULL DEFAULT 'owner';
ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
DROP INDEX api_keys_newest;
CREATE INDEX api_keys_by_id ON api_keys (account_id, id);
CREATE INDEX api_keys_active ON api_keys (account_id) WHERE revoked_at IS NULL;

-- +goose Down
DROP INDEX api_keys_active;
DROP INDEX api_keys_by_id;
CREATE INDEX api_keys_newest ON api_keys (account_id, created_at, id);
ALTER TABLE api_keys DROP COLUMN expires_at;
ALTER TABLE api_keys DROP COLUMN role;
