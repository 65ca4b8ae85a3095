import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { open, serve } from '@/test/server';
import { Edit } from './Edit';
import { PrismPage } from './PrismPage';
import { Settings } from './Settings';

const at = '2026-11-22T12:00:00.000Z';
let texts: string[] = [];

beforeEach(() => {
  texts = ['Refund?', 'Return?'];
  sessionStorage.clear();
  vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} });
});
afterEach(() => { vi.unstubAllGlobals(); });

const versionOf = (version: number) => ({
  version, created_at: at, instructions: null, model: null, fields: [{ key: 'message', label: 'Message' }],
  questions: [{ key: 'refund', type: 'yes_no', text: texts[version - 1]! }],
});
const prismOf = (archived: string | null) => ({
  id: 'p', slug: 'tickets', name: null, created_at: at, archived_at: archived, retention_days: null, latest_version: texts.length,
  version: versionOf(texts.length),
  lens: { columns: [{
    name: 'wants', question: 'refund', show: 'answer', option: null, yes_at: null, no_at: null, calibrated: false,
  }] },
});

const root = createRootRoute({ component: Outlet });
const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Outlet });
const page = createRoute({ getParentRoute: () => frame, path: '/prisms/$prism', component: PrismPage });
const number = (value: unknown) => (value === undefined ? undefined : Number(value));
const tree = root.addChildren([frame.addChildren([page.addChildren([
  createRoute({
    getParentRoute: () => page, path: '/settings', component: Settings,
    validateSearch: (search) => ({ version: number(search.version) }),
  }),
  createRoute({
    getParentRoute: () => page, path: '/edit', component: Edit,
    validateSearch: (search) => ({ from: number(search.from), review: search.review === true || undefined }),
  }),
  createRoute({ getParentRoute: () => page, path: '/try', component: () => null }),
])])]);

/** The settings with a version open beside the list of versions. */
async function shown(version: number, role = 'editor', archived: string | null = null) {
  const calls = await serve(role, ({ method, path, body }) => {
    switch (`${method} ${path.replace('/v1/prisms/tickets', '')}`) {
      case 'GET ': return Response.json(prismOf(archived), { headers: { ETag: '"1"' } });
      case 'GET /versions': return Response.json({ data: texts.map((_, i) => versionOf(i + 1)).reverse(), next_cursor: null });
      case 'GET /drift': return Response.json({ version: 1, watched: false, counted_to: null, reference: null, questions: [] });
      case 'GET /v1/models': return Response.json({ data: [], next_cursor: null });
      case 'POST /versions': {
        const sent = body as { dry_run?: boolean; questions: { text: string }[] };
        if (!sent.dry_run) texts.push(sent.questions[0]!.text);
        return Response.json(versionOf(texts.length), { status: 201 });
      }
    }
    return undefined;
  });
  const router = open(tree, `/prisms/tickets/settings?version=${version}`);
  await screen.findByRole('heading', { name: `Version ${version}` });
  return { router, stored: () => calls.filter(({ method, body }) => method === 'POST' && !(body as { dry_run?: true }).dry_run) };
}

// spec: console-editor-keys
describe('an old version that is restored', () => {
  it('shows the difference to the latest, and is saved as a new one', async () => {
    const { router, stored } = await shown(1);
    fireEvent.click(screen.getByRole('link', { name: 'Restore' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Save version 3?' }));
    expect(dialog.getByText('Return?', { selector: 'del' })).toBeTruthy();
    expect(dialog.getByText('Refund?', { selector: 'ins' })).toBeTruthy();
    expect(stored()).toEqual([]);
    const save = dialog.getByRole<HTMLButtonElement>('button', { name: 'Save version 3' });
    await waitFor(() => expect(save.disabled).toBe(false));
    fireEvent.click(save);
    await waitFor(() => expect(texts).toEqual(['Refund?', 'Return?', 'Refund?']));
    expect(stored()[0]!.body).toMatchObject({
      if_latest: 2, questions: [{ key: 'refund', text: 'Refund?' }], lens: { columns: [{ name: 'wants' }] },
    });
    await waitFor(() => expect(router.state.location.search).toEqual({}));
  });

  it('is not stored when its differences are closed', async () => {
    const { stored } = await shown(1);
    fireEvent.click(screen.getByRole('link', { name: 'Restore' }));
    fireEvent.click(await screen.findByRole('button', { name: 'Go on editing' }));
    const text = await screen.findByLabelText<HTMLTextAreaElement>('Text', { selector: 'textarea' });
    expect(text.value).toBe('Refund?');
    expect(screen.queryByRole('dialog', { name: /^Save version/ })).toBeNull();
    expect(stored()).toEqual([]);
  });

  it('is neither the latest one, nor one of an archived prism, nor restored by those who may not edit', async () => {
    await shown(2);
    expect(screen.queryByRole('link', { name: 'Restore' })).toBeNull();
    for (const [role, archived] of [['reader', null], ['editor', at]] as const) {
      cleanup();
      await shown(1, role, archived);
      expect(screen.queryByRole('link', { name: 'Restore' })).toBeNull();
    }
  });
});
