import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Toasts } from '@/design/Feedback';
import { refusal, serve } from '@/test/server';
import { AssignMany, AssignMatching } from './AssignMany';

afterEach(() => { vi.unstubAllGlobals(); });

let assigned: Record<string, string | null>;
/** An account with so many results, of which the first two are assigned to Ada, and the members Ada and Bob. */
async function start(n: number, page: 'chosen' | 'matching', lost?: string) {
  const ids = Array.from({ length: n }, (_, i) => `r${i}`);
  assigned = Object.fromEntries(ids.map((id, i) => [id, i < 2 ? 'ada' : null]));
  const calls = await serve('labeller', ({ path, method, query, body }) => {
    if (path === '/v1/assignees') {
      return Response.json({ data: [{ id: 'ada', name: 'Ada' }, { id: 'bob', name: 'Bob' }], next_cursor: null });
    }
    if (path === '/v1/results') {
      const from = Number(query.get('cursor') ?? 0);
      const data = ids.slice(from, from + 100).map((id) => ({ id }));
      return Response.json({ data, next_cursor: from + 100 < n ? String(from + 100) : null });
    }
    const id = path.split('/')[3]!;
    if (id === lost) return refusal(404, 'not_found', 'Result not found');
    if (method === 'PUT') assigned[id] = (body as { member_id: string | null }).member_id;
    return Response.json({ result_id: id, member: assigned[id] ? { id: assigned[id], name: assigned[id] } : null });
  });
  const done = vi.fn();
  const one = { onClose: () => {}, onDone: done };
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      {page === 'chosen' ? <AssignMany ids={ids} {...one} /> : <AssignMatching search={{ prism: 'bank', q: 'late' }} {...one} />}
      <Toasts />
    </QueryClientProvider>,
  );
  return { calls, done };
}
const choose = async (name: string) => {
  await screen.findByRole('option', { name });
  const select = screen.getByRole<HTMLSelectElement>('combobox', { name: 'Who looks at them' });
  fireEvent.change(select, { target: { value: [...select.options].find(({ text }) => text === name)!.value } });
};

// spec: console-selection
describe('assigning several results', () => {
  it('assigns each to a member, and Undo to those before', async () => {
    const { done } = await start(3, 'chosen');
    await choose('Bob');
    fireEvent.click(screen.getByRole('button', { name: 'Assign 3 results' }));
    expect(await screen.findByText('3 results assigned to Bob.')).toBeTruthy();
    expect(assigned).toEqual({ r0: 'bob', r1: 'bob', r2: 'bob' });
    expect(done).toHaveBeenCalledOnce();
    fireEvent.click(screen.getByRole('button', { name: /^Undo/ }));
    await waitFor(() => expect(assigned).toEqual({ r0: 'ada', r1: 'ada', r2: null }));
    expect(await screen.findByText('They are assigned as before.')).toBeTruthy();
  });
  it('takes those of nobody, and says which number failed', async () => {
    const { calls, done } = await start(3, 'chosen', 'r0');
    await choose('Nobody');
    fireEvent.click(screen.getByRole('button', { name: 'Assign 3 results' }));
    expect(await screen.findByText('1 result was not assigned.')).toBeTruthy();
    expect(assigned).toEqual({ r0: 'ada', r1: null, r2: null });
    expect(calls.filter(({ method }) => method === 'PUT')).toHaveLength(1); // the third one had nobody
    expect(done).not.toHaveBeenCalled();
  });
  it('that match finds all of them first, by every filter', async () => {
    const { calls } = await start(250, 'matching');
    await choose('Ada');
    expect(calls.filter(({ path }) => path === '/v1/results').map(({ query }) => [query.get('q'), query.get('cursor')]))
      .toEqual([['late', null], ['late', '100'], ['late', '200']]);
    fireEvent.click(screen.getByRole('button', { name: 'Assign 250 results' }));
    expect(await screen.findByText('250 results assigned to Ada.')).toBeTruthy();
    expect(new Set(Object.values(assigned))).toEqual(new Set(['ada']));
  });
  it('that match are 1,000 at most', async () => {
    await start(1001, 'matching');
    expect(await screen.findByText('More than 1,000 results match. Narrow them by filters first.')).toBeTruthy();
  });
});
