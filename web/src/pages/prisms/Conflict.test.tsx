import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LensColumn } from '@/definitions/model';
import { open, refusal, serve } from '@/test/server';
import { Edit } from './Edit';
import { Lens } from './Lens';
import { PrismPage } from './PrismPage';

const at = '2026-11-22T12:00:00.000Z';
const refund = (text: string) => [{ key: 'refund', type: 'yes_no', text }];
const column = (name: string): LensColumn => ({ name, question: 'refund', show: 'answer' });

// What is stored; `other` is what somebody else does to it while the page is open.
let texts: string[] = [];
let columns: LensColumn[] = [];
let changed = 0;
const other = {
  version: (text: string) => { texts.push(text); changed++; },
  lens: (...names: string[]) => { columns = names.map(column); changed++; },
};

beforeEach(() => {
  texts = ['A refund?'];
  columns = [column('wants')];
  changed = 1;
  sessionStorage.clear();
  vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} });
});
afterEach(() => { vi.unstubAllGlobals(); });

const versionOf = (version: number) => ({
  version, created_at: at, instructions: null, model: null, fields: [{ key: 'message', label: 'Message' }],
  questions: refund(texts[version - 1]!),
});
const prismOf = () => ({
  id: 'p', slug: 'tickets', name: null, created_at: at, archived_at: null, retention_days: null, latest_version: texts.length,
  version: versionOf(texts.length),
  lens: { columns: columns.map((c) => ({ ...c, option: null, yes_at: null, no_at: null, calibrated: false })) },
});
const tagged = () => Response.json(prismOf(), { headers: { ETag: `"${changed}"` } });

/** A server that stores what is sent if nobody was faster, as the API does. */
const start = () => serve('editor', ({ method, path, body, match }) => {
  switch (`${method} ${path.replace('/v1/prisms/tickets', '')}`) {
    case 'GET ': return tagged();
    case 'GET /versions': return Response.json({ data: texts.map((_, i) => versionOf(i + 1)).reverse(), next_cursor: null });
    case 'GET /drift': return Response.json({ version: 1, watched: false, counted_to: null, reference: null, questions: [] });
    case 'GET /v1/models': case 'GET /v1/results': return Response.json({ data: [], next_cursor: null });
    case 'POST /lens/preview': return Response.json({ columns: columns.map((c) => c.name), data: [] });
    case 'PUT /lens':
      if (match !== `"${changed}"`) return refusal(409, 'conflict', 'This prism was changed.');
      other.lens(...(body as { columns: LensColumn[] }).columns.map((c) => c.name));
      return tagged();
    case 'POST /versions': {
      const sent = body as { dry_run?: boolean; if_latest: number; questions: { text: string }[] };
      if (sent.dry_run) return Response.json({ ...versionOf(texts.length), questions: sent.questions });
      if (sent.if_latest !== texts.length) return refusal(409, 'conflict', `The latest version is ${texts.length}.`);
      other.version(sent.questions[0]!.text);
      return Response.json(versionOf(texts.length), { status: 201 });
    }
  }
  return undefined;
});

const root = createRootRoute({ component: Outlet });
const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Outlet });
const page = createRoute({ getParentRoute: () => frame, path: '/prisms/$prism', component: PrismPage });
const tree = root.addChildren([frame.addChildren([page.addChildren([
  createRoute({ getParentRoute: () => page, path: '/lens', component: Lens }),
  createRoute({ getParentRoute: () => page, path: '/edit', component: Edit }),
])])]);

const typed = async (label: string, text: string) => {
  const input = await screen.findByLabelText(label, { selector: 'input, textarea' });
  fireEvent.change(input, { target: { value: text } });
  return input;
};
const valueOf = (label: string) => screen.getByLabelText<HTMLInputElement>(label, { selector: 'input, textarea' }).value;
const enabled = (name: string) => waitFor(() => {
  const button = screen.getByRole<HTMLButtonElement>('button', { name });
  expect(button.disabled).toBe(false);
  return button;
});
const press = async (name: string) => fireEvent.click(await enabled(name));

// spec: console-two-editors
describe('a Lens that somebody else saved meanwhile', () => {
  const conflict = async () => {
    const calls = await start();
    open(tree, '/prisms/tickets/lens');
    fireEvent.click(await screen.findByRole('button', { name: /^wants/, expanded: false }));
    await typed('Name', 'mine');
    other.lens('wants', 'theirs');
    await press('Save Lens');
    const note =
      (await screen.findByText('Somebody saved another Lens while you edited this one.')).closest<HTMLElement>('.note')!;
    expect(within(note).getByText('Column theirs')).toBeTruthy();
    expect(valueOf('Name')).toBe('mine');
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Save Lens' }).disabled).toBe(true);
    return calls.filter((call) => call.method === 'PUT');
  };
  it('is replaced by mine, once I say so', async () => {
    await conflict();
    await press('Keep my columns');
    await press('Save Lens');
    await waitFor(() => expect(columns.map((c) => c.name)).toEqual(['mine']));
    await waitFor(() => expect(screen.queryByText(/Somebody saved another Lens/)).toBeNull());
  });
  it('takes the place of mine when I discard mine', async () => {
    const puts = await conflict();
    await press('Discard');
    await waitFor(() => expect(screen.getAllByRole('button', { expanded: false }).map((row) => row.textContent)).toEqual(
      ['wants A refund? Answer, yes from 0.6, no up to 0.4', 'theirs A refund? Answer, yes from 0.6, no up to 0.4'],
    ));
    expect(screen.queryByText(/Somebody saved another Lens/)).toBeNull();
    expect(columns.map((c) => c.name)).toEqual(['wants', 'theirs']);
    expect(puts).toHaveLength(1);
  });
});

// spec: console-two-editors, if-latest
describe('a version that somebody else saved meanwhile', () => {
  const conflict = async () => {
    await start();
    open(tree, '/prisms/tickets/edit');
    await typed('Text', 'Mine?');
    other.version('Theirs?');
    await press('Review and save');
    await press('Save version 2');
    const note = (await screen.findByText('Version 2 was saved while you edited version 1.')).closest<HTMLElement>('.note')!;
    await within(note).findByText('Theirs?', { selector: 'ins' });
    expect(valueOf('Text')).toBe('Mine?');
    expect(screen.queryByRole('button', { name: /^Save version/ })).toBeNull();
  };
  it('is followed by mine, once I say so', async () => {
    await conflict();
    await press('Keep my changes');
    await press('Review and save');
    await press('Save version 3');
    await waitFor(() => expect(texts).toEqual(['A refund?', 'Theirs?', 'Mine?']));
    await waitFor(() => expect(screen.getByText('No changes')).toBeTruthy());
    expect(valueOf('Text')).toBe('Mine?');
  });
  it('takes the place of mine when I discard mine', async () => {
    await conflict();
    await press('Discard');
    await waitFor(() => expect(valueOf('Text')).toBe('Theirs?'));
    expect(screen.getByText('No changes')).toBeTruthy();
    expect(texts).toEqual(['A refund?', 'Theirs?']);
  });
});
