import { describe, expect, it } from 'vitest';
import type { Question } from '@/answers/words';
import { choiceOf, sizes } from '@/test/options';
import { choicesOf, sought } from './choices';

const option = (key: string) => ({ key, label: key.toUpperCase(), description: null });
const choice = (n: number, insufficient = false) => ({
  key: 'topic', type: 'choice', text: 'Topic?', insufficient_information: insufficient,
  options: Array.from({ length: n }, (_, i) => option(`o${i}`)),
}) as unknown as Question;
const yesNo: Question = { key: 'refund', type: 'yes_no', text: 'Refund?' };

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
