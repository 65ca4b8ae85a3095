import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Question } from '@/answers/words';
import type { Schemas } from '@/api';
import { tagsOf } from '@/test/options';
import { serve } from '@/test/server';
import { findResults, guessLabels, labelOfCell, type LabelColumns, plan, storeLabels } from './importing';

afterEach(() => vi.unstubAllGlobals());

const topic: Question = {
  key: 'topic', type: 'choice', text: 'What is it about?', insufficient_information: true, options: [
    { key: 'billing', label: 'Bills', description: null }, { key: 'delivery', label: 'Parcels', description: null },
    { key: 'refund', label: 'Parcels', description: null },
  ],
};
const urgent: Question = { key: 'urgent', type: 'yes_no', text: 'Is it urgent?' };
const anger: Question = {
  key: 'anger', type: 'scale', text: 'How angry?', levels: [
    { key: 'calm', label: 'Calm', value: 1 }, { key: 'furious', label: 'Furious', value: 3.5 },
  ],
};
const numbered: Question = {
  key: 'stars', type: 'scale', text: 'How many?', levels: [
    { key: 'a', label: '0', value: 1 }, { key: 'b', label: '1', value: 2 },
  ],
};
const version = (questions: Question[]) => ({
  version: 1, fields: [{ key: 'message', label: 'Message' }], questions,
}) as unknown as Schemas['Version'];
const column = (name: string, longest = 20) => ({ name, filled: 5, longest });

// spec: label-value
describe('the label of a cell', () => {
  it.each([
    [topic, 'billing', 'billing'], [topic, ' Bills ', 'billing'], [topic, 'insufficient_information', 'insufficient_information'],
    [topic, 'Parcels', undefined], [topic, 'parcels', undefined], [topic, '', undefined], [topic, '1', undefined],
    [topic, 'BILLING', 'billing'], [topic, 'bills', 'billing'],
    [anger, '3.5', 'furious'], [anger, '1.0', 'calm'], [anger, '3', undefined], [anger, 'CALM', 'calm'],
    [numbered, '1', 'b'], [numbered, '2', undefined],
    [urgent, 'Yes', true], [urgent, ' 0', false], [urgent, 'TRUE', true], [urgent, 'maybe', undefined],
  ] as const)('of %o is what %j says', (question, cell, value) => {
    expect(labelOfCell(question, cell)).toBe(value);
  });
});

describe('the columns', () => {
  it.each([
    [['result_id', 'topic'], { by: 'id', column: 'result_id', labels: { topic: 'topic', urgent: '' } }],
    [['Message', 'What is it about', 'Urgent'], {
      by: 'field message', column: 'Message', labels: { topic: 'What is it about', urgent: 'Urgent' },
    }],
  ])('%j are guessed by their names', (names, want) => {
    expect(guessLabels(version([topic, urgent]), names.map((name) => column(name)))).toEqual(want);
  });
  it('name results by references where no text is left', () => {
    expect(guessLabels(version([topic]), [{ ...column('ref'), longest: 9 }, column('topic')]))
      .toEqual({ by: 'ref', column: 'ref', labels: { topic: 'topic' } });
  });
});

describe('the results of rows', () => {
  const result = (id: string, text: string, ref: string | null = null, version = 1) =>
    ({ id, ref, version, fields: { message: text } });
  const pages = [
    [result('5', 'hello', 'a'), result('4', 'hello', 'b')], [], [result('3', 'a\nb', 'a', 2)], [result('2', 'never')],
  ];
  const find = async (columns: LabelColumns, cells: string[]) => {
    const calls = await serve('editor', ({ query }) => {
      const at = Number(query.get('cursor') ?? 0);
      return Response.json({ data: pages[at], next_cursor: at + 1 < pages.length ? String(at + 1) : null });
    });
    const looked: number[] = [];
    const rows = cells.map((cell) => ({ [columns.column]: cell }));
    const { found, whole } = await findResults('tickets', rows, columns, (n) => looked.push(n), new AbortController().signal);
    return { found: Object.fromEntries(found), whole, looked, calls };
  };
  it('are the newest with the text, read until all are found', async () => {
    const columns: LabelColumns = { by: 'field message', column: 'text', labels: {} };
    const { found, whole, looked, calls } = await find(columns, ['hello ', 'a\r\nb', '']);
    expect(found).toEqual({ hello: { id: '5', version: 1 }, 'a\nb': { id: '3', version: 2 } });
    expect([whole, looked]).toEqual([true, [2, 2, 3]]);
    expect(Object.fromEntries(calls[0]!.query)).toEqual({ prism: 'tickets', status: 'ok', limit: '100', fields: 'true' });
  });
  it('are the newest with the reference, or of the id, without their texts', async () => {
    const { found, whole, calls } = await find({ by: 'ref', column: 'ref', labels: {} }, ['a', 'z']);
    expect([found, whole]).toEqual([{ a: { id: '5', version: 1 } }, true]);
    expect(calls).toHaveLength(4);
    expect(calls[0]!.query.has('fields')).toBe(false);
    expect((await find({ by: 'id', column: 'id', labels: {} }, ['4'])).found).toEqual({ 4: { id: '4', version: 1 } });
  });
});

