-- A prism names the versions that it has by a hash, so that a definition in memory is not used for the version of another
-- history (spec: cached-definition). The previous release leaves the hash as it is when it adds a version.

-- +goose Up
ALTER TABLE prisms ADD COLUMN versions_hash INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE prisms DROP COLUMN versions_hash;
