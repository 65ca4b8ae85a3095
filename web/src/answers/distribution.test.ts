import { describe, expect, it } from 'vitest';
import { choiceOf, sizes, tagSizes, tagsOf } from '@/test/options';
import {
  allLayersOf, answered, type Distribution, firstDay, foldedShares, kindsOf, latelyOf, layersOf, mainQuestion, news, sharesOf,
  unsure, whereOf,
} from './distribution';
import type { Question } from './words';

type Row = Distribution['data'][number];

const option = (key: string) => ({ key, label: key.toUpperCase(), description: null });
const choice = (...keys: string[]) => (
  { key: 'topic', type: 'choice', text: 'What?', options: keys.map(option), insufficient_information: true }) as Question;
const yesNo = { key: 'refund', type: 'yes_no', text: 'A refund?' } as Question;
const scale = { key: 'mood', type: 'scale', text: 'How?', levels: [
  { key: 'low', label: 'Low', value: 1 }, { key: 'high', label: 'High', value: 2 },
] } as Question;
const bounds = { no: 0.4, yes: 0.6 };

const row = (day: string, values: Record<string, number>, more: Partial<Row> = {}): Row => ({
  at: `${day}T00:00:00.000Z`, answers: Object.values(values).reduce((sum, n) => sum + n, 0),
  values: Object.entries(values).map(([value, count]) => ({ value, count })), probability: 0.9, labelled: 0, right: 0, bins: null,
  ...more,
});
const read = (data: Row[], question: Question, from = '2026-11-01', to = '2026-11-04') =>
  layersOf({ data }, question, bounds, from, to);
const values = (layers: { key: string; values: number[] }[]) =>
  Object.fromEntries(layers.map(({ key, values: of }) => [key, of]));

