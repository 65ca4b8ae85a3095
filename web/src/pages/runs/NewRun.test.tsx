import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { open, serve } from '@/test/server';
import { New } from '../prisms/New';
import { prismsRoutes } from '../prisms/routes';
import { NewRun } from './NewRun';
import { newRunSearch } from './search';

beforeEach(() => vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} }));
afterEach(() => { cleanup(); vi.unstubAllGlobals(); });

/** Shows the page of a new run of the file f, in an account without a prism until one is made. */
async function show(role: string) {
  let made: { slug: string } | undefined;
  const calls = await serve(role, ({ method, path, body }) => {
    if (method === 'POST' && path === '/v1/prisms') {
      const definition = body as { slug: string; fields: object[]; questions: object[]; dry_run?: boolean };
      const prism = {
        ...definition, id: 'p', latest_version: 1, archived_at: null, lens: { columns: [] },
        version: { ...definition, version: 1 },
      };
      if (!definition.dry_run) made = prism;
      return Response.json(prism);
    }
    if (path === '/v1/prisms') return Response.json({ data: made ? [made] : [], next_cursor: null });
    if (path === `/v1/prisms/${made?.slug}`) return Response.json(made);
    if (path === '/v1/files/f') return Response.json({
      id: 'f', name: 'tickets.csv', format: 'csv', bytes: 9, status: 'ready', rows: 1, notes: [],
      columns: [{ name: 'message', filled: 1, longest: 5 }],
    });
    return Response.json({ data: [], next_cursor: null });
  });
  const root = createRootRoute({ component: Outlet });
  const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Outlet });
  const { validateSearch } = prismsRoutes[1].options;
  const page = (path: string, component: () => React.ReactNode, search: object) =>
    createRoute({ getParentRoute: () => frame, path, component, ...search });
  const router = open(root.addChildren([frame.addChildren([
    page('/runs/new', NewRun, { validateSearch: newRunSearch }), page('/prisms/new', New, { validateSearch }),
  ])]), '/runs/new?file=f');
  await screen.findByText('No prism to ask yet');
  return { router, calls };
}

describe('a new run without a prism', () => {
  it('offers examples and comes back to the file with the prism that was made', async () => {
    const { router } = await show('owner');
    expect(screen.getByRole('link', { name: 'Make a prism' }).getAttribute('href')).toBe('/prisms/new?then=run&file=f');
    fireEvent.click(screen.getByRole('link', { name: 'Support tickets' }));
    fireEvent.click(await screen.findByRole('button', { name: 'Create prism' }));
    await waitFor(() => expect(router.state.location.href).toBe('/runs/new?prism=support-tickets&file=f'));
    expect(await screen.findByRole('button', { name: 'Start the run of 1 row' })).toBeTruthy();
  });

  it('sends a role that makes none to one that does', async () => {
    await show('caller');
    expect(screen.getByText(/Your role may not make one: ask an owner or editor./)).toBeTruthy();
    expect(screen.queryByRole('link')).toBeNull();
  });
});
