-- Finds the keys that end soon without a look at all others (spec: event-types).

-- +goose Up
CREATE INDEX api_keys_expiring ON api_keys (expires_at) WHERE session_id IS NULL AND revoked_at IS NULL AND expires_at IS NOT NULL;
