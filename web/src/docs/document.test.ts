import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { limits, objectsIn, type OpenApi, read } from './document';
import { entriesOf, find } from './search';

const reference = read(JSON.parse(readFileSync('../services/gateway/internal/apidoc/openapi.json', 'utf8')) as OpenApi);
const operations = reference.groups.flatMap((group) => group.operations);
const of = (id: string) => operations.find((operation) => operation.id === id)!;

test('every call is in one group, with what refers elsewhere followed', () => {
  const ids = operations.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { id, parameters, body, answers, errors } of operations) {
    expect(parameters.every((parameter) => parameter.name && parameter.schema), id).toBe(true);
    expect(body === undefined || body.examples.length > 0, id).toBe(true);
    expect(answers.length, id).toBeGreaterThan(0);
    expect(errors.length, id).toBeGreaterThan(2);
    expect(errors.every((row) => row.message && row.when), id).toBe(true);
  }
});

test('an error has its code, and the 503 has none', () => {
  const { errors } = of('listKeys');
  expect(errors.find((row) => row.status === '401')?.code).toBe('unauthorized');
  expect(errors.find((row) => row.status === '503')).toMatchObject({ code: undefined, message: 'Service Unavailable' });
});

test('the description is an opening and chapters', () => {
  expect(reference.opening).toMatch(/^A \*\*prism\*\*/m);
  expect(reference.chapters[0]).toMatchObject({ name: 'Authentication' });
  expect(reference.chapters[0]!.text).not.toContain('##');
});

test('objects are found in lists, maps and choices', () => {
  const found = (schema: Parameters<typeof objectsIn>[0]) => objectsIn(schema, {
    A: { properties: { a: {} } }, Either: { oneOf: [{ $ref: '#/components/schemas/A' }, { type: 'null' }] },
  }).map(({ name }) => name);
  const a = { $ref: '#/components/schemas/A' };
  expect(found(a)).toEqual(['A']);
  expect(found({ type: 'array', items: a })).toEqual(['A']);
  expect(found({ additionalProperties: { type: 'array', items: a } })).toEqual(['A']);
  expect(found({ $ref: '#/components/schemas/Either' })).toEqual(['A']);
  expect(found({ properties: { b: {} } })).toEqual([undefined]);
  expect(found({ type: 'string', additionalProperties: true })).toEqual([]);
});

test('limits are short', () => {
  expect(limits({
    enum: ['a'], minLength: 1, maxLength: 100000, minItems: 1, maxItems: 1, minimum: 0, maximum: 1, pattern: '^a$', default: 0.5,
  }))
    .toEqual(['a', '1–100,000 characters', '1–1 items', '≥ 0', '≤ 1', '^a$', 'default 0.5']);
  expect(limits({ minLength: 2, maxItems: 3 })).toEqual(['≥ 2 characters', '≤ 3 items']);
});

test('the search finds calls, members, errors and chapters, titles first', () => {
  const entries = entriesOf(reference);
  const ids = (query: string) => find(entries, query).map(({ id }) => id);
  expect(ids('create a result')[0]).toBe('createResult');
  expect(ids('idempotency_key')[0]).toBe('createResult.body.idempotency_key');
  expect(ids('/v1/usage')).toContain('readUsage');
  expect(ids('formats')[0]).toBe('formats');
  expect(ids('lens')[0]).toMatch(/[Ll]ens/);
  expect(ids('Invalid API key').length).toBeGreaterThan(0);
  expect(ids('createResult')).toContain('createResult');
  expect(ids('no such words at all')).toEqual([]);
  expect(ids(' ')).toEqual([]);
  expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
});
