import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { json, type OpenApi, type Operation, read } from '../document';
import { type Language, languages, sample } from '.';
import { curl } from './curl';
import { go } from './go';
import { python } from './python';
import type { Client, Method } from './signatures';
import { typeScript } from './typescript';

const reference = read(JSON.parse(readFileSync('../services/gateway/internal/apidoc/openapi.json', 'utf8')) as OpenApi);
const operations = reference.groups.flatMap((group) => group.operations);
// The samples of the calls that a client has a method for.
const all = (language: Language) => Object.fromEntries(operations.flatMap((each) => {
  const text = sample(language, each, 'https://prism.example.com');
  return text.endsWith('no method for this call.') ? [] : [[each.id, `${text}\n`] as const];
}));

const operation = (of: Partial<Operation>): Operation => ({
  id: 'call', method: 'GET', path: '/v1/{id}', summary: '', description: '', body: undefined, answers: [], errors: [],
  needsKey: true,
  parameters: [{ name: 'id', in: 'path', schema: {}, example: 'a b' }], ...of,
});
const auth = ' \\\n  -H "Authorization: Bearer $PRISM_API_KEY"';
const body = (value: unknown, type = json) => ({ type, schema: {}, examples: [{ summary: '', value }] });
const origin = 'https://p.test';

test.each([
  ['a read without a method', {}, `curl "https://p.test/v1/a%20b"${auth}`],
  ['the method of a call without a body', { method: 'POST' }, `curl -X POST "https://p.test/v1/a%20b"${auth}`],
  ['the query where there is an example, and no header',
    { parameters: [
      { name: 'id', in: 'path', schema: {}, example: 'a b' }, { name: 'format', in: 'query', schema: {}, example: 'csv' },
      { name: 'to', in: 'query', schema: {} }, { name: 'If-Match', in: 'header', schema: {}, example: '"a"' },
    ] }, `curl "https://p.test/v1/a%20b?format=csv"${auth}`],
  ['a body quoted for the shell', { method: 'PUT', body: body({ a: "it's" }) },
    `curl -X PUT "https://p.test/v1/a%20b"${auth} \\\n  -H "Content-Type: application/json" \\\n  -d '{"a": "it'\\''s"}'`],
  ['bytes quoted for the shell', { method: 'PUT', body: body("it's", 'application/octet-stream') },
    `curl -X PUT "https://p.test/v1/a%20b"${auth} \\\n  -H "Content-Type: application/octet-stream" \\\n`
    + `  --data-binary 'it'\\''s'`],
] as [string, Partial<Operation>, string][])('curl: %s', (_, of, want) => {
  expect(curl(operation(of), origin)).toBe(want);
});

// What a client has of the operation `call`, and the call that it makes.
type Case = [string, Partial<Operation>, Method['takes'], string];

describe('Go', () => {
  const types: Client['types'] = {
    New: [
      ['Name', 'string', 'name'], ['At', 'time.Time', 'at'], ['', 'Limits', ''], ['Parts', '[]Part', 'parts'],
      ['Made', '*Time', 'made'], ['By', '*Kind', 'by'],
    ],
    Limits: [['Most', '*float64', 'most']], Part: [['Keys', 'map[string]string', 'keys'], ['Inner', '*Part', 'inner']],
    Filter: [['KeyID', 'string', 'key_id']],
  };
  test.each([
    ['the path in its order',
      { parameters: [{ name: 'b', in: 'path', schema: {}, example: 'x' }, { name: 'n', in: 'path', schema: {}, example: 2 }] },
      [['id', 'string'], ['number', 'int']], 'c.Call(context.Background(), "x", 2)'],
    ['a member of the name, and the struct with the rest', { body: body({ name: 'a', expect: 3 }) },
      [['id', 'string'], ['n', 'New'], ['expect', 'int']],
      'c.Call(context.Background(), "a b", client.New{Name: "a"}, 3)'],
    ['a list of texts under another name', { body: body({ ids: ['x'] }) }, [['id', 'string'], ['results', '[]string']],
      'c.Call(context.Background(), "a b", []string{"x"})'],
    ['times, embedded structs and pointers',
      { body: body({ at: '2026-11-21T08:00:00Z', most: 5, made: '2026-01-01T00:00:00Z', by: 'you' }) },
      [['id', 'string'], ['n', 'New']],
      `c.Call(context.Background(), "a b", client.New{
\t\tAt: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC),
\t\tLimits: client.Limits{Most: new(5.0)},
\t\tMade: &client.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
\t\tBy: new(client.Kind("you")),
\t})`],
    ['lists, maps and pointers to structs', { body: body({ parts: [{ keys: { a: 'b' }, inner: { keys: {} } }] }) },
      [['id', 'string'], ['n', 'New']],
      `c.Call(context.Background(), "a b", client.New{
\t\tParts: []client.Part{
\t\t\t{
\t\t\t\tKeys: map[string]string{"a": "b"},
\t\t\t\tInner: &client.Part{Keys: map[string]string{}},
\t\t\t},
\t\t},
\t})`],
    ['null of a limit as 0, and of an argument as nil', { body: body({ most: null, days: null }) },
      [['id', 'string'], ['days', '*int'], ['l', 'Limits']],
      'c.Call(context.Background(), "a b", nil, client.Limits{\n\t\tMost: new(0),\n\t})'],
    ['bytes', { body: body('a\r\nb', 'application/octet-stream') }, [
      ['id', 'string'], ['data', '[]byte'],
    ], 'c.Call(context.Background(), "a b", []byte("a\\r\\nb"))'],
    ['the query, and zero for what has no example',
      { parameters: [
        { name: 'key_id', in: 'query', schema: {}, example: 'k' }, { name: 'limit', in: 'query', schema: { default: 50 } },
      ] },
      [['f', 'Filter'], ['limit', 'int'], ['p', '*Part'], ['g', 'Part']],
      'c.Call(\n\t\tcontext.Background(),\n\t\tclient.Filter{KeyID: "k"},\n\t\t50,\n\t\tnil,\n\t\tclient.Part{},\n\t)'],
  ] as Case[])('writes %s', (_, of, takes, want) => {
    const text = go(operation(of), origin, { methods: { call: { takes, gives: 'Answer' } }, types, basics: { Kind: 'string' } });
    expect(/response, err := (.*?)\n\tif err/s.exec(text!)![1]).toBe(want);
    expect(text!.includes('"time"')).toBe(want.includes('time.'));
  });
});

