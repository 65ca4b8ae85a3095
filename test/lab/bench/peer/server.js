// What a user would write instead of Prism: one process of Node with Fastify and pg, on Prism's own tables. It answers
// the calls that the benchmark makes with the bytes of Prism: reads in format json, and creates with and without an
// idempotency key. It has no retries, no other formats, no exact count of tokens, and no metrics, traces or logs.
import { hash } from 'node:crypto'
import Fastify from 'fastify'
import { v7 } from 'uuid'
import { throughLens } from './lens.js'
import { ask } from './model.js'
import { createFacts, definitionOf, resultFacts, resultOfKey, saveResult } from './store.js'

const text = { type: 'string', maxLength: 100_000 }
const createSchema = {
  params: { type: 'object', properties: { prism: { type: 'string', maxLength: 64 } } },
  body: {
    type: 'object',
    properties: {
      fields: { type: 'object', additionalProperties: text },
      text,
      version: { type: 'integer', minimum: 1, maximum: 2147483647 },
      idempotency_key: { type: 'string', minLength: 1, maxLength: 200 },
      ref: { type: ['string', 'null'], maxLength: 200 },
      context: text
    },
    oneOf: [{ required: ['fields'] }, { required: ['text'] }]
  }
}
const readSchema = { params: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } } } }

// Fastify compiles this schema into a serializer.
const resultSchema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    ref: { type: ['string', 'null'] },
    prism: { type: 'string' },
    version: { type: 'integer' },
    status: { type: 'string' },
    error: { type: ['string', 'null'] },
    took_ms: { type: 'integer' },
    created_at: { type: 'string' },
    answers: {}
  }
}
const response = { 200: resultSchema, 502: resultSchema }

class HTTPError extends Error {
  constructor (statusCode, code, message) {
    super(message)
    Object.assign(this, { statusCode, code })
  }
}

const app = Fastify({ bodyLimit: 1 << 20, ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } })

app.setErrorHandler((error, request, reply) => {
  const status = error.statusCode ?? 500
  if (status === 500) console.error(error)
  const code = error instanceof HTTPError ? error.code : error.validation ? 'validation_failed' : status === 500 ? 'internal_error' : 'bad_request'
  reply.code(status).send({ error: { code, message: status === 500 ? 'Internal server error' : error.message } })
})

// The SHA-256 digest of the API key: the table has digests only.
function digestOf (request) {
  const header = request.headers.authorization
  if (!header) throw new HTTPError(401, 'unauthorized', 'Authentication required')
  const [scheme, key] = header.split(' ')
  if (scheme.toLowerCase() !== 'bearer' || !key) throw new HTTPError(401, 'unauthorized', 'Invalid API key')
  return hash('sha256', key, 'buffer')
}

function view (result, slug, lens, definition) {
  return {
    id: result.id,
    ref: result.ref,
    prism: slug,
    version: result.version,
    status: result.status,
    error: result.error,
    took_ms: result.took_ms,
    created_at: result.created_at.toISOString(),
    answers: result.answers === null ? null : throughLens(lens, definition, result.answers)
  }
}

app.get('/v1/results/:id', { schema: { ...readSchema, response } }, async (request) => {
  const facts = await resultFacts(digestOf(request), request.params.id)
  if (!facts) throw new HTTPError(401, 'unauthorized', 'Invalid API key')
  if (!facts.id) throw new HTTPError(404, 'not_found', 'Result not found')
  return view(facts, facts.slug, facts.lens, await definitionOf(facts.account_id, facts.prism_id, facts.version))
})

function checkedFields (definition, body) {
  const keys = definition.fields.map((field) => field.key)
  const sent = body.fields ?? (keys.length === 1 ? { [keys[0]]: body.text } : {})
  const missing = keys.filter((key) => !Object.hasOwn(sent, key))
  if (missing.length > 0) throw new HTTPError(400, 'validation_failed', `Missing fields: ${missing.join(', ')}`)
  const unknown = Object.keys(sent).filter((key) => !keys.includes(key))
  if (unknown.length > 0) throw new HTTPError(400, 'validation_failed', `Unknown fields: ${unknown.join(', ')}`)
  const fields = keys.map((key) => ({ key, value: sent[key] }))
  const longest = definition.questions.reduce((most, q) => Math.max(most, q.text.length), 0)
  const characters = fields.reduce((sum, field) => sum + field.value.length, longest + (body.context?.length ?? 0))
  if (characters / 4 > 26_000) throw new HTTPError(400, 'validation_failed', 'Request too large')
  return fields
}

// Calls with the same key in this process wait for each other. Across processes the unique constraint decides.
const running = new Map()

async function oneAtATime (name, work) {
  while (running.has(name)) await running.get(name).catch(() => {})
  const promise = work()
  running.set(name, promise)
  try {
    return await promise
  } finally {
    running.delete(name)
  }
}

async function create (digest, slug, body) {
  const key = body.idempotency_key ?? null
  const facts = await createFacts(digest, slug, body.version ?? 0, key)
  if (!facts) throw new HTTPError(401, 'unauthorized', 'Invalid API key')
  if (!facts.prism_id || facts.archived_at) throw new HTTPError(404, 'not_found', 'Prism not found')
  if (facts.stored_id) return repeat(facts, await resultOfKey(facts.account_id, key))
  if (!facts.version) throw new HTTPError(404, 'not_found', 'Prism version not found')
  const definition = await definitionOf(facts.account_id, facts.prism_id, facts.version)
  const fields = checkedFields(definition, body)
  const began = performance.now()
  const { answers, error } = await ask(definition, fields, body.context ?? '')
  const result = {
    id: v7(),
    version: facts.version,
    ref: body.ref ?? null,
    context: body.context ?? '',
    fields,
    status: error ? 'failed' : 'ok',
    error,
    took_ms: Math.floor(performance.now() - began),
    created_at: new Date(),
    answers
  }
  if (!await saveResult(facts.account_id, facts.prism_id, result, key)) {
    return repeat(facts, await resultOfKey(facts.account_id, key)) // another process was faster
  }
  return view(result, facts.slug, facts.lens, definition)
}

async function repeat (facts, stored) {
  if (stored.prism_id !== facts.prism_id) {
    throw new HTTPError(409, 'conflict', 'This idempotency key was already used for another prism.')
  }
  return view(stored, facts.slug, facts.lens, await definitionOf(facts.account_id, facts.prism_id, stored.version))
}

app.post('/v1/prisms/:prism/results', { schema: { ...createSchema, response } }, async (request, reply) => {
  const digest = digestOf(request)
  const { params: { prism }, body } = request
  const work = () => create(digest, prism, body)
  const key = body.idempotency_key
  const result = key ? await oneAtATime(`${digest.toString('base64')} ${key}`, work) : await work()
  return reply.code(result.status === 'ok' ? 200 : 502).send(result)
})

const [host, port] = process.env.LISTEN.split(':')
await app.listen({ host, port: Number(port) })
