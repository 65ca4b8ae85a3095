import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { session } from '@/api';
import { Account } from './Account';

afterEach(() => { vi.unstubAllGlobals(); localStorage.clear(); });

const demo = { id: 'a', name: 'demo', member: { id: 'm', name: 'Ada', role: 'owner' } };

/** Shows the page; the calls that change something, which are answered with a status. */
async function open(status: number) {
  const sent: [string, unknown][] = [];
  const went: string[] = [];
  vi.stubGlobal('location', { ...location, assign: (to: string) => went.push(to) });
  vi.stubGlobal('fetch', async (path: string, init?: RequestInit) => {
    if (init?.method !== 'POST') return Response.json({ accounts: [demo], version: '1' });
    sent.push([path, JSON.parse(init.body as string)]);
    return status === 204 ? new Response(null, { status }) : Response.json({ error: { code: 'conflict', message: 'This is the last owner.' } }, { status });
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
  await vi.waitFor(() => expect(went).toEqual(['/console/']));
  expect(sent).toEqual([['/console/session/leave', { account: 'a' }]]);
});

it('says why the last owner stays', async () => {
  const { went } = await open(409);
  fireEvent.click(screen.getByRole('button', { name: 'Leave account' }));
  fireEvent.click(screen.getAllByRole('button', { name: 'Leave account' }).at(-1)!);
  expect((await screen.findByRole('alert')).textContent).toContain('This is the last owner.');
  expect(went).toEqual([]);
});