describe('TypeScript', () => {
  test.each([
    ['a body', { body: body({ a: true, 'b-c': [null, 1.5], d: '\'"' }) }, [['id', 'string'], ['n', 'New']],
      'prism.call("a b", { a: true, "b-c": [null, 1.5], d: "\'\\"" })'],
    ['a body without what the client sends', { body: body({ a: 1, status: 'failed', expect: 2 }) },
      [['id', 'string'], ['n', 'Retry'], ['expect', 'number']],
      'prism.call("a b", { a: 1 }, 2)'],
    ['a member and what is left, by their types', { body: body({ columns: [{ a: 1 }], result_ids: ['x'] }) },
      [['id', 'string'], ['lens', 'Lens'], ['results', 'string[]']],
      'prism.call("a b", { columns: [{ a: 1 }] }, ["x"])'],
    ['the whole body where its name is that of a member', { body: body({ try: { a: 1 }, text: 'x' }) },
      [['id', 'string'], ['try', 'NewTry']],
      'prism.call("a b", { try: { a: 1 }, text: "x" })'],
    ['the whole body where its type is that of the body',
      { body: { ...body({ labels: [] }), schema: { $ref: '#/components/schemas/Labels' } } },
      [['id', 'string'], ['labels', 'Labels']], 'prism.call("a b", { labels: [] })'],
    ['a member where its type is another', { body: body({ labels: {} }) }, [
      ['id', 'string'], ['labels', 'Labels'],
    ], 'prism.call("a b", {})'],
    ['null', { body: body({ days: null }) }, [['id', 'string'], ['days', 'number | null']], 'prism.call("a b", null)'],
    ['no selection without an example', {}, [['id', 'string'], ['selection', 'Selection<"call">']], 'prism.call("a b")'],
    [
      'a selection', { parameters: [{ name: 'format', in: 'query', schema: {}, example: 'csv' }] },
      [['selection', 'Selection<"call">']], 'prism.call({ format: "csv" })',
    ],
    ['bytes', { body: body('a', 'application/octet-stream') }, [
      ['id', 'string'], ['data', 'Uint8Array'],
    ], 'prism.call("a b", new TextEncoder().encode("a"))'],
  ] as Case[])('writes %s', (_, of, takes, want) => {
    const text = typeScript(
      operation(of), origin,
      { methods: { call: { takes, gives: 'Promise<Answer>' } }, types: { Retry: [['status', 'never']] }, basics: {} },
    );
    expect(/const response = await (.*?);\nconsole/s.exec(text!)![1]).toBe(want);
  });
});

