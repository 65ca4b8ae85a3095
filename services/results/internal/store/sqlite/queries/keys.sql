-- name: CreateAccount :exec
INSERT INTO accounts (id, name, created_at) VALUES (sqlc.arg(id), sqlc.arg(name), sqlc.arg(created_at));

-- name: AccountByName :one
SELECT id FROM accounts WHERE name = sqlc.arg(name);

-- name: Authenticate :one
SELECT account_id, id FROM api_keys WHERE digest = sqlc.arg(digest) AND revoked_at IS NULL;

-- name: CreateKey :exec
INSERT INTO api_keys (id, account_id, digest, prefix, name, created_at, last_used_at, revoked_at)
VALUES (sqlc.arg(id), sqlc.arg(account_id), sqlc.arg(digest), sqlc.arg(prefix), sqlc.arg(name), sqlc.arg(created_at),
        sqlc.narg(last_used_at), sqlc.narg(revoked_at));

-- name: ListAccounts :many
SELECT id, name, created_at FROM accounts ORDER BY name;

-- name: ListKeys :many
SELECT id, name, prefix, created_at, last_used_at, revoked_at
FROM api_keys
WHERE account_id = sqlc.arg(account_id)
ORDER BY created_at DESC, id DESC;

-- name: RevokeKey :one
UPDATE api_keys
SET revoked_at = coalesce(revoked_at, CAST(sqlc.arg(at) AS INTEGER))
WHERE id = sqlc.arg(id) AND account_id = sqlc.arg(account_id)
RETURNING id, name, prefix, created_at, last_used_at, revoked_at;

-- name: RevokeAnyKey :one
UPDATE api_keys
SET revoked_at = coalesce(revoked_at, CAST(sqlc.arg(at) AS INTEGER))
WHERE id = sqlc.arg(id)
RETURNING id, name, prefix, created_at, last_used_at, revoked_at;

-- name: TouchKey :exec
UPDATE api_keys
SET last_used_at = max(coalesce(last_used_at, 0), CAST(sqlc.arg(at) AS INTEGER))
WHERE id = sqlc.arg(id);
