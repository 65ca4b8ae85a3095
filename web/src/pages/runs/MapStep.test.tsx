import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { fireEvent, screen, within } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Schemas } from '@/api';
import { open, serve } from '@/test/server';
import { MapStep } from './MapStep';

afterEach(() => { vi.unstubAllGlobals(); });

const prism = {
  id: 'p', slug: 'tickets', name: null, latest_version: 1, lens: { columns: [] }, version: {
    version: 1, fields: [{ key: 'text', label: 'Text' }], questions: [{ key: 'refund', type: 'yes_no', text: 'A refund?' }],
  },
} as unknown as Schemas['Prism'];
const file = {
  id: 'f', name: 'tickets.xlsx', rows: 3, columns: [
    { name: 'text', filled: 3, longest: 90 }, { name: 'checked by us', filled: 3, longest: 5 },
  ],
} as unknown as Schemas['File'];
const dry = {
  rows: 3, rows_checked: 3, invalid: [], invalid_total: 0, invalid_labels: [{ row: 2, message: 'refund: Expected yes or no' }],
  invalid_labels_total: 1, tokens: 90, model_calls: 3, seconds: null, cost: null, currency: null,
};

async function show(role: string) {
  const calls = await serve(role, ({ method }) => Response.json(method === 'POST' ? dry : { data: [] }));
  const root = createRootRoute({ component: Outlet });
  open(root.addChildren([createRoute({
    getParentRoute: () => root, path: '/', component: () => <MapStep prism={prism} file={file} />,
  })]), '/');
  await screen.findByRole('button', { name: 'Check the rows' });
  return calls;
}

// spec: console-run-labels
describe('columns that say what was right', () => {
  it('are sent as labels, and cells that are none are named', async () => {
    const calls = await show('editor');
    fireEvent.change(screen.getByLabelText('A refund?'), { target: { value: 'checked by us' } });
    expect(screen.getByText(/--label 'refund=checked by us'/)).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Check the rows' }));
    const table = await screen.findByRole('table', { name: 'Cells that are no label' });
    expect(within(table).getByRole('row', { name: '2 refund: Expected yes or no' })).toBeTruthy();
    expect(screen.getByText('Every row can be sent.')).toBeTruthy();
    expect(calls.find(({ method }) => method === 'POST')!.body).toMatchObject({
      fields: { text: 'text' }, labels: { refund: 'checked by us' }, dry_run: true,
    });
  });
  it('are left out of what is sent where none is chosen', async () => {
    const calls = await show('editor');
    fireEvent.click(screen.getByRole('button', { name: 'Check the rows' }));
    await screen.findByText('Every row can be sent.');
    expect(calls.find(({ method }) => method === 'POST')!.body).not.toHaveProperty('labels');
  });
  it('are not offered to a role that may not label by file', async () => {
    await show('caller');
    expect(screen.queryByText('Columns that say what was right')).toBeNull();
  });
});
