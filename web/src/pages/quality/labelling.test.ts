import { describe, expect, it } from 'vitest';
import type { Question } from '@/answers/words';
import { choiceOf, sizes } from '@/test/options';
import { answered, begin, choicesOf, label, rate, sought, undo } from './labelling';

const option = (key: string) => ({ key, label: key.toUpperCase(), description: null });
const choice = (n: number, insufficient = false) => ({
  key: 'topic', type: 'choice', text: 'Topic?', insufficient_information: insufficient,
  options: Array.from({ length: n }, (_, i) => option(`o${i}`)),
}) as unknown as Question;
const yesNo: Question = { key: 'refund', type: 'yes_no', text: 'Refund?' };
const asked = ['topic', 'refund'];

describe('the keys of a question', () => {
  it('are 1 to 9, then letters that nothing else has', () => {
    const keys = choicesOf(choice(26, true)).map((one) => one.keys);
    expect(keys.slice(0, 12)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c']);
    expect(new Set(keys).size).toBe(27);
    expect(keys.filter((key) => key === undefined || 'gjkmnsuy'.includes(key))).toEqual([]);
  });
  it.each(sizes)('of a choice of %i options are one each, or none where they do not suffice', (n) => {
    const choices = choicesOf(choiceOf(n));
    expect(choices).toHaveLength(n);
    expect(choices.filter(({ keys }) => keys !== undefined)).toHaveLength(n > 27 ? 0 : n);
    expect(sought(choices)).toBe(n > 27);
    expect(choices.at(-1)!.more).toBe(n > 20 ? `Group ${Math.ceil(n / 10)}` : undefined);
  });
  it('are y and n of a yes_no, and the last is insufficient information where it is offered', () => {
    expect(choicesOf(yesNo).map((one) => [one.keys, one.value])).toEqual([['y', true], ['n', false]]);
    expect(choicesOf(choice(2, true)).at(-1)).toEqual({
      keys: '3', value: 'insufficient_information', label: 'Insufficient information',
    });
  });
});

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
