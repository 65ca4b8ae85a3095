import { describe, expect, it } from 'vitest';
import { tagged, tagsOf } from '@/test/options';
import { cellText, kindOf, labelText, thresholds } from '.';

const question = tagsOf(3);
const kind = kindOf(question);
const bounds = { no: 0, yes: 0.5 };
const answer = tagged(question, { o3: 0.9, o1: 0.6 });
const find = (text: string) =>
  question.options.find(({ key, label }) => [key, label.toLowerCase()].includes(text.toLowerCase()))?.key;

// spec: question-tags
describe('an answer with any number of options', () => {
  it('is those at or above the threshold, the most probable first', () => {
    expect(kind.several!(answer, question, bounds).map(({ key, label, p }) => [key, label, p])).toEqual([
      ['o3', 'Option 3', 0.9], ['o1', 'Option 1', 0.6],
    ]);
    expect(kind.several!(answer, question, { no: 0, yes: 0.9 }).map(({ key }) => key)).toEqual(['o3']);
    expect(kind.said(answer, question, bounds)).toEqual({ words: 'Option 3, Option 1', p: 0.6 });
    expect(kind.said(tagged(question, {}), question, bounds)).toEqual({ words: 'None', p: 0.99 });
  });
  it('is right if a label has the same options, in whatever order', () => {
    const right = (...label: string[]) => kind.right(answer, label, bounds);
    expect([right('o1', 'o3'), right('o3', 'o1'), right('o1'), right('o1', 'o2', 'o3'), right()]).toEqual(
      [true, true, false, false, false],
    );
    expect(kind.right(tagged(question, {}), [], bounds)).toBe(true);
    expect(kind.right(answer, 'o1', bounds)).toBe(false);
  });
  it('counts as a label from one half up, in the order of the question', () => {
    expect(kind.answered(answer)).toEqual({ value: ['o1', 'o3'], p: 0.6 });
  });
  it('is named on the first screen with the least sure of its options', () => {
    const { chosen, others } = kind.parts(answer, question, bounds);
    expect([chosen.label, chosen.p, others.map(({ label }) => label)]).toEqual(['Option 3, Option 1', 0.6, ['Option 2']]);
    expect(kind.parts(tagged(question, { o1: 0.25 }), question, bounds).chosen).toMatchObject({ label: 'None', p: 0.75 });
  });
});

// spec: show-answer
it('a cell of the Lens has labels in words, and a count is a number', () => {
  const column = { name: 'a', question: 'about', show: 'answer' } as const;
  const read = (value: string | number) =>
    cellText(value, { ...column, show: typeof value === 'number' ? 'count' : 'answer' } as never, [question]);
  expect([read('o3; o1'), read(''), read('gone'), read(2)]).toEqual(['Option 3; Option 1', 'None', 'gone', '2']);
  expect(thresholds(question, [{ ...column, yes_at: 0.7 } as never]).yes).toBe(0.7);
  expect(thresholds(question, []).yes).toBe(0.5);
});

it('a label is its options, or none', () => {
  expect([['o2', 'o1'], [], ['gone']].map((label) => labelText(label, question))).toEqual(['Option 2, Option 1', 'None', 'gone']);
});

// spec: label-value
it.each<[string, string[] | undefined]>([
  ['o1', ['o1']], ['Option 3; option 1', ['o1', 'o3']], ['o3;o3', ['o3']], ['none', []], ['None', []],
  ['["o2","Option 1"]', ['o1', 'o2']],
  ['[]', []], ['o1; ', undefined], ['o1; gone', undefined], ['["o1"', undefined], ['[1]', undefined],
])('the cell %s of a file is the label %j', (cell, label) => {
  expect(kind.read!(cell, question, find)).toEqual(label);
});

it('an option that is named with a semicolon, or none, is that option', () => {
  const named = { ...question, options: [
    { key: 'a', label: 'Salt; pepper', description: null }, { key: 'b', label: 'None', description: null },
  ] };
  const of = (text: string) => named.options.find(({ label }) => label === text)?.key;
  expect([kind.read!('Salt; pepper', named, of), kind.read!('None', named, of)]).toEqual([['a'], ['b']]);
});

it('each option is a yes_no question by itself', () => {
  expect(kind.part!(question, 'o2')).toEqual({ key: 'about', type: 'yes_no', text: 'What is it about? Option 2' });
  expect(kind.part!(question, 'gone')).toBeUndefined();
});
