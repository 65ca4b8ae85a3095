// The statements: each is prepared once for each connection, and is one round trip and one transaction.
import pg from 'pg'

pg.types.setTypeParser(pg.types.builtins.INT8, Number)
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 16 })

async function query (name, text, values) {
  return (await pool.query({ name, text, values })).rows
}

const resultColumns = 'r.id, r.prism_id, r.version, r.ref, r.status, r.error, r.took_ms, r.created_at, r.answers'

// The result with the id, if the key's account has it; undefined when there is no such key.
export async function resultFacts (digest, id) {
  const [facts] = await query('result_facts', `
    SELECT k.account_id, p.slug, p.lens, ${resultColumns}
    FROM api_keys k
    LEFT JOIN results r ON r.account_id = k.account_id AND r.id = $2
    LEFT JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
    WHERE k.digest = $1 AND k.revoked_at IS NULL`, [digest, id])
  return facts
}

// Account, prism and version of a create, and the stored result of the idempotency key; undefined when there is no such
// API key. Version 0 means the latest.
export async function createFacts (digest, slug, version, key) {
  const [facts] = await query('create_facts', `
    SELECT k.account_id, p.id AS prism_id, p.slug, p.lens, p.archived_at, v.number AS version, r.id AS stored_id
    FROM api_keys k
    LEFT JOIN prisms p ON p.account_id = k.account_id AND p.slug = $2
    LEFT JOIN versions v ON v.account_id = k.account_id AND v.prism_id = p.id
      AND v.number = CASE $3::integer WHEN 0 THEN p.latest_version ELSE $3::integer END
    LEFT JOIN results r ON r.account_id = k.account_id AND r.idempotency_key = $4
    WHERE k.digest = $1 AND k.revoked_at IS NULL`, [digest, slug, version, key])
  return facts
}

export async function resultOfKey (account, key) {
  const [result] = await query('result_of_key', `
    SELECT ${resultColumns} FROM results r WHERE r.account_id = $1 AND r.idempotency_key = $2`, [account, key])
  return result
}

// Versions never change, so they are kept.
const definitions = new Map()

export async function definitionOf (account, prism, version) {
  const name = `${account} ${prism} ${version}`
  const kept = definitions.get(name)
  if (kept) return kept
  const [row] = await query('definition', `
    SELECT definition FROM versions WHERE account_id = $1 AND prism_id = $2 AND number = $3`, [account, prism, version])
  definitions.set(name, row.definition)
  return row.definition
}

// False when another result has the idempotency key already.
export async function saveResult (account, prism, r, key) {
  try {
    await query('save_result', `
      INSERT INTO results (account_id, id, prism_id, version, ref, context, fields, status, error, took_ms, created_at,
        answers, idempotency_key)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [account, r.id, prism, r.version, r.ref, r.context, JSON.stringify(r.fields), r.status, r.error, r.took_ms, r.created_at,
      r.answers && JSON.stringify(r.answers), key])
    return true
  } catch (error) {
    if (error.code === '23505' && key !== null) return false
    throw error
  }
}
