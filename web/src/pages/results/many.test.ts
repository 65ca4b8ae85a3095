import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '@/api';
import { refusal, serve } from '@/test/server';
import { deleteMatching, deletionOf, each, matchNow, matchOf } from './many';

describe('a retry of many', () => {
  it('reads the new number out of the refusal', () => {
    expect(matchNow(new ApiError(409, 'conflict', '1240 results match now.'))).toBe(1240);
    expect(matchNow(new ApiError(409, 'conflict', '1 results match now.'))).toBe(1);
  });

  it('is of what the filters find', () => {
    expect(matchOf({ prism: 'p', q: 'refund', version: 2, from: 'x', sort: '-a' })).toEqual({
      prism: 'p', from: 'x', to: undefined, q: 'refund', where: ['@version:is:2'],
    });
    expect(matchOf({ q: 'refund' })).toBeUndefined();
  });

  it('takes no other refusal for it', () => {
    expect(matchNow(new ApiError(409, 'conflict', 'More than 1000000 results match.'))).toBeUndefined();
    expect(matchNow(new ApiError(409, 'conflict', 'Results of this prism are being retried.'))).toBeUndefined();
    expect(matchNow(new ApiError(400, 'bad_request', '3 results match now.'))).toBeUndefined();
    expect(matchNow(new Error('3 results match now.'))).toBeUndefined();
  });
});

describe('one call for each', () => {
  it('goes on after failures and counts them', async () => {
    const told: [number, number][] = [];
    const work = (id: string) => (id === 'b' ? Promise.reject(new Error('no')) : Promise.resolve());
    const { done, failed } = await each(['a', 'b', 'c'], work, (...at) => told.push(at), new AbortController().signal, 1);
    expect([done, failed.length]).toEqual([3, 1]);
    expect(told).toEqual([[1, 0], [2, 1], [3, 1]]);
  });

  it('begins no further one after a stop', async () => {
    const controller = new AbortController();
    const begun: string[] = [];
    await each(['a', 'b', 'c'], async (id) => { begun.push(id); controller.abort(); }, () => undefined, controller.signal, 1);
    expect(begun).toEqual(['a']);
  });

  it('has no more under way than it may', async () => {
    let [now, most] = [0, 0];
    const work = async () => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now--;
    };
    await each(Array.from({ length: 20 }, (_, i) => String(i)), work, () => undefined, new AbortController().signal, 4);
    expect(most).toBe(4);
  });
});

// spec: console-selection
describe('a deletion of all that match', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('has every filter as a member', () => {
    const same = {
      status: 'ok', version: 2, from: 'a', ref: '', model: 'm', key_id: 'k', assignee: 'me', run: 'r',
      q: 'x', where: ['topic:wrong'],
    } as const;
    const of = { ...same, where: [...same.where] };
    expect(deletionOf({ prism: 'p', to: 'b', sort: '-topic', open: 'id', view: 'v', ...of })).toEqual({ ...of, before: 'b' });
  });

  it('without a filter is of what there was at the call', () => {
    expect(deletionOf({ prism: 'p', sort: 'a', open: 'id' }, new Date(0))).toEqual({ before: '1970-01-01T00:00:00.000Z' });
  });

  it('expects as many as were said, and the API refuses other numbers', async () => {
    const calls = await serve('editor', ({ body }) => ((body as { expect: number }).expect === 3
      ? Response.json({ deleting: 3 }, { status: 202 }) : refusal(409, 'conflict', '3 results match now.')));
    await expect(deleteMatching('p', { q: 'x' }, 2)).rejects.toThrow('3 results match now.');
    await deleteMatching('p', { q: 'x' }, 3);
    expect(calls.map(({ body }) => body)).toEqual([{ q: 'x', expect: 2 }, { q: 'x', expect: 3 }]);
  });
});
