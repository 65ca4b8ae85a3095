import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { cleanup, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Schemas } from '@/api';
import { type Call, open, serve } from '@/test/server';
import { MapStep } from './MapStep';

afterEach(() => { cleanup(); vi.unstubAllGlobals(); });

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
  rows: 3, rows_checked: 3, invalid: [], invalid_total: 0,
  invalid_labels: [2, 3, 4, 5, 6, 1007].map((row) => ({ row, message: 'labels.refund: Expected yes or no' })),
  invalid_labels_total: 6, tokens: 90, model_calls: 3, seconds: null, cost: null, currency: null,
};

async function show(role: string, of = file, signedIn = false) {
  const answer = ({ method }: Call) => Response.json(method === 'POST' ? dry : { data: [] });
  const calls = signedIn ? [] : await serve(role, answer);
  const root = createRootRoute({ component: Outlet });
  open(root.addChildren([createRoute({
    getParentRoute: () => root, path: '/', component: () => <MapStep prism={prism} file={of} />,
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
    const name = '2, 3, 4, 5, 6 and 1 more A refund? The cell is none of Yes, No.';
    expect(within(table).getByRole('row', { name })).toBeTruthy();
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

describe('what was chosen', () => {
  const values = () => ['Text', 'Reference (optional)', 'A refund?', 'Name (optional)', 'Context']
    .map((label) => screen.getByLabelText<HTMLInputElement>(label).value);
  const choose = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });

  it('survives a reload, but for columns that the file does not have any more', async () => {
    await show('editor');
    choose('Text', 'checked by us');
    choose('Reference (optional)', 'text');
    choose('A refund?', 'checked by us');
    choose('Name (optional)', 'Monday');
    choose('Context', 'column');
    choose('Column of the context', 'checked by us');
    cleanup();
    await show('editor', file, true);
    expect(values()).toEqual(['checked by us', 'text', 'checked by us', 'Monday', 'column']);
    expect(screen.getByText('Columns that say what was right').closest('details')!.open).toBe(true);
    expect(screen.getByText(/--background 'checked by us'/)).toBeTruthy();
    cleanup();
    await show('editor', { ...file, columns: file.columns!.slice(0, 1) }, true);
    expect(values()).toEqual(['text', 'text', '', 'Monday', 'column']);
    expect(screen.queryByText(/--background/)).toBeNull();
  });
});
