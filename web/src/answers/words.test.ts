import { describe, expect, it } from 'vitest';
import type { Schemas } from '@/api';
import { average, hueOf, labelOf, type Question, sentText, summary, titleOf, yesNo } from './words';

const questions = [
  {
    key: 'team', type: 'choice', text: 'Which team?', insufficient_information: true,
    options: [{ key: 'billing', label: 'Billing' }, { key: 'shipping', label: 'Shipping' }],
  },
  { key: 'mood', type: 'scale', text: 'Which mood?', levels: [{ key: 'low', label: 'Angry' }, { key: 'high', label: 'Happy' }] },
] as Schemas['Question'][];
it('leaves a key that no question has as it is', () => {
  expect(labelOf(undefined, 'yes')).toBe('yes');
});

it('sums answers up by their texts', () => {
  expect(summary({ team: 'billing', team_probability: 0.9, refund: 'no' })).toBe('team billing · refund no');
  expect(summary({ score: 0.12345 })).toBe('score 0.1235');
  expect(summary(null)).toBe('');
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
