import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readDraft } from '@/data/drafts';
import { Toasts } from '@/design/Feedback';
import { type Call, serve } from '@/test/server';
import type { Comment } from './comments';
import { Discussion } from './Discussion';

const path = '/v1/results/r/comments';
const said = (id: string, author: string, text: string): Comment => ({
  id, author: { kind: 'member', id: author, name: author === 'm' ? 'Ada' : 'Grace' }, text, created_at: '2026-11-01T00:00:00Z',
});

/** Shows the comments of a result to a member with a role. What is deleted and written is then so. */
async function shown(role: string, more: (call: Call) => Response | undefined = () => undefined) {
  let all = [said('3', 'g', 'and last'), said('2', 'm', 'of mine'), said('1', 'g', 'first')];
  let member: { id: string; name: string } | null = { id: 'x', name: 'Eve' };
  const calls = await serve(role, (call) => {
    if (call.path === '/v1/assignees') {
      return Response.json({ data: [{ id: 'm', name: 'Ada' }, { id: 'g', name: 'Grace' }], next_cursor: null });
    }
    if (call.path === '/v1/results/r/assignee') {
      const id = (call.body as { member_id: string | null } | undefined)?.member_id;
      if (id !== undefined) member = id === null ? null : { id, name: 'Ada' };
      return Response.json({ result_id: 'r', member });
    }
    if (call.method === 'POST') all = [said('4', 'm', (call.body as { text: string }).text), ...all];
    if (call.method === 'DELETE') all = all.filter(({ id }) => `${path}/${id}` !== call.path);
    return more(call) ?? (call.method === 'DELETE' ? new Response(null, { status: 204 })
      : Response.json(call.method === 'POST' ? all[0] : { data: all, next_cursor: null }));
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const page = (id: string) => <QueryClientProvider client={client}><Toasts /><Discussion id={id} /></QueryClientProvider>;
  const { rerender } = render(page('r'));
  await screen.findByText('of mine');
  return Object.assign(calls, { go: (id: string) => rerender(page(id)) });
}

const texts = () => screen.queryAllByRole('listitem').map((one) => one.querySelector('.results-value')!.textContent);
const assignee = () => screen.findByLabelText<HTMLSelectElement>('Assigned to');
const options = async () => [...(await assignee()).options].map(({ label }) => label);

afterEach(() => { cleanup(); vi.useRealTimers(); vi.unstubAllGlobals(); });

// spec: console-comments
describe('the comments of a result', () => {
  it('are read from the first to the last, and added to', async () => {
    const calls = await shown('labeller');
    expect(texts()).toEqual(['first', 'of mine', 'and last']);
    fireEvent.change(screen.getByLabelText('Add a comment'), { target: { value: ' “é” ' } });
    fireEvent.click(screen.getByRole('button', { name: 'Comment' }));
    await waitFor(() => expect(texts()).toEqual(['first', 'of mine', 'and last', '“é”']));
    expect(calls.find(({ method }) => method === 'POST')!.body).toEqual({ text: '“é”' });
    expect(screen.getByLabelText<HTMLTextAreaElement>('Add a comment').value).toBe('');
  });

  it('are sent by Ctrl or ⌘ with Enter, and Enter alone is a new line', async () => {
    await shown('labeller');
    const box = screen.getByPlaceholderText('Say something about this result. Ctrl+Enter sends it.');
    for (const key of ['ctrlKey', 'metaKey']) {
      const before = texts().length;
      fireEvent.change(box, { target: { value: key } });
      fireEvent.keyDown(box, { key: 'Enter' });
      expect(texts()).toHaveLength(before);
      fireEvent.keyDown(box, { key: 'Enter', [key]: true });
      await waitFor(() => expect(texts().at(-1)).toBe(key));
    }
  });

  it('are deleted by their author, and by an owner, when the toast goes', async () => {
    const calls = await shown('labeller');
    vi.useFakeTimers();
    fireEvent.click(screen.getByRole('button', { name: 'Delete the comment of Ada' }));
    expect([texts(), screen.queryByRole('button', { name: /^Delete the comment/ })]).toEqual([['first', 'and last'], null]);
    const deleted = () => calls.filter(({ method }) => method === 'DELETE').map((one) => one.path);
    fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
    expect(texts()).toEqual(['first', 'of mine', 'and last']);
    fireEvent.click(screen.getByRole('button', { name: 'Delete the comment of Ada' }));
    expect(deleted()).toEqual([]);
    await act(() => vi.advanceTimersByTimeAsync(10_100));
    vi.useRealTimers();
    await waitFor(() => expect(deleted()).toEqual([`${path}/2`]));
    await waitFor(() => expect(texts()).toEqual(['first', 'and last']));
    cleanup();
    await shown('owner');
    expect(screen.getAllByRole('button', { name: /^Delete the comment of / })).toHaveLength(3);
  });

  it('keep what is half written of each result, until it is said', async () => {
    const { go } = await shown('labeller', ({ path: at }) =>
      (at.startsWith('/v1/results/other') ? Response.json({ data: [], result_id: 'other', member: null }) : undefined));
    const box = () => screen.findByLabelText<HTMLTextAreaElement>('Add a comment');
    fireEvent.change(await box(), { target: { value: 'half a th' } });
    go('other');
    await waitFor(async () => expect((await box()).value).toBe(''));
    go('r');
    await waitFor(async () => expect((await box()).value).toBe('half a th'));
    fireEvent.change(await box(), { target: { value: 'half a thought' } });
    dispatchEvent(new Event('pagehide'));
    expect(readDraft('comment.r')).toBe('half a thought');
    fireEvent.click(screen.getByRole('button', { name: 'Comment' }));
    await waitFor(() => expect(readDraft('comment.r')).toBeUndefined());
  });

  it('are only read by a reader', async () => {
    await shown('reader');
    expect(screen.queryByRole('button')).toBeNull();
    expect(screen.queryByLabelText('Add a comment')).toBeNull();
    expect(await screen.findByText('Assigned to Eve')).toBeTruthy();
  });
});

// spec: console-comments
describe('whom a result is assigned to', () => {
  it.each(['labeller', 'owner'])('is any member for a %s, or nobody', async (role) => {
    const calls = await shown(role);
    await waitFor(async () => expect(await options()).toEqual(['Nobody', 'Ada (you)', 'Grace', 'Eve']));
    fireEvent.change(await assignee(), { target: { value: 'm' } });
    await waitFor(async () => expect([(await assignee()).value, (await assignee()).disabled]).toEqual(['m', false]));
    fireEvent.change(await assignee(), { target: { value: '' } });
    await waitFor(async () => expect((await assignee()).value).toBe(''));
    const put = calls.filter(({ method }) => method === 'PUT').map(({ body }) => body);
    expect(put).toEqual([{ member_id: 'm' }, { member_id: null }]);
  });
});
