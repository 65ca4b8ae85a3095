import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { session } from '@/api';
import { Account } from './Account';

afterEach(() => { vi.unstubAllGlobals(); localStorage.clear(); });

const demo = { id: 'a', name: 'demo', member: { id: 'm', name: 'Ada', role: 'owner' } };

const info = {
  id: 'a', name: 'demo', created_at: '2026-11-01T09:30:00.000Z', prisms: 3, keys: 2, members: 4, stored_bytes: 70 * 2 ** 20,
  limits: { requests_per_second: 50, concurrency: null, results_per_day: null, stored_bytes: 50 * 2 ** 30 },
};

/** Shows the page; the calls that change something, which are answered with a status. */
async function open(status: number) {
  const sent: [string, unknown][] = [];
  const went: string[] = [];
  vi.stubGlobal('location', { ...location, assign: (to: string) => went.push(to) });
  vi.stubGlobal('fetch', async (path: string | Request, init?: RequestInit) => {
    if (path instanceof Request) return Response.json(info);
    if (path === '/console/session/key') {
      return Response.json({ key: 'prism_k', expires_at: '2999-01-01T00:00:00.000Z', account: demo, member: demo.member });
    }
    if (init?.method !== 'POST') return Response.json({ accounts: [demo], version: '1' });
    sent.push([path, JSON.parse(init.body as string)]);
    return status === 204 ? new Response(null, { status })
      : Response.json({ error: { code: 'conflict', message: 'This is the last owner.' } }, { status });
  });
  await session.load();
  render(<QueryClientProvider client={new QueryClient()}><Account /></QueryClientProvider>);
  return { sent, went };
}

it('a member leaves an account after a yes (spec: session-leave)', async () => {
  const { sent, went } = await open(204);
  fireEvent.click(screen.getByRole('button', { name: 'Leave account' }));
  expect(screen.getByRole('heading', { name: 'Leave demo?' })).toBeTruthy();
  expect(sent).toEqual([]);
  fireEvent.click(screen.getAllByRole('button', { name: 'Leave account' }).at(-1)!);
  await vi.waitFor(() => expect(went).toEqual(['/console/']), 30_000);
  expect(sent).toEqual([['/console/session/leave', { account: 'a' }]]);
});

it('says why the last owner stays', async () => {
  const { went } = await open(409);
  fireEvent.click(screen.getByRole('button', { name: 'Leave account' }));
  fireEvent.click(screen.getAllByRole('button', { name: 'Leave account' }).at(-1)!);
  expect((await screen.findByRole('alert')).textContent).toContain('This is the last owner.');
  expect(went).toEqual([]);
});

it('shows what the account has and its limits (spec: account-read)', async () => {
  await open(204);
  await screen.findByText('50 a second');
  const facts =
    Object.fromEntries(screen.getAllByRole('term').map((term) => [term.textContent, term.nextElementSibling?.textContent]));
  expect(facts).toMatchObject({
    Prisms: '3', 'API keys': '2', Members: '4', Stored: '73 MB of 54 GB', Requests: '50 a second', Results: 'No limit',
  });
});
