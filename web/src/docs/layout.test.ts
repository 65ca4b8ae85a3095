import { expect, test } from 'vitest';
import { highlight, layout, plain } from './layout';

const long = 'x'.repeat(84);

test.each([
  ['the whole opened', '{"a":1}', '{\n  "a": 1\n}'],
  ['short members on a line', '{"a":{"b":[1,"c, \\": d"]},"e":[]}', '{\n  "a": {"b": [1, "c, \\": d"]},\n  "e": []\n}'],
  ['long members opened', `[[1,"${long}"],2]`, `[\n  [\n    1,\n    "${long}"\n  ],\n  2\n]`],
  ['84 characters on a line', `[["${long.slice(4)}"]]`, `[\n  ["${long.slice(4)}"]\n]`],
  ['85 characters opened', `[["${long.slice(3)}"]]`, `[\n  [\n    "${long.slice(3)}"\n  ]\n]`],
  ['a string alone as one', `"${long}"`, `"${long}"`],
  ['numbers as they were sent', '{"a":1.50e3}', '{\n  "a": 1.50e3\n}'],
])('lays out %s', (_, text, want) => {
  expect(plain(layout(text))).toBe(want);
});

test('every kind of JSON is known', () => {
  expect(layout('{"a<": "b\\"&", "c": -1.5e3, "d": [true, null]}').filter(({ kind }) => kind !== 'plain')).toEqual([
    { kind: 'name', text: '"a<"' }, { kind: 'string', text: '"b\\"&"' }, { kind: 'name', text: '"c"' },
    { kind: 'number', text: '-1.5e3' },
    { kind: 'name', text: '"d"' }, { kind: 'word', text: 'true' }, { kind: 'word', text: 'null' },
  ]);
});

test('a highlighted sample keeps its text', () => {
  const text = 'const a = `b\n`; // it\'s 3\nif err != nil { return "c\\"" }';
  expect(plain(highlight(text))).toBe(text);
});
