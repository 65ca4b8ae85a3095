import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { type OpenApi, type Operation, read } from './document';
import { sample } from './samples';

const operation = (of: Partial<Operation>): Operation => ({
  id: 'call', method: 'GET', path: '/v1/{id}', summary: '', description: '', body: undefined, answers: [], errors: [], needsKey: true,
  parameters: [{ name: 'id', in: 'path', schema: {}, example: 'a b' }], ...of,
});
const auth = ' \\\n  -H "Authorization: Bearer $PRISM_API_KEY"';
const body = (type: string, value: unknown) => ({ type, schema: {}, examples: [{ summary: '', value }] });
const origin = 'https://p.test';

test.each([
  ['a read without a method', {}, `curl "https://p.test/v1/a%20b"${auth}`],
  ['the method of a call without a body', { method: 'POST' }, `curl -X POST "https://p.test/v1/a%20b"${auth}`],
  ['the query where there is an example, and no header',
    { parameters: [
      { name: 'id', in: 'path', schema: {}, example: 'a b' }, { name: 'format', in: 'query', schema: {}, example: 'csv' },
      { name: 'to', in: 'query', schema: {} }, { name: 'If-Match', in: 'header', schema: {}, example: '"a"' },
    ] }, `curl "https://p.test/v1/a%20b?format=csv"${auth}`],
  ['a body quoted for the shell', { method: 'PUT', body: body('application/json', { a: "it's" }) },
    `curl -X PUT "https://p.test/v1/a%20b"${auth} \\\n  -H "Content-Type: application/json" \\\n  -d '{"a": "it'\\''s"}'`],
  ['bytes quoted for the shell', { method: 'PUT', body: body('application/octet-stream', "it's") },
    `curl -X PUT "https://p.test/v1/a%20b"${auth} \\\n  -H "Content-Type: application/octet-stream" \\\n  --data-binary 'it'\\''s'`],
] as [string, Partial<Operation>, string][])('curl: %s', (_, of, want) => {
  expect(sample('curl', operation(of), origin)).toBe(want);
});

test('a body is written in the words of each language', () => {
  const call = operation({ method: 'POST', body: body('application/json', { a: true, b: null, c: 'true `x`' }) });
  expect(sample('Python', call, origin)).toContain('json={"a": True, "b": None, "c": "true `x`"},');
  expect(sample('TypeScript', call, origin)).toContain('body: JSON.stringify({"a": true, "b": null, "c": "true `x`"}),');
  expect(sample('Go', call, origin)).toContain('strings.NewReader("{\\n\\t\\"a\\": true,');
});

test('every sample of TypeScript is TypeScript', () => {
  const reference = read(JSON.parse(readFileSync('../services/gateway/internal/apidoc/openapi.json', 'utf8')) as OpenApi);
  for (const each of reference.groups.flatMap((group) => group.operations)) {
    const { diagnostics } = ts.transpileModule(sample('TypeScript', each, origin), { reportDiagnostics: true, compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 } });
    expect(diagnostics, each.id).toEqual([]);
  }
});
