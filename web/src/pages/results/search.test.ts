import { describe, expect, it } from 'vitest';
import {
  beyondExport, beyondRetry, exportQuery, filtered, fromLocal, hasWords, listQuery, localTime, resultsSearch, spanFrom,
} from './search';

describe('the search of a URL', () => {
  it('takes every filter of the list', () => {
    const search = {
      prism: 'support', status: 'failed', ref: 'ticket-1', version: 2, model: 'fast', key_id: 'k', run: 'r',
      from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T00:00:00.000Z', words: 'billing', open: 'id',
    };
    expect(resultsSearch(search)).toEqual(search);
  });

  it('leaves out what no filter can be', () => {
    expect(resultsSearch({ status: 'broken', version: 0, from: 'yesterday', prism: '', other: 'x', open: {} })).toEqual({});
    expect(resultsSearch({ version: 1.5 })).toEqual({});
    expect(resultsSearch({ version: 2147483648 })).toEqual({});
  });

  it('takes a ref that the router has read as a number as the text that it was', () => {
    expect(resultsSearch({ ref: 4711 })).toEqual({ ref: '4711' });
  });

  it('keeps an empty ref, which the API finds', () => {
    expect(listQuery(resultsSearch({ ref: '' }))).toEqual({ ref: '' });
  });

  it('writes times as the API does', () => {
    expect(resultsSearch({ from: '2026-11-01T01:00:00+01:00' })).toEqual({ from: '2026-11-01T00:00:00.000Z' });
  });

  it('keeps the open row and the words out of what the API is asked', () => {
    expect(listQuery({ prism: 'support', words: 'billing', open: 'id' })).toEqual({ prism: 'support' });
  });
});

describe('what an export and a retry of many do not have', () => {
  it('is named', () => {
    const search =
      { prism: 'p', status: 'failed', ref: 'r', version: 1, model: 'm', from: '2026-11-01T00:00:00.000Z', open: 'id' } as const;
    expect(exportQuery(search)).toEqual({ status: 'failed', model: 'm', from: search.from });
    expect(beyondExport(search)).toEqual(['ref', 'version']);
    expect(beyondRetry(search)).toEqual(['ref', 'version', 'model']);
  });

  it('is nothing for a prism in a span of time', () => {
    expect(beyondRetry({ prism: 'p', status: 'failed', from: 'x', to: 'y', open: 'id' })).toEqual([]);
  });
});

it('says that a list is filtered, whatever row is open', () => {
  expect(filtered({ prism: 'p', open: 'id' })).toBe(false);
  expect(filtered({ status: 'ok' })).toBe(true);
});

describe('words', () => {
  it('must all be in the row, in any case and in any cell', () => {
    expect(hasWords(['Billing', null, 'no'], 'no bill')).toBe(true);
    expect(hasWords(['Billing'], 'bill shipping')).toBe(false);
  });

  it('do not run over from one cell into the next', () => {
    expect(hasWords(['bil', 'ling'], 'billing')).toBe(false);
  });

  it('that are none leave every row', () => {
    expect(hasWords([], '  ')).toBe(true);
    expect(hasWords([], undefined)).toBe(true);
  });
});

it('begins a span on a whole minute, so that pressing twice is one list', () => {
  expect(spanFrom(1, Date.parse('2026-11-01T10:00:59.999Z'))).toBe('2026-11-01T09:00:00.000Z');
});

it('reads a local time back as the time that it shows', () => {
  const at = '2026-07-01T10:30:00.000Z';
  expect(fromLocal(localTime(at))).toBe(at);
  expect(localTime(undefined)).toBe('');
  expect(fromLocal('')).toBeUndefined();
});
