import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { signaturesOf } from '../../../dev/signatures';
import { type OpenApi, read } from '../document';

const reference = read(JSON.parse(readFileSync('../services/gateway/internal/apidoc/openapi.json', 'utf8')) as OpenApi);
const ids = reference.groups.flatMap(({ operations }) => operations.map(({ id }) => id));

// Written anew by `npm run samples` after a change of a client.
test('the signatures are those of the clients', async () => {
  await expect(
    `${JSON.stringify(signaturesOf('../client', ids), null, 1).replace(/\n {4,}/g, ' ').replace(/\n {3}(?=[\]}])/g, ' ')}\n`,
  ).toMatchFileSnapshot('signatures.json');
});

// Tests of the clients hold that they have every operation.
test.each([
  ['Go', '.', /(?<!_test)\.go$/], ['TypeScript', 'typescript/src', /(?<!schema)\.ts$/],
  ['Python', 'python/src/prism_results/_sync', /\.py$/],
] as const)(
  'the method of every operation that the %s client calls is found', (language, folder, ending) => {
    const names = readdirSync(`../client/${folder}`).filter((name) => ending.test(name));
    const text = names.map((name) => readFileSync(`../client/${folder}/${name}`, 'utf8')).join('');
    const called = ids.filter((id) => text.includes(`"${id}"`) || new RegExp(`\\(api\\.${id}\\b`, 'i').test(text));
    expect(called.length).toBeGreaterThan(40);
    expect(Object.keys(signaturesOf('../client', ids)[language].methods)).toEqual(called);
  });