describe('Python', () => {
  const types: Client['types'] = {
    Definition: [['fields', 'Sequence[Field]'], ['model', 'str | None']], Field: [['key', 'str'], ['on', 'bool']],
    Options: [['ref', 'str']],
  };
  test.each([
    ['names behind what has none', { body: body({ name: 'n', role: 'r' }) },
      [['id', 'str'], ['text', 'str | None'], ['role', 'Role', 'named']],
      'client.call("a b", "n", role="r")'],
    ['a model of the members that it has', { body: body({ slug: 's', fields: [{ key: 'k', on: true }], model: null }) },
      [['id', 'str'], ['slug', 'str'], ['definition', 'Definition']],
      'client.call(\n    "a b",\n    "s",\n    Definition(fields=[Field(key="k", on=True)], model=None),\n)'],
    ['a model of a member', { body: body({ definition: { fields: [] } }) }, [
      ['id', 'str'], ['definition', 'Definition'],
    ], 'client.call("a b", Definition(fields=[]))'],
    ['times, and from', { body: body({ from: '2026-11-21T00:00:00Z' }) }, [['id', 'str'], ['from_', 'datetime | None', 'named']],
      'client.call(\n    "a b",\n    from_=datetime.fromisoformat("2026-11-21T00:00:00+00:00"),\n)'],
    ['the rest', { body: body({ file: 'f', ref: 'r' }) }, [
      ['id', 'str'], ['file', 'str'], ['options', 'Unpack[Options]', 'rest'],
    ], 'client.call("a b", "f", ref="r")'],
    ['bytes', { body: body('ü', 'application/octet-stream') }, [
      ['id', 'str'], ['data', 'bytes'],
    ], 'client.call("a b", "ü".encode())'],
  ] as Case[])('writes %s', (_, of, takes, want) => {
    const text = python(operation(of), origin, { methods: { call: { takes, gives: 'Answer' } }, types, basics: {} });
    expect(/response = (.*?)\nprint/s.exec(text!)![1]).toBe(want);
    expect(text!.includes('import datetime')).toBe(want.includes('datetime'));
  });
});

test.each(['Go', 'TypeScript', 'Python'] as const)('the %s sample of every call says what the document sends', (language) => {
  const texts = all(language);
  // A time is written in the ways of a language; a member with one value is the client's to send.
  const leaves = (value: unknown): string[] => (typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves)
    : typeof value === 'string' && !/^\d{4}-\d\d-\d\dT/.test(value) && value !== 'failed'
    ? [JSON.stringify(value).slice(1, -1)] : typeof value === 'number' ? [String(value)] : []);
  for (const { id, parameters, body: sent } of operations.filter((each) => texts[each.id])) {
    for (const leaf of [
      ...parameters.filter((each) => each.in === 'path').map((each) => String(each.example)), ...leaves(sent?.examples[0]?.value),
    ]) {
      expect(texts[id], id).toContain(leaf);
    }
  }
});

// client/samples_test.go compiles them. `npm run samples` writes them anew after a change.
test('the samples of Go are those that the tests of its client compile', async () => {
  await expect(
    Object.entries(all('Go')).map(([id, text]) => `-- ${id}.go --\n${text}`).join(''),
  ).toMatchFileSnapshot('../testdata/go.txt');
});

test('every sample of TypeScript has the types of the client', () => {
  const samples = new Map(Object.entries(all('TypeScript')).map(([id, text]) => [`${process.cwd()}/${id}.sample.ts`, text]));
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.asynciterable.d.ts'],
    types: ['node'], strict: true, noEmit: true, skipLibCheck: true,
    paths: { '@prism-results/client': [`${process.cwd()}/../client/typescript/src/index.ts`] },
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.getSourceFile = (name, ...rest) => (samples.has(name)
    ? ts.createSourceFile(name, samples.get(name)!, ts.ScriptTarget.ES2022) : getSourceFile.call(host, name, ...rest));
  host.fileExists = (name) => samples.has(name) || fileExists.call(host, name);
  host.readFile = (name) => samples.get(name) ?? readFile.call(host, name);
  const program = ts.createProgram([...samples.keys()], options, host);
  const problems = [...samples.keys()].flatMap((name) => {
    const source = program.getSourceFile(name)!;
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map((found) =>
      `${name.split('/').at(-1)}: ${ts.flattenDiagnosticMessageText(found.messageText, '\n')}\n${source.text}`);
  });
  expect(problems).toEqual([]);
});

test('every sample of Python is Python', () => {
  const check = 'import ast, json, sys\nfor name, text in json.load(sys.stdin).items(): ast.parse(text, name)';
  expect(execFileSync('python3', ['-c', check], { input: JSON.stringify(all('Python')), encoding: 'utf8' })).toBe('');
});

test('a call that a client has no method for says so', () => {
  for (const language of languages.slice(1)) {
    expect(sample(language, operation({}), origin)).toBe(`The ${language} client has no method for this call.`);
  }
});
