import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Toasts } from '@/design/Feedback';
import { refusal, serve } from '@/test/server';
import { AssignMany, AssignMatching } from './AssignMany';
import type { ResultsSearch } from './search';

afterEach(() => { vi.unstubAllGlobals(); });

interface Sent {
  member_id: string | null;
  ids?: string[];
  expect?: number;
  dry_run?: boolean;
}

let assigned: Record<string, string | null>;
/** An account with so many results, of which the first two are assigned to Ada, and the last two are of another prism. */
async function start(n: number, page: 'chosen' | ResultsSearch, lost?: string) {
  const ids = Array.from({ length: n }, (_, i) => `r${i}`);
  const prismOf = (id: string) => (page === 'chosen' && ids.indexOf(id) >= n - 2 ? 'tickets' : 'bank');
  assigned = Object.fromEntries(ids.map((id, i) => [id, i < 2 ? 'ada' : null]));
  if (lost) delete assigned[lost];
  const calls = await serve('labeller', ({ path, body }) => {
    if (path === '/v1/assignees') {
      return Response.json({ data: [{ id: 'ada', name: 'Ada' }, { id: 'bob', name: 'Bob' }], next_cursor: null });
    }
    const { member_id, ids: of, expect, dry_run } = body as Sent;
    const match = (of ?? ids).filter((id) => id in assigned && prismOf(id) === path.split('/')[3]);
    if (match.length > 1000) return refusal(409, 'conflict', 'More than 1000 results match.');
    if (dry_run) return Response.json({ assigned: match.length, before: [] });
    if (expect !== match.length) return refusal(409, 'conflict', `${match.length} results match now.`);
    const before = new Map<string | null, string[]>();
    for (const id of match.filter((one) => assigned[one] !== member_id)) {
      before.set(assigned[id]!, [...(before.get(assigned[id]!) ?? []), id]);
      assigned[id] = member_id;
    }
    return Response.json({ assigned: match.length, before: [...before].map(([was, some]) => ({ member_id: was, ids: some })) });
  });
  const done = vi.fn();
  const one = { onClose: () => {}, onDone: done };
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      {page === 'chosen' ? <AssignMany results={ids.map((id) => ({ id, prism: prismOf(id) }))} {...one} />
        : <AssignMatching search={page} {...one} />}
      <Toasts />
    </QueryClientProvider>,
  );
  return { calls: () => calls.filter(({ path }) => path.endsWith('/assign')), done };
}
const choose = async (name: string) => {
  await screen.findByRole('option', { name });
  const select = screen.getByRole<HTMLSelectElement>('combobox', { name: 'Who looks at them' });
  fireEvent.change(select, { target: { value: [...select.options].find(({ text }) => text === name)!.value } });
};

// spec: console-selection
describe('assigning several results', () => {
  it('is a call for each prism, and Undo gives them to those before', async () => {
    const { calls, done } = await start(4, 'chosen');
    await choose('Bob');
    fireEvent.click(screen.getByRole('button', { name: 'Assign 4 results' }));
    expect(await screen.findByText('4 results assigned to Bob.')).toBeTruthy();
    expect(calls()).toHaveLength(2);
    expect(assigned).toEqual({ r0: 'bob', r1: 'bob', r2: 'bob', r3: 'bob' });
    expect(done).toHaveBeenCalledOnce();
    fireEvent.click(screen.getByRole('button', { name: /^Undo/ }));
    await waitFor(() => expect(assigned).toEqual({ r0: 'ada', r1: 'ada', r2: null, r3: null }));
    expect(await screen.findByText('They are assigned as before.')).toBeTruthy();
  });
  it('takes those of nobody, without one that was deleted meanwhile', async () => {
    await start(5, 'chosen', 'r0');
    await choose('Nobody');
    fireEvent.click(screen.getByRole('button', { name: 'Assign 5 results' }));
    expect(await screen.findByText('4 results assigned to nobody.')).toBeTruthy();
    expect(assigned).toEqual({ r1: null, r2: null, r3: null, r4: null });
  });
  it('that match is one call, by every filter', async () => {
    const { calls } = await start(250, { prism: 'bank', q: 'late', where: ['topic:is:card'], sort: '-topic', open: 'r1' });
    await choose('Ada');
    fireEvent.click(screen.getByRole('button', { name: 'Assign 250 results' }));
    expect(await screen.findByText('250 results assigned to Ada.')).toBeTruthy();
    expect(calls().map(({ body }) => body)).toEqual([
      { q: 'late', where: ['topic:is:card'], member_id: null, dry_run: true },
      { q: 'late', where: ['topic:is:card'], member_id: 'ada', expect: 250 },
    ]);
    expect(new Set(Object.values(assigned))).toEqual(new Set(['ada']));
  });
  it('that match assigns none if other ones match by now', async () => {
    const { done } = await start(3, { prism: 'bank' });
    await choose('Ada');
    assigned.r9 = null;
    delete assigned.r0;
    delete assigned.r1;
    fireEvent.click(screen.getByRole('button', { name: 'Assign 3 results' }));
    expect(await screen.findByText(/^1 result matches now, and none was assigned\./)).toBeTruthy();
    expect(done).not.toHaveBeenCalled();
  });
  it('that match are 1,000 at most, of one prism', async () => {
    await start(1001, { prism: 'bank' });
    expect(await screen.findByText('More than 1,000 results match. Narrow them by filters first.')).toBeTruthy();
  });
  it('that match are of one prism', async () => {
    await start(3, {});
    expect(screen.getByText(/Choose a prism in the filters first\.$/)).toBeTruthy();
  });
});