describe('a plan', () => {
  it('has each label once, and names the rows and cells without one', () => {
    const columns: LabelColumns = { by: 'ref', column: 'ref', labels: { topic: 'is about', urgent: 'urgent' } };
    const found = new Map([['a', { id: '5', version: 1 }], ['b', { id: '4', version: 2 }]]);
    const versions = new Map([[1, version([topic, urgent])], [2, version([topic])]]);
    const rows = [
      { ref: 'a', 'is about': 'Bills', urgent: 'yes' }, { ref: 'b', 'is about': 'refund', urgent: 'no' },
      { ref: 'z', 'is about': 'billing', urgent: null }, { ref: '', 'is about': 'billing', urgent: '' },
      { ref: 'a', 'is about': 'soup', urgent: 'no' }, { ref: 'z', 'is about': '', urgent: '' },
    ];
    expect(plan(rows, columns, found, versions)).toEqual({
      labels: [
        { result_id: '5', question: 'topic', value: 'billing' }, { result_id: '5', question: 'urgent', value: false },
        { result_id: '4', question: 'topic', value: 'refund' },
      ],
      results: 2, repeated: 1,
      unmatched: [{ row: 3, message: 'z' }, { row: 4, message: 'The cell that names the result is empty.' }],
      invalid: [{ row: 2, message: 'urgent: version 2 does not ask this.' }, { row: 5, message: 'topic: soup is no answer.' }],
    });
  });
});

it('labels are stored 1,000 with each call, and those that are refused are counted', async () => {
  const calls = await serve('editor', ({ body }) => {
    const { labels } = body as { labels: unknown[] };
    return Response.json({ labelled: labels.length === 1000 ? 1000 : labels.length - 1, not_found: [0], invalid: [] });
  });
  const labels = Array.from({ length: 1500 }, (_, i) => ({ result_id: String(i), question: 'topic', value: 'billing' }));
  const told: number[] = [];
  expect(await storeLabels('tickets', labels, 'random', (n) => told.push(n))).toEqual({ labelled: 1499, refused: 1 });
  expect(told).toEqual([1000, 1500]);
  expect(calls.map(({ path, body }) => [path, (body as { sample: string }).sample]))
    .toEqual(Array(2).fill(['/v1/prisms/tickets/labels', 'random']));
});

// spec: console-tags, label-value
describe('the labels of tags', () => {
  const about = tagsOf(3);
  const rows = ['Option 3; o1', 'none', '', 'o1; gone'].map((cell, i) => ({ ref: `r${i}`, about: cell }));
  const found = new Map(rows.map(({ ref }) => [ref, { id: ref, version: 1 }]));
  const of: LabelColumns = { by: 'ref', column: 'ref', labels: { about: 'about' } };
  it('are the options of a cell in the order of the question, and none; an empty cell is no label', () => {
    const { labels, invalid } = plan(rows, of, found, new Map([[1, version([about])]]));
    expect(labels.map(({ result_id, value }) => [result_id, value])).toEqual([['r0', ['o1', 'o3']], ['r1', []]]);
    expect(invalid).toEqual([{ row: 4, message: 'about: o1; gone is no answer.' }]);
  });
});
