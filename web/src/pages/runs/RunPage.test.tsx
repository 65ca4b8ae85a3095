import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Schemas } from '@/api';
import { open, serve } from '@/test/server';
import { RunPage } from './RunPage';
import { runSearch } from './search';

const told: [string, string | undefined][] = [];
let permission: NotificationPermission = 'default';

beforeEach(() => {
  told.length = 0;
  permission = 'default';
  vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} });
  vi.stubGlobal('Notification', class {
    static get permission() { return permission; }
    static requestPermission = () => { permission = 'granted'; return Promise.resolve(permission); };
    constructor(title: string, { body }: { body?: string }) { told.push([title, body]); }
  });
});
afterEach(() => { vi.unstubAllGlobals(); });

const running: Schemas['Run'] = {
  id: '1', name: 'tickets.xlsx', prism: 'tickets', version: 1, file_id: 'f', status: 'running', reason: null, rows: 1000, ok: 660,
  failed: 20, invalid: 0, cancelled: 0, pending: 320, labels: { stored: 640, invalid: 3 }, rows_per_second_now: 8,
  eta_seconds: 40, usage: { input_tokens: 0, output_tokens: 0, cost: null, currency: null },
  created_at: '2026-11-27T08:00:00.000Z', started_at: '2026-11-27T08:00:00.000Z', finished_at: null,
};
const finished: Schemas['Run'] =
  { ...running, status: 'finished', ok: 980, pending: 0, rows_per_second_now: 0, eta_seconds: null };

const option = (key: string, label: string) => ({ key, label, description: null });
const version = {
  version: 1, created_at: '', instructions: null, model: null, escalate: null, fields: [{ key: 'text', label: 'Text' }],
  questions: [
    {
      key: 'topic', type: 'choice', text: 'What is it about?', insufficient_information: false,
      options: [option('billing', 'Billing'), option('delivery', 'Delivery'), option('account', 'Account')],
    },
    { key: 'refund', type: 'yes_no', text: 'A refund?' },
  ],
};
const answers = {
  topic: { type: 'choice', value: 'billing', confidence: 0.9, probabilities: { billing: 0.94, delivery: 0.06 } },
};

/** Opens a run; the function that is returned has its events tell of it. */
async function show(run: Schemas['Run']) {
  let events!: ReadableStreamDefaultController<Uint8Array>;
  const calls = await serve('owner', ({ path }) => {
    switch (path) {
      case '/v1/runs/1': return Response.json(run);
      case '/v1/runs/1/events': return new Response(new ReadableStream<Uint8Array>({ start: (c) => { events = c; } }));
      case '/v1/runs/1/rows': return new Response('');
      case '/v1/files/f': return Response.json({ id: 'f', name: 'tickets.xlsx', notes: ['4 empty rows were skipped.'] });
      case '/v1/prisms/tickets':
        return Response.json({ id: 'p', slug: 'tickets', latest_version: 1, version, lens: { columns: [] } });
      case '/v1/results/counts': return Response.json({ total: 660, exact: true, by: {
        topic: [{ value: 'billing', label: 'Billing', count: 495 }, { value: 'delivery', label: 'Delivery', count: 165 }],
        refund: [{ value: '0.9', label: '0.9', count: 330 }, { value: '0.1', label: '0.1', count: 330 }],
      } });
      case '/v1/results': return Response.json({ data: [
        { id: 'r', prism: 'tickets', version: 1, status: 'ok', error: null, answers, fields: { text: 'I was charged twice.' } },
      ], next_cursor: null });
      default: return undefined;
    }
  });
  const root = createRootRoute({ component: Outlet });
  const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Outlet });
  const page = createRoute({ getParentRoute: () => frame, path: '/runs/$run', component: RunPage, validateSearch: runSearch });
  open(root.addChildren([frame.addChildren([page])]), '/runs/1');
  const tell = (now: Schemas['Run']) =>
    events.enqueue(new TextEncoder().encode(`event: run\ndata: ${JSON.stringify(now)}\n\n`));
  return { calls, tell };
}

