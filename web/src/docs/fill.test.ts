import { expect, test } from 'vitest';
import { fill, fillable, type Prism } from './fill';

const prism = {
  slug: 'support', name: 'Support', latest_version: 3,
  version: {
    version: 3, instructions: null, model: 'fast', created_at: '',
    fields: [{ key: 'subject', label: null }, { key: 'body', label: null }],
    questions: [
      { key: 'topic', type: 'choice', text: '?', options: [{ key: 'delivery' }, { key: 'billing' }] },
      { key: 'upset', type: 'yes_no', text: '?' },
      { key: 'urgency', type: 'scale', text: '?', levels: [{ key: 'low' }, { key: 'high' }] },
    ],
  },
  lens: { columns: [{ name: 'topic', question: 'topic', show: 'answer' }] },
} as unknown as Prism;
const { fields, questions } = prism.version;

test.each([
  [
    'values of the same fields, and of others in order', { fields: { subject: 's', message: 'm' }, ref: 'r' },
    { fields: { subject: 's', body: 'm' }, ref: 'r' },
  ],
  ['no value where the example has none', { fields: { message: 'm' } }, { fields: { subject: 'm', body: '' } }],
  [
    'columns named like fields', { file_id: 'f', fields: { message: 'message' } },
    { file_id: 'f', fields: { subject: 'subject', body: 'body' } },
  ],
  ['fields in place of the text of a single one', { text: 't', version: 1 }, { fields: { subject: 't', body: '' }, version: 3 }],
  ['a definition, without what the prism has not',
    { slug: 'new', instructions: 'i', model: 'm', fields: [], questions: [], lens: {} },
    { slug: 'new', model: 'fast', fields, questions, lens: prism.lens }],
  [
    'a definition inside', { definition: { fields: [], questions: [] }, context: 'c' },
    { definition: { fields, questions }, context: 'c' },
  ],
  ['a Lens', { columns: [], result_ids: ['x'] }, { columns: prism.lens.columns, result_ids: ['x'] }],
  ['the slug', { prism: 'other', status: 'failed' }, { prism: 'support', status: 'failed' }],
  ['labels by question', { labels: { x: 'y' } }, { labels: { topic: 'delivery', upset: true, urgency: 'low' } }],
  ['labels in a list', { labels: [{ ref: 'a', question: 'x', value: 'y' }, { ref: 'b', question: 'x', value: 'y' }] },
    { labels: [{ ref: 'a', question: 'topic', value: 'delivery' }, { ref: 'b', question: 'upset', value: true }] }],
] as [string, unknown, unknown][])('fills in %s', (_, example, want) => {
  expect(fillable(example) || 'text' in (example as object)).toBe(true);
  expect(fill(example, prism)).toEqual(want);
});

test('a prism with one field keeps a text', () => {
  const one = { ...prism, version: { ...prism.version, fields: [fields[0]!] } };
  expect(fill({ text: 't' }, one)).toEqual({ text: 't' });
});

test.each([[undefined], ['bytes'], [null], [{ name: 'key' }], [{ days: 90 }]])('leaves %j as it is', (example) => {
  expect(fillable(example)).toBe(false);
  expect(fill(example, prism)).toEqual(example);
});
