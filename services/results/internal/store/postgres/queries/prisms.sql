-- name: CreatePrism :exec
WITH created AS (
    INSERT INTO prisms (account_id, id, slug, name, lens, latest_version, created_at, archived_at)
    VALUES (sqlc.arg(account_id), sqlc.arg(id), sqlc.arg(slug), sqlc.arg(name), sqlc.arg(lens), sqlc.arg(number), sqlc.arg(created_at), sqlc.arg(archived_at))
    RETURNING account_id, id
)
INSERT INTO versions (account_id, prism_id, number, definition, created_at)
SELECT created.account_id, created.id, sqlc.arg(number), sqlc.arg(definition), sqlc.arg(version_created_at)
FROM created;

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
  AND (p.archived_at IS NOT NULL) = sqlc.arg(archived)::bool
  AND p.id < sqlc.arg(before)::uuid
ORDER BY p.id DESC
LIMIT sqlc.arg(max);

-- name: Version :one
SELECT number, definition, created_at
FROM versions
WHERE account_id = sqlc.arg(account_id) AND prism_id = sqlc.arg(prism_id) AND number = sqlc.arg(number);

-- name: AddVersion :one
-- The lock makes what is returned the state that the change met, so a refusal's reason is never guessed.
WITH target AS (
    SELECT q.id AS target_id, (q.archived_at IS NOT NULL)::bool AS archived,
           (q.latest_version = sqlc.arg(number)::integer - 1)::bool AS current
    FROM prisms q
    WHERE q.account_id = sqlc.arg(account_id) AND q.id = sqlc.arg(id)
    FOR UPDATE
), bumped AS (
    UPDATE prisms p
    SET latest_version = sqlc.arg(number), lens = sqlc.arg(lens)
    FROM target
    WHERE p.account_id = sqlc.arg(account_id) AND p.id = target_id AND NOT archived AND current
    RETURNING p.account_id, p.id
), added AS (
    INSERT INTO versions (account_id, prism_id, number, definition, created_at)
    SELECT bumped.account_id, bumped.id, sqlc.arg(number), sqlc.arg(definition), sqlc.arg(created_at)
    FROM bumped
)
SELECT target.archived, target.current FROM target;

-- name: PutLens :one
WITH target AS (
    SELECT q.id AS target_id, (q.archived_at IS NOT NULL)::bool AS archived,
           (q.latest_version = sqlc.arg(latest_version))::bool AS current
    FROM prisms q
    WHERE q.account_id = sqlc.arg(account_id) AND q.id = sqlc.arg(id)
    FOR UPDATE
), changed AS (
    UPDATE prisms p
    SET lens = sqlc.arg(lens)
    FROM target
    WHERE p.account_id = sqlc.arg(account_id) AND p.id = target_id AND NOT archived AND current
)
SELECT target.archived, target.current FROM target;

-- name: Archive :execrows
UPDATE prisms SET archived_at = coalesce(archived_at, sqlc.arg(at)::timestamptz) WHERE account_id = sqlc.arg(account_id) AND id = sqlc.arg(id);

-- name: Unarchive :execrows
UPDATE prisms SET archived_at = NULL WHERE account_id = sqlc.arg(account_id) AND id = sqlc.arg(id);
