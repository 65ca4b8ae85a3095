import { describe, expect, it } from 'vitest';
import type { Schemas } from '@/api';
import { tagsOf } from '@/test/options';
import { aboutsOf, chipsOf, chipText, elsewhere, sortWords } from './chips';
import { columnsOf } from './columns';
import { partOf, put, typedPart, valueOf } from './conditions';
import { type ResultsSearch, resultsSearch } from './search';
import { choices, wantedBy } from './wanted';

const prism = {
  slug: 'support', name: 'Support', version: {
    questions: [
      {
        key: 'topic', type: 'choice', text: '',
        options: [{ key: 'billing', label: 'Billing' }, { key: 'account', label: 'Account' }],
      },
      { key: 'upset', type: 'yes_no', text: '' },
    ],
  },
} as unknown as Schemas['Prism'];
const names = {
  prism, key: (id: string) => `key ${id}`, assignee: (id: string) => `member ${id}`, run: (id: string) => `run ${id}`,
};
const texts = (search: ResultsSearch, fixed = true) => chipsOf(search, names, fixed).map(chipText);

describe('conditions', () => {
  const where = ['topic:is:billing', 'upset:from:0.8'];

  it('are replaced in their place, added behind, and taken away', () => {
    expect(put(where, 'topic', 'is', 'billing,account')).toEqual(['topic:is:billing,account', 'upset:from:0.8']);
    expect(put(where, 'upset', 'to', '0.9')).toEqual([...where, 'upset:to:0.9']);
    expect(put(where, 'topic', 'is', undefined)).toEqual(['upset:from:0.8']);
    expect(put(['topic:is:billing'], 'topic', 'is', undefined)).toBeUndefined();
    expect(put(['topic:wrong'], 'topic', 'labelled', '', ['labelled', 'unlabelled', 'wrong'])).toEqual(['topic:labelled']);
  });

  it('are found by name and operator', () => {
    expect([valueOf(where, 'upset', 'from'), valueOf(where, 'upset', 'to'), valueOf(['topic:wrong'], 'topic', 'wrong')]).toEqual(
      ['0.8', undefined, ''],
    );
    expect(valueOf(['@created:from:2026-11-01T00:00:00Z'], '@created', 'from')).toBe('2026-11-01T00:00:00Z');
  });
});

describe('a probability that is typed', () => {
  it('is a percentage, or a part of one with a point or a comma', () => {
    expect(['80', '80%', '0.8', '0,8', ' 12,5 % ', '1', '100', '0', '0.5%'].map(partOf)).toEqual(
      [0.8, 0.8, 0.8, 0.8, 0.125, 0.01, 1, 0, 0.005],
    );
  });

  it('is nothing else', () => {
    expect(['', 'x', '-5', '101', '1.2.3', '%'].map(partOf)).toEqual(Array(6).fill(undefined));
  });

  it('is shown again as it was typed', () => {
    expect(['0.8', '0.125', '0', undefined].map(typedPart)).toEqual(['80', '12.5', '0', '']);
  });
});

describe('filters in words', () => {
  it('have the labels of the newest version', () => {
    expect(texts({
      prism: 'support', q: 'refund',
      where: ['topic:is:billing,account', 'topic:from:0.8', 'upset:is:yes', 'topic.billing:to:0.3'],
    })).toEqual(['Text refund', 'Topic is Billing or Account', 'Topic ≥ 80%', 'Upset is Yes', 'Topic: Billing ≤ 30%']);
    expect(texts({ prism: 'support', where: [
      'topic:wrong', '@labelled:is:no', '@took:from:5000', 'old:is:gone', 'topic@label:is:billing', 'upset@label:not:yes',
    ] })).toEqual([
      'Topic differs from its label', 'Label is none', 'Took ≥ 5000', 'Old is gone', 'Topic: label is Billing',
      'Upset: label is not Yes',
    ]);
  });

  it('name the first of many answers, and how many more there are', () => {
    const of = (...values: string[]) => texts({ prism: 'support', where: [`topic:is:${values.join(',')}`] })[0];
    expect(of('billing', 'account', 'x', 'y')).toBe('Topic is Billing or Account or x or y');
    expect(of('billing', 'account', 'x', 'y', 'z')).toBe('Topic is Billing or Account or x or 2 more');
  });

  it('name keys and runs, and the prism where it is a filter', () => {
    const search = {
      prism: 'support', status: 'failed', version: 2, model: 'fast', key_id: 'k', assignee: 'm', run: 'r', ref: '',
    } as const;
    expect(texts(search, false)).toEqual(
      [
        'Prism Support', 'Status failed', 'Version 2', 'Model fast', 'Key key k', 'Assigned to member m', 'Run run r',
        'Reference empty',
      ],
    );
  });

  it('are taken away alone, and the prism with all that is about its answers', () => {
    const search = { prism: 'support', where: ['topic:is:billing', 'upset:is:no'], sort: '-topic', q: 'x' };
    const without = (n: number) => {
      const change = chipsOf(search, names, false)[n]!.without;
      return resultsSearch({ ...search, ...(typeof change === 'function' ? change(search) : change) });
    };
    expect(without(2)).toEqual({ ...search, where: ['upset:is:no'] });
    expect(without(0)).toEqual({ q: 'x' });
  });
});

