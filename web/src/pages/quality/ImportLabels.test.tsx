import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { open, serve } from '@/test/server';
import { PrismPage } from '../prisms/PrismPage';
import { Label } from './Label';
import { labelSearch } from './search';

afterEach(() => { cleanup(); vi.unstubAllGlobals(); });

const version = {
  version: 1, created_at: '2026-11-22T12:00:00.000Z', instructions: null, model: null,
  fields: [{ key: 'message', label: 'Message' }],
  questions: [{ key: 'refund', type: 'yes_no', text: 'A refund?' }],
};
const prism = {
  id: 'p', slug: 'tickets', name: null, created_at: version.created_at, archived_at: null, retention_days: null,
  latest_version: 1, version, lens: { columns: [] },
};
const file = {
  id: 'f', name: 'right.xlsx', format: 'xlsx', bytes: 900, status: 'ready', rows: 4, bad_rows: 0, notes: [], sheet: 'Sheet1',
  columns: [{ name: 'Message', filled: 4, longest: 20 }, { name: 'checked', filled: 4, longest: 5 }],
};
const rows = [
  { Message: 'My money back', checked: 'Yes' }, { Message: 'Where is it?', checked: 'no' },
  { Message: 'Never asked', checked: 'no' }, { Message: 'Where is it?', checked: 'perhaps' },
];
const results = [{ id: 'r2', ref: null, version: 1, fields: { message: 'Where is it?' } },
  { id: 'r1', ref: null, version: 1, fields: { message: 'My money back' } }];

async function show(role: string, search: string) {
  vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} });
  const calls = await serve(role, ({ method, path, query }) => {
    if (path === '/v1/prisms/tickets') return Response.json(prism);
    if (path === '/v1/files/f') return Response.json(file);
    if (path === '/v1/files/f/rows') return Response.json({ data: rows.slice(Number(query.get('offset') ?? 0)) });
    if (path === '/v1/results') return Response.json({ data: results, next_cursor: null });
    if (path === '/v1/prisms/tickets/labels' && method === 'POST') {
      return Response.json({ labelled: 2, not_found: [], invalid: [] });
    }
    if (path.endsWith('/label-queue')) return Response.json({ data: [], sample: 'random', next_cursor: null });
    return Response.json({ error: { code: 'conflict', message: 'Too few labels: 0 of 30.' } }, { status: 409 });
  });
  const root = createRootRoute({ component: Outlet });
  const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Outlet });
  const page = createRoute({ getParentRoute: () => frame, path: '/prisms/$prism', component: PrismPage });
  const child = createRoute({ getParentRoute: () => page, path: '/label', component: Label, validateSearch: labelSearch });
  open(root.addChildren([frame.addChildren([page.addChildren([child])])]), `/prisms/tickets/label${search}`);
  return calls;
}

// spec: console-label-import
describe('labels from a file', () => {
  it('are mapped, counted with what does not match, and stored after that alone', async () => {
    const calls = await show('editor', '?import=true&file=f');
    expect((await screen.findByLabelText<HTMLSelectElement>('Column that names the result')).value).toBe('Message');
    expect(screen.queryByRole('button', { name: 'Check the rows' })).toBeNull();
    fireEvent.change(screen.getByLabelText('A refund?'), { target: { value: 'checked' } });
    fireEvent.change(screen.getByLabelText('How the rows were chosen'), { target: { value: 'random' } });
    fireEvent.click(screen.getByRole('button', { name: 'Check the rows' }));
    expect(await screen.findByText('2 labels of 2 results will be stored.')).toBeTruthy();
    const unmatched = screen.getByRole('table', { name: 'Rows without a result' });
    expect(within(unmatched).getByRole('row', { name: '3 Never asked' })).toBeTruthy();
    const invalid = screen.getByRole('table', { name: 'Cells that are no label' });
    expect(within(invalid).getByRole('row', { name: '4 refund: perhaps is no answer.' })).toBeTruthy();
    const posts = () => calls.filter(({ method }) => method === 'POST').map(({ path, body }) => [path, body]);
    expect(posts()).toEqual([]);
    fireEvent.click(screen.getByRole('button', { name: 'Store 2 labels' }));
    expect(await screen.findByText(/^2 labels are stored\./)).toBeTruthy();
    expect(posts()).toEqual([['/v1/prisms/tickets/labels', { sample: 'random', labels: [
      { result_id: 'r1', question: 'refund', value: true }, { result_id: 'r2', question: 'refund', value: false },
    ] }]]);
  });

  it('are offered to those who may upload and label', async () => {
    await show('editor', '');
    fireEvent.click(await screen.findByRole('button', { name: 'Import from a file' }));
    expect(await screen.findByRole('button', { name: 'Choose a file' })).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Back to labelling' }));
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Choose a file' })).toBeNull());
    cleanup();
    await show('labeller', '');
    expect(await screen.findByText('Nothing waits for a label')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Import from a file' })).toBeNull();
    cleanup();
    await show('labeller', '?import=true&file=f');
    expect(await screen.findByText(/^Your role may not upload files\./)).toBeTruthy();
  });
});
