import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { open, serve } from '@/test/server';
import { LabelHome } from './LabelHome';

const prism = (slug: string, name: string | null = null) => ({ id: slug, slug, name });

/** The page, beside a page that labels. */
async function start(role: string, ...prisms: object[]) {
  const calls = await serve(role, ({ path, query }) => {
    if (path === '/v1/prisms') return Response.json({ data: prisms, next_cursor: null });
    const counted = path === '/v1/results/counts';
    const mine = query.get('assignee') === 'me' && query.get('prism') === 'tickets';
    return counted ? Response.json({ total: mine ? 7 : 0, exact: true, by: { '@version': [] } }) : undefined;
  });
  const root = createRootRoute({ component: Outlet });
  const router = open(root.addChildren([
    createRoute({ getParentRoute: () => root, path: '/label', component: LabelHome }),
    createRoute({ getParentRoute: () => root, path: '/prisms/$prism/label', component: () => <p>Labelling</p> }),
  ]), '/label');
  return { router, calls };
}

// spec: console-label-page
describe('the page where labellers land', () => {
  it('opens the only prism that is not archived', async () => {
    const { router, calls } = await start('labeller', prism('tickets'));
    expect(await screen.findByText('Labelling')).toBeTruthy();
    expect(router.state.location.pathname).toBe('/prisms/tickets/label');
    expect(calls[0]?.query.get('archived')).toBe('false');
  });
  it('lists several, of which one opens', async () => {
    const { router } = await start('labeller', prism('tickets', 'Support'), prism('mails'));
    expect(await screen.findByText('7 texts')).toBeTruthy(); // which are assigned to the reader
    expect(screen.queryByText('0 texts')).toBeNull();
    fireEvent.click(await screen.findByText('Support'));
    await waitFor(() => expect(router.state.location.pathname).toBe('/prisms/tickets/label'));
  });
  it('is not for readers', async () => {
    const { router } = await start('reader', prism('tickets'));
    expect(await screen.findByText(/Your role may not label results/)).toBeTruthy();
    expect(router.state.location.pathname).toBe('/label');
  });
});
