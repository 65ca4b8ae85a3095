// The call to the model, in the systemone wire format, over kept connections.
import { Pool } from 'undici'

const url = new URL(process.env.MODEL_URL)
const path = `${url.pathname.replace(/\/$/, '')}/systemone`
const pool = new Pool(url.origin, { connections: 256, headersTimeout: 15_000, bodyTimeout: 15_000 })
const wireTypes = { choice: 'choice', yes_no: 'noul', scale: 'score' }

const described = (o) => o.description ? `${o.label}: ${o.description}` : o.label

const optionsOf = (q) => q.insufficient_information
  ? [...q.options, { key: 'insufficient_information', label: 'Insufficient information' }]
  : q.options

function wireQuestion (definition, q) {
  const asked = {
    type: wireTypes[q.type],
    instructions: definition.instructions ? `${definition.instructions}\n\n${q.text}` : q.text
  }
  if (q.type === 'choice') asked.criteria = Object.fromEntries(optionsOf(q).map((o) => [o.key, described(o)]))
  if (q.type === 'scale') asked.criteria = q.levels.map((level) => level.label)
  return asked
}

// The questions of a definition as JSON, made once.
const asJSON = new WeakMap()

function questionsOf (definition) {
  let json = asJSON.get(definition)
  if (!json) {
    json = JSON.stringify(Object.fromEntries(definition.questions.map((q) => [q.key, wireQuestion(definition, q)])))
    asJSON.set(definition, json)
  }
  return json
}

const usable = (p) => typeof p === 'number' && p >= 0

function answerOf (q, said) {
  if (!said) return null
  if (q.type === 'yes_no') {
    return usable(said.noul) && said.noul <= 1 ? { type: q.type, probability: said.noul } : null
  }
  const keys = (q.type === 'choice' ? optionsOf(q) : q.levels).map((o) => o.key)
  const given = keys.map((key, i) => said.probabilities?.[q.type === 'choice' ? key : i])
  if (!given.every(usable)) return null
  const sum = given.reduce((a, b) => a + b, 0)
  if (Math.abs(sum - 1) > 0.05 + 1e-9) return null
  const probabilities = {}
  let best = 0
  keys.forEach((key, i) => {
    probabilities[key] = given[i] / sum
    if (given[i] / sum > given[best] / sum) best = i
  })
  if (q.type === 'scale') return { type: q.type, level: keys[best], probabilities }
  const guess = 1 / keys.length
  const confidence = Math.min(Math.max((given[best] / sum - guess) / (1 - guess), 0), 1)
  return { type: q.type, value: keys[best], probabilities, confidence }
}

// The answers by question key, or the error of a failed result.
export async function ask (definition, fields, context) {
  const state = context ? { context } : {}
  for (const field of fields) state[field.key] = field.value
  let said
  try {
    const { statusCode, body } = await pool.request({
      path,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"model":"jev-latest","state":${JSON.stringify(state)},"questions":${questionsOf(definition)}}`
    })
    if (statusCode !== 200) {
      await body.dump()
      return { answers: null, error: `The model service refused the call (status ${statusCode}).` }
    }
    said = await body.json()
  } catch {
    return { answers: null, error: 'The model service could not be reached.' }
  }
  const answers = {}
  for (const q of definition.questions) {
    answers[q.key] = answerOf(q, said.answers?.[q.key])
    if (!answers[q.key]) return { answers: null, error: `The model gave no usable answer to question ${q.key}.` }
  }
  return { answers, error: null }
}
