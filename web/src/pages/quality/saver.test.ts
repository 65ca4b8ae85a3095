import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '@/api';
import { Saver, type Unsaved } from './saver';

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); });

const one = (result: string, value: string | null = 'a', question = 'topic'): Unsaved => ({
  result, labels: { [question]: value }, sample: 'random',
});

/** A server whose answers are errors, or undefined for a label that is stored; what it was sent, and what was kept. */
function serve(answers: (ApiError | undefined)[] = []) {
  const sent: Unsaved[] = [];
  const kept: Unsaved[][] = [];
  const put = vi.fn(async (unsaved: Unsaved) => {
    sent.push(unsaved);
    const error = answers.shift();
    if (error) throw error;
  });
  return { sent, kept, put, saver: new Saver(put, (waiting) => kept.push(waiting)) };
}

describe('labels that are made', () => {
  it('are stored one after the other, in their order', async () => {
    const { saver, sent, kept } = serve();
    saver.add(one('1'));
    saver.add(one('2'));
    saver.add(one('1', null));
    expect(saver.state.waiting).toHaveLength(3);
    await vi.runAllTimersAsync();
    expect(sent).toEqual([one('1'), one('2'), one('1', null)]);
    expect(saver.state).toEqual({ waiting: [], refused: [], trouble: undefined });
    expect(kept.at(-1)).toEqual([]);
  });
  it('of one result that waits are sent together, but not with those that are on their way', async () => {
    const { saver, sent } = serve();
    saver.add(one('1'));
    saver.add(one('1', 'b', 'mood'));
    saver.add(one('1', 'c', 'team'));
    await vi.runAllTimersAsync();
    expect(sent).toEqual([one('1'), { ...one('1'), labels: { mood: 'b', team: 'c' } }]);
  });
  it.each([
    new ApiError(0, 'no_response', 'This machine is offline.'), new ApiError(503, 'x', 'Busy.'),
    new ApiError(429, 'x', 'Slow down.'), new ApiError(401, 'x', 'Signed out.'),
  ])(
    'wait and are tried again after $message', async (error) => {
      const { saver, sent } = serve([error, error]);
      saver.add(one('1'));
      await vi.advanceTimersByTimeAsync(0);
      expect(saver.state.trouble).toBe(error.message);
      await vi.advanceTimersByTimeAsync(999);
      saver.add(one('2'));
      expect(sent).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(1);
      expect(sent).toHaveLength(2);
      await vi.advanceTimersByTimeAsync(1999);
      expect(sent).toHaveLength(2); // the second pause is twice as long
      await vi.runAllTimersAsync();
      expect(sent.slice(2)).toEqual([one('1'), one('2')]);
      expect(saver.state).toEqual({ waiting: [], refused: [], trouble: undefined });
    });
  it('are tried again at once when the network is back', async () => {
    const { saver, sent } = serve([new ApiError(0, 'no_response', 'This machine is offline.')]);
    saver.add(one('1'));
    await vi.advanceTimersByTimeAsync(0);
    saver.again();
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toHaveLength(2);
    expect(saver.state.waiting).toEqual([]);
    await vi.runAllTimersAsync();
    expect(sent).toHaveLength(2);
  });
  it('that the API refuses are named, and hold nobody up', async () => {
    const { saver, sent } = serve([new ApiError(404, 'not_found', 'Result not found')]);
    saver.add(one('1'));
    saver.add(one('2'));
    await vi.runAllTimersAsync();
    expect(sent).toHaveLength(2);
    expect(saver.state.refused).toEqual([{ labels: one('1'), message: 'Result not found' }]);
    saver.dismiss();
    expect(saver.state.refused).toEqual([]);
  });
  it('and were not stored before a reload are stored after it', async () => {
    const { put, kept } = serve();
    const saver = new Saver(put, (waiting) => kept.push(waiting), [one('1'), one('2')]);
    await vi.runAllTimersAsync();
    expect(put).toHaveBeenCalledTimes(2);
    expect(saver.state.waiting).toEqual([]);
  });
});
