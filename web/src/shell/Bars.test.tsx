import { createRootRoute } from '@tanstack/react-router';
import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { ApiError } from '@/api';
import { queries } from '@/api/query';
import { errorOf } from '@/api/errors';
import { session } from '@/api/session';
import { open, serve } from '@/test/server';
import { ModelBar, RetryBar, SessionBar } from './Bars';

// spec: console-retries
it('calls are made while the browser says that there is no network', async () => {
  dispatchEvent(new Event('offline'));
  try {
    expect(await queries.fetchQuery({ queryKey: ['offline'], queryFn: () => 'answered' })).toBe('answered');
  } finally {
    dispatchEvent(new Event('online'));
    queries.clear();
  }
});

// spec: console-retries
it('a call that failed twice says why while it is made again, and no more once it is answered', async () => {
  let answer = (_: string) => {};
  let calls = 0;
  const busy = errorOf(new Response(null, { status: 503 }), undefined);
  function Page() {
    useQuery({
      queryKey: ['busy'],
      queryFn: () => (++calls > 2 ? new Promise<string>((resolve) => { answer = resolve; }) : Promise.reject(busy)),
    });
    return <RetryBar />;
  }
  const client =
    new QueryClient({ defaultOptions: { queries: { retry: (_, error) => (error as ApiError).passing, retryDelay: 0 } } });
  render(<QueryClientProvider client={client}><Page /></QueryClientProvider>);
  expect(await screen.findByText('Prism is busy, or starts again. Trying again …')).toBeTruthy();
  answer('there');
  await waitFor(() => expect(screen.getByRole('status').textContent).toBe(''));
});

// spec: link-owner
it('a session that has ended goes on with the own link, and asks before another one is used', async () => {
  const token = 'abcdefghijklmnopqrstuvwxyzABCDEF';
  const mine = { id: 'a', name: 'demo', member: { id: 'm', name: 'Ada', role: 'owner' } };
  const theirs = { id: 'b', name: 'other', member: { id: 'n', name: 'Mallory', role: 'owner' } };
  let owner = theirs, over = false;
  const used: string[] = [];
  vi.stubGlobal('fetch', async (path: string, init?: RequestInit) => {
    if (path === '/console/session/link') return Response.json({ account: owner, expires_at: '' });
    if (init?.method === 'POST') {
      used.push(owner.name);
      over = false;
      return new Response(null, { status: 204 });
    }
    return over ? Response.json({ error: {} }, { status: 401 }) : Response.json({ accounts: [mine, theirs] });
  });
  try {
    render(<QueryClientProvider client={new QueryClient()}><SessionBar /></QueryClientProvider>);
    const end = async () => {
      await session.load();
      over = true;
      await session.load();
      fireEvent.change(await screen.findByLabelText('Sign-in link'), { target: { value: `#${token}` } });
      fireEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    };
    await end();
    expect(await screen.findByText('This link is of Mallory in the account other.')).toBeTruthy();
    expect(used).toEqual([]);
    fireEvent.click(screen.getByRole('button', { name: 'Sign in as Mallory' }));
    await waitFor(() => expect(screen.getByRole('alert').textContent).toBe(''));
    session.switchTo(mine as never);
    owner = mine;
    await end();
    await waitFor(() => expect(used).toEqual(['other', 'demo']));
    await waitFor(() => expect(screen.getByRole('alert').textContent).toBe(''));
  } finally {
    vi.unstubAllGlobals();
    localStorage.clear();
  }
});

// spec: console-offline-model
it('the bar of the offline model stands from the first paint on where it stood before, until another model answers', async () => {
  let probabilities = 'simulated';
  let answer = () => {};
  const start = async () => {
    cleanup();
    const asked = new Promise<void>((resolve) => { answer = resolve; });
    await serve('owner', () => Response.json({ data: [{ name: 'default', default: true, probabilities }] }));
    const served = fetch;
    vi.stubGlobal('fetch', async (input: Request) => { await asked; return served(input); });
    open(createRootRoute({ component: () => <><p>A page</p><ModelBar /></> }), '/');
    await screen.findByText('A page');
  };
  const bar = () => screen.queryByText(/The offline model only matches words/);
  try {
    await start();
    expect(bar()).toBeNull();
    answer();
    await waitFor(() => expect(bar()).toBeTruthy());
    probabilities = 'logprobs';
    await start();
    expect(bar()).toBeTruthy();
    answer();
    await waitFor(() => expect(bar()).toBeNull());
    await start();
    expect(bar()).toBeNull();
  } finally {
    vi.unstubAllGlobals();
    localStorage.clear();
  }
});

// spec: console-roles
it.each([
  ['owner', 'The offline model only matches words. Connect a model.', 1],
  ['labeller', 'The offline model only matches words. Ask an owner to connect a model.', 0],
])('an %s reads of the offline model what they can do about it', async (role, words, links) => {
  await serve(role, () => Response.json({ data: [{ name: 'default', default: true, probabilities: 'simulated' }] }));
  try {
    open(createRootRoute({ component: ModelBar }), '/');
    const bar = (await screen.findByText(/The offline model only matches words/)).closest('p')!;
    expect([bar.textContent, bar.querySelectorAll('a').length]).toEqual([words, links]);
  } finally {
    vi.unstubAllGlobals();
    localStorage.clear();
  }
});