it('counts the values of a filter as if it were not set', () => {
  const search = { prism: 'p', status: 'ok' as const, where: ['topic:is:billing', 'topic:from:0.8', '@labelled:is:yes'] };
  expect(elsewhere(search, 'question topic')).toEqual({ ...search, where: ['topic:from:0.8', '@labelled:is:yes'] });
  expect(elsewhere(search, 'labelled').where).toEqual(['topic:is:billing', 'topic:from:0.8']);
  expect(elsewhere(search, 'status')).toEqual({ prism: 'p', where: search.where });
});

it('offers answers once a prism is chosen', () => {
  expect(aboutsOf(prism, true).slice(0, 3)).toEqual(['question topic', 'question upset', 'labelled']);
  expect(aboutsOf(undefined, false).slice(0, 2)).toEqual(['prism', 'status']);
  expect(aboutsOf({ ...prism, searchable: false } as typeof prism, true)).toEqual(
    ['status', 'time', 'version', 'model', 'key_id', 'assignee', 'run', 'ref'],
  );
});

it('says the order', () => {
  expect([undefined, '-@created', '@created', '-@took', '-upset', 'topic.billing', '-urgency@average'].map((sort) =>
    sortWords(sort))).toEqual([
    undefined, undefined, 'oldest first', 'by time taken, longest first', 'by Upset, most first',
    'by Topic: billing, least first', 'by Urgency, most first',
  ]);
  const mood = { key: 'mood', type: 'scale' as const, text: 'How happy?', levels: [
    { key: 'angry', label: 'Angry', value: 0 }, { key: 'happy', label: `Happy, ${'grateful '.repeat(9)}`, value: 1 },
  ] };
  expect(['mood@average', '-mood@average', 'mood'].map((sort) => sortWords(sort, [mood]))).toEqual([
    'by Mood, “Angry” first', 'by Mood, “Happy, grateful grateful grateful gratef…” first', 'by Mood, least first',
  ]);
});

describe('columns', () => {
  it('are the answers and the time until somebody says otherwise', () => {
    const ids = ['p/topic', 'time', 'version', 'model'];
    expect(ids.map(wantedBy({}))).toEqual([true, true, false, false]);
    expect(ids.map(wantedBy({ 'p/topic': false, model: true }))).toEqual([false, true, false, true]);
  });

  it('forget a store that somebody else wrote', () => {
    expect([choices(null), choices('nonsense'), choices('{"time":1,"model":true}'), choices('null')]).toEqual(
      [{}, {}, { model: true }, {}],
    );
  });
});

// spec: console-tags
describe('filters by tags', () => {
  const tagged = { ...prism, version: { questions: [tagsOf(3)] } } as unknown as Schemas['Prism'];
  const words = (...where: string[]) => chipsOf({ where }, { ...names, prism: tagged }, true).map(chipText);
  it('are chips with the labels of their options', () => {
    expect(words('about:is:o1,o2', 'about:not:o3', 'about.o2:from:0.8', 'about@count:from:2')).toEqual(
      ['About is Option 1 or Option 2', 'About is not Option 3', 'About: Option 2 ≥ 80%', 'About: count ≥ 2'],
    );
  });
  it('do not count against their own values', () => {
    expect(elsewhere({ where: ['about:not:o1', 'about.o2:from:0.8'] }, 'question about').where).toEqual(['about.o2:from:0.8']);
  });
  it('give the column the order by one of its options', () => {
    const head = (sort?: string) => columnsOf(tagged, [], wantedBy(choices('')), sort).find(({ id }) => id === 'answer about')!;
    expect([head().sort, head('-about.o2').sort, head('-about.o2').rank, head('-@took').sort]).toEqual(
      [undefined, 'about.o2', 0, undefined],
    );
  });
});