describe('answers by day', () => {
  it('are those of each option in its hue, a day without answers with none', () => {
    const { days, layers } = read(
      [row('2026-11-01', { a: 3, b: 1 }), row('2026-11-03', { b: 2, insufficient_information: 1 })], choice('a', 'b'),
    );
    expect(days).toEqual(['2026-11-01', '2026-11-02', '2026-11-03']);
    expect(values(layers)).toEqual({ a: [3, 0, 0], b: [1, 0, 2], insufficient_information: [0, 0, 1] });
    expect(layers.map(({ hue, lacking }) => hue ?? lacking)).toEqual([1, 2, true]);
    expect(answered(layers)).toBe(7);
    expect(unsure(layers)).toBe(1 / 7);
  });
  it('are yes, no or unsure by the thresholds of the question', () => {
    const bins = Array<number>(101).fill(0);
    [bins[0], bins[40], bins[41], bins[59], bins[60], bins[100]] = [1, 2, 3, 4, 5, 6];
    const { layers } = read([row('2026-11-02', { true: 9, false: 12 }, { bins })], yesNo);
    expect(values(layers)).toEqual({ yes: [0, 11, 0], no: [0, 3, 0], unsure: [0, 7, 0] });
  });
  it('are never unsure of a scale', () => {
    expect(unsure(read([row('2026-11-01', { low: 1, high: 2 })], scale).layers)).toBeUndefined();
    expect(kindsOf(scale).map(({ strength }) => strength)).toEqual([0.3, 1]);
  });
  it('of many options are the most frequent ones in their order, and the others together', () => {
    const keys = [...'abcdefghijkl'];
    const counts = Object.fromEntries(keys.map((key, i) => [key, i + 1]));
    const { layers } = read([row('2026-11-01', counts)], choice(...keys));
    expect(layers.map(({ label }) => label)).toEqual(['F', 'G', 'H', 'I', 'J', 'K', 'L', 'Insufficient information', '5 others']);
    expect(layers.at(-1)!.values).toEqual([15, 0, 0]);
    expect(answered(layers)).toBe(78);
    expect(unsure(layers)).toBe(0);
  });
  it.each(sizes)('of %i options are at most nine, of which no two look alike', (n) => {
    // The most frequent ones are every eighth, which have the same hue.
    const question = choiceOf(n);
    const counts = Object.fromEntries(question.options.map(({ key }, i) => [key, i % 8 ? 1 : 1000 - i]));
    const { layers } = read([row('2026-11-01', counts)], question);
    expect(layers).toHaveLength(Math.min(n, 9));
    expect(answered(layers)).toBe(Object.values(counts).reduce((sum, one) => sum + one, 0));
    expect(layers.filter(({ key }) => key === 'o1' || key === 'o9').map(({ hue, strength }) => [hue, strength])).toEqual(
      n === 2 ? [[1, undefined]] : [[1, undefined], [1, 0.7]],
    );
    const each = question.options.map(({ key }) => ({ value: key, label: '', count: 2 }));
    const shares = foldedShares(sharesOf(question, each, bounds));
    expect(shares).toHaveLength(Math.min(n, 9));
    expect(shares.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  });
  it('of an option that the question no longer has are among the others', () => {
    const { layers } = read([row('2026-11-01', { a: 1, gone: 4 })], choice('a'));
    expect(layers.map(({ label, values: of }) => [label, of[0]])).toEqual([
      ['A', 1], ['Insufficient information', 0], ['Others', 4],
    ]);
  });
  it('begin with the first one, but show a week at least', () => {
    const first = (day: string) => firstDay({ data: [row(day, { a: 1 })] }, '2026-10-05', '2026-11-04');
    expect([first('2026-09-01'), first('2026-10-20'), first('2026-11-03')]).toEqual(['2026-10-28', '2026-10-20', '2026-10-28']);
    const two = [row('2026-09-01', { a: 1 }), row('2026-10-05', { a: 1 })];
    expect(firstDay({ data: two }, '2026-10-05', '2026-11-04')).toBe('2026-10-05');
  });
});

describe('the last days beside those before', () => {
  const month = (before: Record<string, number>, now: Record<string, number>) => read(
    Array.from({ length: 30 }, (_, i) => row(`2026-11-${String(i + 1).padStart(2, '0')}`, i < 23 ? before : now)),
    choice('a', 'b'), '2026-11-01', '2026-12-01',
  ).layers;
  it('have the share of each answer and its difference', () => {
    const lately = latelyOf(month({ a: 5, b: 5 }, { a: 8, b: 2 })).slice(0, 2);
    expect(lately.map(({ share, more }) => [share, more?.toFixed(2)])).toEqual([[0.8, '0.30'], [0.2, '-0.30']]);
  });
  it('have no difference to nothing', () => {
    expect(latelyOf(month({}, { a: 8, b: 2 }))[0]!.more).toBeUndefined();
    expect(news(month({}, { a: 80, b: 20 }))).toBeUndefined();
  });
  it.each([
    ['an answer that is given more often is news', { a: 50, b: 50 }, { a: 65, b: 35 }, 'a'],
    ['few answers tell nothing', { a: 1, b: 1 }, { a: 5, b: 1 }, undefined],
    ['what chance does is no news', { a: 3, b: 3 }, { a: 5, b: 4 }, undefined],
    ['a small difference is no news, however many answers there are', { a: 5000, b: 5000 }, { a: 5200, b: 4800 }, undefined],
  ])('%s', (_, before, now, key) => {
    expect(news(month(before, now))?.key).toBe(key);
  });
  it('of one option among 255 are news only if they are more than one of so many is by chance', () => {
    const question = choiceOf(255);
    const lately = (share: number) => allLayersOf({ data: Array.from({ length: 30 }, (_, i) => row(
      `2026-11-${String(i + 1).padStart(2, '0')}`, i < 23 ? { o1: 4, o2: 96 } : { o1: share, o2: 20 - share },
    )) }, question, bounds, '2026-11-01', '2026-12-01').layers;
    expect(news(lately(2))?.key).toBeUndefined(); // 10% in 140 answers, 3.4 deviations above 4%
    expect(news(lately(4))?.key).toBe('o1');
  });
});

it('answers are found by conditions, those that are none by no condition', () => {
  expect(whereOf(choice('a'), 'a', bounds)).toEqual(['topic:is:a']);
  expect(whereOf(choice('a'), '', bounds)).toBeUndefined();
  expect(whereOf(yesNo, 'yes', bounds)).toEqual(['refund:from:0.6']);
  expect(whereOf(yesNo, 'unsure', bounds)).toEqual(['refund:from:0.4', 'refund:to:0.6']);
});

it('counts of results are shares of their answers, of a yes_no question by tenths', () => {
  const count = (value: string, n: number) => ({ value, label: value, count: n });
  const of = (question: Question, counts: ReturnType<typeof count>[], at = bounds) =>
    sharesOf(question, counts, at).map(({ key, share }) => [key, share]);
  expect(of(choice('a', 'b'), [count('a', 1), count('b', 3)])).toEqual([
    ['a', 0.25], ['b', 0.75], ['insufficient_information', 0],
  ]);
  expect(of(yesNo, ['0.0', '0.3', '0.5', '0.6'].map((tenth) => count(tenth, 1)))).toEqual([
    ['yes', 0.25], ['no', 0.5], ['unsure', 0.25],
  ]);
  expect(of(yesNo, [count('0.7', 1), count('0.9', 1)], { no: 0.8, yes: 0.9 })).toEqual([
    ['yes', 0.5], ['no', 0.5], ['unsure', 0],
  ]);
  expect(of(scale, [])).toEqual([['low', 0], ['high', 0]]);
});

it('a prism is about its first choice, or else its first question', () => {
  expect(mainQuestion([yesNo, choice('a'), scale])?.key).toBe('topic');
  expect(mainQuestion([yesNo, scale])?.key).toBe('refund');
});

// spec: console-tags
describe('answers with any number of options', () => {
  it.each(tagSizes)('of %i are counted by option, and their shares are of all answers', (n) => {
    const question = tagsOf(n);
    const data = [row('2026-11-01', { o1: 6, o2: 5 }, { answers: 8 }), row('2026-11-03', {}, { answers: 2 })];
    const found = allLayersOf({ data }, question, bounds, '2026-11-01', '2026-11-04');
    expect(found.layers.map(({ key, hue }) => [key, hue]).slice(0, 2)).toEqual([['o1', 1], ['o2', 2]]);
    expect(found.layers).toHaveLength(n); // no layer of others, though answers have more or fewer options than one
    expect(found.answers).toEqual([8, 0, 2]);
    expect(latelyOf(found.layers, found.answers).slice(0, 2).map(({ share }) => share)).toEqual([0.6, 0.5]);
    expect(unsure(found.layers)).toBeUndefined();
    expect(read(data, question).layers.length).toBeLessThanOrEqual(9);
    expect(whereOf(question, 'o1', bounds)).toEqual(['about:is:o1']);
  });
  it('have shares of the results of a run', () => {
    const counts = [{ value: 'o1', label: '', count: 3 }, { value: 'o2', label: '', count: 2 }];
    const of = (results?: number) => sharesOf(tagsOf(2), counts, bounds, results).map(({ share }) => share);
    expect([of(4), of()]).toEqual([[0.75, 0.5], [0.6, 0.4]]);
  });
});
