import { QueryClient } from '@tanstack/react-query';
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '@/api';
import * as data from '@/data/results';
import { toast, toastBefore } from '@/design';
import { Toasts } from '@/design/Feedback';
import { deleteLater, useWaiting } from './deleting';

const client = new QueryClient();
const Waiting = () => <p>waiting: {[...useWaiting()].join(' ')}</p>;
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const button = (name: string) => fireEvent.click(screen.getByRole('button', { name }));

beforeEach(() => {
  vi.useFakeTimers();
  render(<><Toasts /><Waiting /></>);
});
afterEach(async () => { await pass(30_000); cleanup(); vi.useRealTimers(); });

// spec: console-undo
describe('a deletion from a page', () => {
  it('takes the results out of the lists at once, and is made when the toast goes', async () => {
    const made = vi.spyOn(data, 'deleteResult').mockResolvedValue();
    act(() => deleteLater(client, ['a', 'b']));
    expect(screen.getByText('waiting: a b')).toBeTruthy();
    expect(screen.getByText(/^2 results will be deleted .* close this tab before, nothing is\.$/)).toBeTruthy();
    await pass(9_900);
    expect(made).not.toHaveBeenCalled();
    await pass(200);
    expect(made.mock.calls).toEqual([['a'], ['b']]);
    expect(screen.getByText('waiting:')).toBeTruthy();
    expect(screen.queryByText(/will be deleted/)).toBeNull();
  });

  it('that is undone deletes nothing, and shows the results again', async () => {
    const made = vi.spyOn(data, 'deleteResult').mockResolvedValue();
    act(() => deleteLater(client, ['a']));
    await pass(5_000);
    button('Undo');
    await pass(20_000);
    expect(made).not.toHaveBeenCalled();
    expect(screen.getByText('waiting:')).toBeTruthy();
  });

  it('waits while the pointer is on its toast, and deletes nothing in a page that is closed', async () => {
    const made = vi.spyOn(data, 'deleteResult').mockResolvedValue();
    act(() => deleteLater(client, ['a']));
    fireEvent.mouseEnter(screen.getByText(/will be deleted/).parentElement!);
    await pass(20_000);
    expect(made).not.toHaveBeenCalled();
    cleanup();
    await pass(20_000);
    expect(made).not.toHaveBeenCalled();
    render(<><Toasts /><Waiting /></>);
    button('Undo');
  });

  it('that fails says so until it is closed, and shows what is still there', async () => {
    vi.spyOn(data, 'deleteResult').mockImplementation((id) =>
      (id === 'a' ? Promise.reject(new ApiError(403, 'forbidden', 'No.')) : Promise.resolve()));
    act(() => deleteLater(client, ['a', 'b']));
    await pass(10_100);
    await pass(20_000);
    expect(screen.getByRole('alert').textContent).toContain('Not all of them were deleted.');
    expect(screen.getByText('waiting:')).toBeTruthy();
    button('Close');
    expect(screen.queryByRole('alert')).toBeNull();
  });
});

describe('toasts', () => {
  it('that pass push each other out, but never what will be done', async () => {
    const done = vi.fn(() => Promise.resolve());
    act(() => {
      toastBefore('soon', done, () => undefined, 'failed');
      for (const n of [1, 2, 3, 4]) toast(`said ${n}`);
    });
    expect(screen.queryByText('said 1')).toBeNull();
    expect([screen.getByText('soon'), screen.getByText('said 2'), screen.getByText('said 4')]).toHaveLength(3);
    await pass(10_100);
    expect(done).toHaveBeenCalledTimes(1);
  });
});
