import { describe, expect, it } from 'vitest';
import {
  beyondQueue, beyondRetry, clear, exportQuery, filtered, fromLocal, listQuery, localTime, ofAll, queueOf, resultsSearch,
  spanFrom,
} from './search';

describe('the search of a URL', () => {
  it('takes every filter of the list', () => {
    const search = {
      prism: 'support', status: 'failed', ref: 'ticket-1', version: 2, model: 'fast', key_id: 'k', assignee: 'me', run: 'r',
      from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T00:00:00.000Z', q: 'refund -spam',
      where: ['topic:is:billing', 'topic:from:0.8'], sort: '-upset', open: 'id',
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

  it('takes one condition for a list of one', () => {
    expect(resultsSearch({ where: 'topic:labelled' })).toEqual({ where: ['topic:labelled'] });
    expect(resultsSearch({ where: [], q: '' })).toEqual({});
  });

  it('keeps the open row out of what the API is asked', () => {
    expect(listQuery({ prism: 'support', open: 'id' })).toEqual({ prism: 'support' });
  });

  it('asks for conditions and orders by an answer only of one prism', () => {
    const search = { where: ['topic:labelled'], sort: '-topic' };
    expect(listQuery(search)).toEqual({});
    expect(listQuery({ ...search, prism: 'p' })).toEqual({ prism: 'p', ...search });
    expect(listQuery({ sort: '-@took' })).toEqual({ sort: '-@took' });
  });
});

describe('what an export and a retry of all that match take', () => {
  const search = {
    prism: 'p', status: 'failed', ref: 'r', version: 1, model: 'm', from: '2026-11-01T00:00:00.000Z', q: 'refund', key_id: 'k',
    where: ['topic:is:billing'], sort: '-topic', open: 'id',
  } as const;
  const where = ['topic:is:billing', '@version:is:1', '@model:is:m'];

  it('is every filter of an export', () => {
    const { prism: _, sort: __, open: ___, ...filters } = { ...search, where: [...search.where] };
    expect(exportQuery({ ...search, ...filters, assignee: 'none', run: 'r', view: 'v' })).toEqual(
      { ...filters, assignee: 'none', run: 'r' },
    );
  });

  it('has the version and the model of a retry as conditions', () => {
    const of = { ...search, where: [...search.where] };
    expect(ofAll(of)).toEqual({ q: 'refund', where });
    expect(ofAll({ prism: 'p', status: 'ok' })).toEqual({});
  });

  it('has the time as conditions for a queue of labels', () => {
    expect(queueOf({ prism: 'p', q: 'x', from: 'a', to: 'b', version: 2, sort: 'c' })).toEqual({
      q: 'x', where: ['@version:is:2', '@created:from:a', '@created:to:b'],
    });
    expect(queueOf({ prism: 'p' })).toEqual({});
    expect(queueOf({ prism: 'p', assignee: 'me' })).toEqual({ assignee: 'me' });
  });

  it('says what it lacks', () => {
    const of = { ...search, where: [...search.where] };
    expect(beyondRetry(of)).toEqual(['ref', 'key_id']);
    expect(beyondRetry({ prism: 'p', assignee: 'me', run: 'r' })).toEqual(['assignee', 'run']);
    expect(beyondQueue({ prism: 'p', assignee: 'me', run: 'r' })).toEqual(['run']);
    expect(beyondRetry({ prism: 'p', status: 'failed', from: 'x', to: 'y', sort: 'topic', open: 'id' })).toEqual([]);
  });
});

it('says that a list is filtered, whatever row is open', () => {
  expect(filtered({ prism: 'p', open: 'id' })).toBe(false);
  expect(filtered({ status: 'ok' })).toBe(true);
});

it('clears every filter and the order, but not the open row', () => {
  const search = { prism: 'p', q: 'x', where: ['a:labelled'], sort: 'a', status: 'ok', assignee: 'me', open: 'id' } as const;
  expect(resultsSearch({ ...search, ...clear })).toEqual({ open: 'id', view: 'all' });
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
