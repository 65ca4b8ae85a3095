import { describe, expect, it } from 'vitest';
import type { Schemas } from '@/api';
import { cellText, kinds, labelText, thresholds } from '.';

const questions = [
  {
    key: 'team', type: 'choice', text: 'Which team?', insufficient_information: true,
    options: [{ key: 'billing', label: 'Billing' }, { key: 'shipping', label: 'Shipping' }],
  },
  { key: 'mood', type: 'scale', text: 'Which mood?', levels: [{ key: 'low', label: 'Angry' }, { key: 'high', label: 'Happy' }] },
] as Schemas['Question'][];
const column = (show: string, question = 'team') => ({ name: 'c', question, show }) as Schemas['Column'];

describe('a cell of the Lens', () => {
  it('has the label of an option or level', () => {
    expect(cellText('billing', column('answer'), questions)).toBe('Billing');
    expect(cellText('high', column('answer', 'mood'), questions)).toBe('Happy');
    expect(cellText('insufficient_information', column('answer'), questions)).toBe('Insufficient information');
  });

  it('has a key that this version does not know as it is', () => {
    expect(cellText('returns', column('answer'), questions)).toBe('returns');
  });

  it('has probabilities in percent and averages as numbers', () => {
    expect(cellText(0.912, column('probability'), questions)).toBe('91.2%');
    expect(cellText(2.3456789, column('average', 'mood'), questions)).toBe('2.346');
    expect(cellText(null, column('answer'), questions)).toBe('–');
  });
});

it('takes the thresholds of the column that shows the answer, else those of the API', () => {
  const lens = [
    column('probability', 'refund'), { ...column('answer', 'refund'), yes_at: 0.9, calibrated: true },
    { ...column('answer', 'refund'), yes_at: 0.8, no_at: null },
  ];
  expect(thresholds({ key: 'refund', type: 'yes_no' }, lens)).toEqual({ no: 0.4, yes: 0.8 });
  expect(thresholds({ key: 'other', type: 'yes_no' }, lens)).toEqual({ no: 0.4, yes: 0.6 });
});

it('has labels of every type in words', () => {
  expect(['billing', 'gone', true, false].map((value) => labelText(value, questions[0]))).toEqual(
    ['Billing', 'gone', 'Yes', 'No'],
  );
  expect(labelText('billing', undefined)).toBe('billing');
});

it('knows every type of the API', () => {
  const types: Record<Schemas['Question']['type'], true> = { choice: true, yes_no: true, scale: true, tags: true };
  expect(kinds.map(({ type }) => type)).toEqual(Object.keys(types));
});
