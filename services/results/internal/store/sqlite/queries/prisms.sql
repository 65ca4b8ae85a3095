-- name: CreatePrism :exec
INSERT INTO prisms (account_id, id, slug, name, lens, latest_version, created_at, archived_at)
VALUES (sqlc.arg(account_id), sqlc.arg(id), sqlc.arg(slug), sqlc.arg(name), sqlc.arg(lens), sqlc.arg(latest_version),
        sqlc.arg(created_at), sqlc.narg(archived_at));

-- name: CreateVersion :exec
INSERT INTO versions (account_id, prism_id, number, definition, created_at)
VALUES (sqlc.arg(account_id), sqlc.arg(prism_id), sqlc.arg(number), sqlc.arg(definition), sqlc.arg(created_at));

-- name: PrismByID :one
SELECT p.id, p.slug, p.name, p.lens, p.created_at, p.archived_at,
       v.number, v.definition, v.created_at AS version_created_at
FROM prisms p
JOIN versions v ON v.account_id = p.account_id AND v.prism_id = p.id AND v.number = p.latest_version
WHERE p.account_id = sqlc.arg(account_id) AND p.id = sqlc.arg(id);

-- name: PrismBySlug :one
SELECT p.id, p.slug, p.name, p.lens, p.created_at, p.archived_at,
       v.number, v.definition, v.created_at AS version_created_at
FROM prisms p
JOIN versions v ON v.account_id = p.account_id AND v.prism_id = p.id AND v.number = p.latest_version
WHERE p.account_id = sqlc.arg(account_id) AND p.slug = sqlc.arg(slug);

-- name: ListPrisms :many
SELECT p.id, p.slug, p.name, p.lens, p.created_at, p.archived_at,
       v.number, v.definition, v.created_at AS version_created_at
FROM prisms p
JOIN versions v ON v.account_id = p.account_id AND v.prism_id = p.id AND v.number = p.latest_version
WHERE p.account_id = sqlc.arg(account_id)
  AND (p.archived_at IS NOT NULL) = CAST(sqlc.arg(archived) AS INTEGER)
  AND p.id < CAST(sqlc.arg(before) AS BLOB)
ORDER BY p.id DESC
LIMIT sqlc.arg(max);

-- name: PrismState :one
SELECT latest_version, archived_at FROM prisms WHERE account_id = sqlc.arg(account_id) AND id = sqlc.arg(id);

-- name: Version :one
SELECT number, definition, created_at
FROM versions
WHERE account_id = sqlc.arg(account_id) AND prism_id = sqlc.arg(prism_id) AND number = sqlc.arg(number);

-- name: SetLatest :exec
UPDATE prisms
SET latest_version = sqlc.arg(latest_version), lens = sqlc.arg(lens)
WHERE account_id = sqlc.arg(account_id) AND id = sqlc.arg(id);

-- name: Archive :execrows
UPDATE prisms
SET archived_at = coalesce(archived_at, CAST(sqlc.arg(at) AS INTEGER))
WHERE account_id = sqlc.arg(account_id) AND id = sqlc.arg(id);

-- name: Unarchive :execrows
UPDATE prisms SET archived_at = NULL WHERE account_id = sqlc.arg(account_id) AND id = sqlc.arg(id);
