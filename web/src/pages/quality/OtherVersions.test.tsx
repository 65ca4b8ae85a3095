import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { open, serve } from '@/test/server';
import { PrismPage } from '../prisms/PrismPage';
import { Label } from './Label';
import { labelSearch } from './search';

const at = '2026-11-22T12:00:00.000Z';
const sum = (all: number[]) => all.reduce((total, n) => total + n, 0);
beforeEach(() => {
  sessionStorage.clear();
  vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} });
});
afterEach(() => vi.unstubAllGlobals());

/** The page of a prism with three versions, whose older ones have texts without a label. */
async function show(search: string, counts: Record<string, number>) {
  const version = {
    version: 3, created_at: at, instructions: null, model: null, fields: [{ key: 'message', label: 'Message' }],
    questions: [{ key: 'refund', type: 'yes_no', text: 'A refund?' }],
  };
  const prism = {
    id: 'p', slug: 'bank', name: null, created_at: at, archived_at: null, retention_days: null, latest_version: 3, version,
    lens: { columns: [] },
  };
  const calls = await serve('labeller', ({ path }) => {
    if (path === '/v1/prisms/bank') return Response.json(prism);
    if (path.endsWith('/label-queue')) return Response.json({ sample: 'random', next_cursor: null, data: [] });
    if (path === '/v1/results/counts') {
      const found = Object.entries(counts).map(([value, count]) => ({ value, label: value, count }));
      return Response.json({ total: sum(Object.values(counts)), exact: true, by: { '@version': found } });
    }
    if (path.endsWith('/quality')) {
      return Response.json({ error: { code: 'conflict', message: 'Too few labels: 1 of 30.' } }, { status: 409 });
    }
    return undefined;
  });
  const root = createRootRoute({ component: Outlet });
  const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Outlet });
  const page = createRoute({ getParentRoute: () => frame, path: '/prisms/$prism', component: PrismPage });
  const child = createRoute({ getParentRoute: () => page, path: '/label', component: Label, validateSearch: labelSearch });
  const router = open(root.addChildren([frame.addChildren([page.addChildren([child])])]), `/prisms/bank/label${search}`);
  await screen.findByRole('combobox', { name: 'Version' });
  const queued = () => calls.filter(({ path }) => path.endsWith('/label-queue')).map(({ query }) => query.get('version'));
  return { calls, router, queued };
}
const chosen = () => screen.getByRole<HTMLSelectElement>('combobox', { name: 'Version' }).value;

// spec: console-label-page
describe('the version that is labelled', () => {
  it('is the latest where nobody chose one, with what other versions have and a way to it', async () => {
    const { calls, router, queued } = await show('?question=refund', { 1: 9, 3: 20 });
    expect(chosen()).toBe('3');
    expect(await screen.findByText(/^9 more texts without a label are of version 1\./)).toBeTruthy();
    expect(queued()).toEqual(['3']);
    const counted = calls.find(({ path }) => path === '/v1/results/counts')!.query;
    expect(counted.getAll('where')).toEqual(['refund:unlabelled', 'refund:from:0']);
    fireEvent.click(screen.getByRole('button', { name: 'Label version 1' }));
    await waitFor(() => expect(queued()).toEqual(['3', '1']));
    expect(router.state.location.search).toMatchObject({ version: 1 });
    expect(await screen.findByText(/version 3, the latest, is measured without those of version 1\./)).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Label version 3' }));
    await waitFor(() => expect(chosen()).toBe('3'));
  });
  it('may be any, where several older ones have texts', async () => {
    const { router, queued } = await show('', { 1: 1, 2: 1200 });
    const waiting = /^1,201 more texts .* are of older versions \(1,200 of version 2, 1 of version 1\)\./;
    expect(await screen.findByText(waiting)).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Label any version' }));
    await waitFor(() => expect(queued()).toEqual(['3', null]));
    expect(router.state.location.search).toMatchObject({ version: 'any' });
    expect(chosen()).toBe('any');
  });
  it('has a row for what is assigned to the reader, which leads to its queue of any version', async () => {
    const { calls, router, queued } = await show('?question=refund&version=3', { 1: 7, 3: 5 });
    const row = await screen.findByText(/: 12 texts without a label$/);
    expect(row.textContent).toBe('Assigned to you: 12 texts without a label');
    const counted = calls.find(({ path, query }) => path === '/v1/results/counts' && query.get('assignee') === 'me')!.query;
    expect([counted.get('status'), counted.getAll('where')]).toEqual(['ok', ['refund:unlabelled', 'refund:from:0']]);
    fireEvent.click(screen.getByRole('button', { name: 'Label them' }));
    await waitFor(() => expect(queued()).toEqual(['3', null]));
    expect(router.state.location.search).toEqual({ question: 'refund', assignee: 'me' });
    expect(calls.findLast(({ path }) => path.endsWith('/label-queue'))!.query.get('assignee')).toBe('me');
    expect(screen.getByText(/^Only results that match: Assigned to you\.$/)).toBeTruthy();
    expect(screen.queryByText('Assigned to you')).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Label any result' }));
    await waitFor(() => expect(router.state.location.search).toEqual({ question: 'refund' }));
  });
  it('is any of the results that somebody chose', async () => {
    const { queued } = await show('?q=parcel', {});
    expect(chosen()).toBe('any');
    expect(queued()).toEqual([null]);
  });
});
