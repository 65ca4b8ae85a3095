import { expect, it } from 'vitest';
import { doneOf } from '@/data/runs';
import { limitOf, limitProblem } from './limits';

it.each(['abc', '0', '-1', '1e999', '20 rows', '1,500'])('sends no limit that is no number: %j', (text) =>
  expect(limitProblem(text)).toBe('A number above 0, or nothing.'));

it('takes numbers, and nothing as no limit', () => {
  for (const [text, value] of [['', undefined], ['  ', undefined], [' 20 ', 20], ['0.5', 0.5]] as const) {
    expect(limitProblem(text)).toBeUndefined();
    expect(limitOf(text)).toBe(value);
  }
  expect(limitProblem('1.5', true)).toBe('A whole number, or nothing.');
});

it('counts no cancelled row as done', () => expect(doneOf({ rows: 3001, pending: 1, cancelled: 2900 })).toBe(100));
