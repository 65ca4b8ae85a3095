import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const longest = 130;
const client = '../client/typescript';
const generated = /^\/(\/ Written by |\*\*\n \* This file was auto-generated )/;
const sources = ['src', 'dev', `${client}/src`, `${client}/test`, '.']
  .flatMap((folder) => readdirSync(folder, { recursive: folder !== '.', encoding: 'utf8' }).map((name) => `${folder}/${name}`))
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }))
  .filter(({ text }) => !generated.test(text));

it('no line of the front end and the TypeScript client is too long', () => {
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.flatMap(({ file, text }) => text.split('\n').flatMap((line, i) =>
    line.length > longest ? [`${file}:${i + 1} has ${line.length} characters, more than ${longest}`] : []))).toEqual([]);
});
