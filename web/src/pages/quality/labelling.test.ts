import { describe, expect, it } from 'vitest';
import { answered, begin, label, rate, undo } from './labelling';

const asked = ['topic', 'refund'];

describe('labels', () => {
  it('go on to the next question without one, and then to the next text', () => {
    const first = label(begin, 'r1', asked, 'o1');
    expect(first).toMatchObject({ at: 0, asked: 1, made: { r1: { topic: 'o1' } } });
    expect(label(first, 'r1', asked, true)).toMatchObject({ at: 1, asked: 0, made: { r1: { topic: 'o1', refund: true } } });
    const second = label({ ...begin, asked: 1 }, 'r1', asked, false);
    expect(second).toMatchObject({ at: 0, asked: 0 });
  });
  it('are taken back one by one, to what was there before', () => {
    const twice = label({ ...label(begin, 'r1', ['topic'], 'o1'), at: 0 }, 'r1', ['topic'], 'o2');
    const first = undo(twice, ['r1', 'r2'], ['topic'])!;
    expect([first.step.before, first.next.made, first.next.at]).toEqual(['o1', { r1: { topic: 'o1' } }, 0]);
    const second = undo(first.next, ['r1', 'r2'], ['topic'])!;
    expect([second.step.before, second.next.made]).toEqual([undefined, { r1: {} }]);
    expect(undo(second.next, ['r1', 'r2'], ['topic'])).toBeUndefined();
  });
});

it('the model’s answer is the most probable value', () => {
  expect(answered({ type: 'yes_no', probability: 0.2 })).toEqual({ value: false, p: 0.8 });
  expect(answered({ type: 'yes_no', probability: 0.5 })).toEqual({ value: true, p: 0.5 });
  expect(answered({ type: 'choice', value: 'b', confidence: 0.4, probabilities: { a: 0.3, b: 0.7 } })).toEqual({
    value: 'b', p: 0.7,
  });
  expect(answered(undefined)).toBeUndefined();
});

it('the rate leaves out pauses and what is long ago', () => {
  const seconds = (...at: number[]) => rate(at.map((s) => s * 1000));
  expect(seconds(0, 3)).toBeUndefined();
  expect(seconds(0, 3, 6, 9)).toBe(20);
  expect(seconds(0, 3, 6, 206, 209, 212)).toBe(20);
  expect(seconds(0, 50, 100, 700, 703, 706)).toBe(20);
});
