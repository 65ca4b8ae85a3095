import { describe, expect, it } from 'vitest';
import { ApiError } from '@/api';
import { each, matchNow } from './many';

describe('a retry of many', () => {
  it('reads the new number out of the refusal', () => {
    expect(matchNow(new ApiError(409, 'conflict', '1240 results match now.'))).toBe(1240);
    expect(matchNow(new ApiError(409, 'conflict', '1 results match now.'))).toBe(1);
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