// spec: console-run-page
describe('a run that goes', () => {
  it('says in the tab how far it is', async () => {
    const { tell } = await show(running);
    await waitFor(() => expect(document.title).toBe('68% · tickets.xlsx · Prism'));
    tell({ ...running, ok: 760, pending: 220 });
    await waitFor(() => expect(document.title).toBe('78% · tickets.xlsx · Prism'));
  });
  it('draws how fast it was since the page was opened', async () => {
    const { tell } = await show(running);
    const picture = await screen.findByRole('figure', { name: 'Rows a second since this page was opened' });
    tell({ ...running, ok: 760, pending: 220, rows_per_second_now: 12 });
    await screen.findByText(/12 rows a second/);
    fireEvent.click(within(picture).getByRole('button', { name: /^Table/ }));
    await waitFor(() => expect(within(picture).getAllByRole('cell').map((cell) => cell.textContent)).toEqual(['8', '12']));
  });
  it('shows what was answered so far, and the newest texts', async () => {
    const { calls } = await show(running);
    const section = (await screen.findByRole('heading', { name: 'Answers' })).closest('section')!;
    expect(within(section).getAllByRole('listitem').map((item) => item.textContent)).toEqual([
      'Billing75%', 'Delivery25%', 'Yes50%', 'No50%',
    ]);
    expect(within(section).getByRole('link', { name: 'Billing' }).getAttribute('href')).toContain('run=%221%22&where=');
    const row = (await screen.findByText('I was charged twice.')).closest('li')!;
    expect(row.textContent).toBe('I was charged twice. Billing94%');
    expect(calls.find(({ path }) => path === '/v1/results')!.query.get('sort')).toBe('-@created');
  });
  it('leads to its results with the columns of its prism', async () => {
    await show(running);
    const { pathname, search } = new URL((await screen.findByRole<HTMLAnchorElement>('link', { name: 'Results' })).href);
    expect([pathname, Object.fromEntries(new URLSearchParams(search))]).toEqual(['/results', { prism: 'tickets', run: '"1"' }]);
  });
  it('counts the empty rows that were skipped, and the labels that were stored', async () => {
    await show(running);
    expect((await screen.findByText('skipped')).closest('li')!.textContent).toBe('skipped 4');
    expect(screen.getByText(/640 labels of what was right are stored, and 3 cells/)).toBeTruthy();
  });
  it('is over with a notice of the browser for those who asked for it', async () => {
    const { tell } = await show(running);
    fireEvent.click(await screen.findByRole('button', { name: 'Tell me when it is over' }));
    await screen.findByText('The browser says when it is over.');
    tell(finished);
    await screen.findByRole('button', { name: 'Download Excel' });
    expect(told).toEqual([['tickets.xlsx is finished', '980 rows answered, 20 failed']]);
    expect(document.title).toBe('tickets.xlsx · Prism');
  });
  it('is over without a notice for those who did not', async () => {
    const { tell } = await show(running);
    await screen.findByRole('button', { name: 'Tell me when it is over' });
    tell(finished);
    await screen.findByRole('button', { name: 'Download Excel' });
    expect(told).toEqual([]);
  });
});

// spec: console-run-page
describe('a run that is over', () => {
  it('is amber with its failures in words, and has its answers', async () => {
    await show(finished);
    expect((await screen.findByText('finished, 20 failed')).closest('.badge')!.className).toContain('warn');
    expect(await screen.findByRole('heading', { name: 'Answers' })).toBeTruthy();
    expect(screen.queryByText('Newest rows')).toBeNull();
    expect(told).toEqual([]);
  });
  it('is downloaded as a workbook with one press', async () => {
    const { calls } = await show({ ...finished, failed: 0, ok: 1000 });
    Object.assign(URL, { createObjectURL: () => 'blob:x', revokeObjectURL: () => {} });
    expect((await screen.findByText('finished')).closest('.badge')!.className).toContain('good');
    fireEvent.click(screen.getByRole('button', { name: 'Download Excel' }));
    await waitFor(() => expect(calls.find(({ query }) => query.get('format') === 'xlsx')?.path).toBe('/v1/runs/1/rows'));
  });
});
