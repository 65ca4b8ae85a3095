import { describe, expect, it } from 'vitest';
import type { Schemas } from '@/api';
import { average, cellText, hueOf, labelOf, type Question, sentText, summary, thresholds, titleOf, yesNo } from './words';

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
    expect(labelOf(undefined, 'yes')).toBe('yes');
  });

  it('has probabilities in percent and averages as numbers', () => {
    expect(cellText(0.912, column('probability'), questions)).toBe('91.2%');
    expect(cellText(2.3456789, column('average', 'mood'), questions)).toBe('2.346');
    expect(cellText(null, column('answer'), questions)).toBe('–');
  });
});

it('sums answers up by their texts', () => {
  expect(summary({ team: 'billing', team_probability: 0.9, refund: 'no' })).toBe('team billing · refund no');
  expect(summary({ score: 0.12345 })).toBe('score 0.1235');
  expect(summary(null)).toBe('');
});

it('takes the thresholds of the column that shows the answer, else those of the API', () => {
  const lens = [
    column('probability', 'refund'), { ...column('answer', 'refund'), yes_at: 0.9, calibrated: true },
    { ...column('answer', 'refund'), yes_at: 0.8, no_at: null },
  ];
  expect(thresholds('refund', lens)).toEqual({ no: 0.4, yes: 0.8 });
  expect(thresholds('other', lens)).toEqual({ no: 0.4, yes: 0.6 });
});

it('weighs levels by their probabilities', () => {
  expect(average([{ p: 0.25, value: 1 }, { p: 0.75, value: 3 }])).toBe(2.5);
});

describe('the hue of an option', () => {
  const many = {
    key: 'intent', type: 'choice', text: '', options: Array.from({ length: 26 }, (_, i) => ({ key: `o${i}`, label: `${i}` })),
  } as unknown as Question;

  it('is that of its place in the question, and begins anew after eight', () => {
    expect([0, 1, 7, 8, 25].map((i) => hueOf(many, `o${i}`))).toEqual([1, 2, 8, 1, 2]);
  });

  it('is none for levels, for insufficient information, and for what the question does not have', () => {
    expect([hueOf(questions[1], 'low'), hueOf(questions[0], 'insufficient_information'), hueOf(undefined, 'x')]).toEqual(
      [undefined, undefined, undefined],
    );
  });
});

it('says a key in words', () => {
  expect([titleOf('refund_wanted'), titleOf('topic'), titleOf('')]).toEqual(['Refund wanted', 'Topic', '']);
});

it('says what a probability of yes means between its thresholds', () => {
  expect([0.4, 0.41, 0.6].map((p) => yesNo(p, { no: 0.4, yes: 0.6 }))).toEqual(['No', 'Unsure', 'Yes']);
});

it('puts the texts that were sent into one line', () => {
  expect(sentText({ subject: ' Parcel ', message: 'Where\n\tis it?', note: '' })).toBe('Parcel · Where is it?');
  expect(sentText(undefined)).toBe('');
});
