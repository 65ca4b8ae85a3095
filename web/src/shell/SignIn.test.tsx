import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SignIn } from './SignIn';

const token = 'abcdefghijklmnopqrstuvwxyzABCDEF';

afterEach(() => { vi.unstubAllGlobals(); history.replaceState(null, '', '/'); });

/** Shows the sign-in page at an address; the bodies of POST /console/session, and the address when each was sent. */
function open(search: string, status: number, openid = false) {
  const sent: { body: unknown; address: string }[] = [];
  vi.stubGlobal('fetch', async (path: string, init?: RequestInit) => {
    if (path === '/console/config') return Response.json({ version: '1', openid });
    if (path === '/console/openid/start') {
      sent.push({ body: JSON.parse(init!.body as string), address: location.href });
      return Response.json({ error: { code: 'service_unavailable', message: 'The provider is away.' } }, { status: 503 });
    }
    if (init?.method === 'POST') {
      sent.push({ body: JSON.parse(init.body as string), address: location.href });
      return status === 204 ? new Response(null, { status }) : Response.json({ error: { code: 'unauthorized', message: 'This link is used up.' } }, { status });
    }
    return Response.json({ accounts: [{ id: 'a', name: 'demo', member: { id: 'm', name: 'Ada', role: 'owner' } }] });
  });
  const root = createRootRoute();
  const routes = [
    createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignIn }),
    createRoute({ getParentRoute: () => root, path: '$', component: () => <p>a page</p> }),
  ];
  const router = createRouter({ routeTree: root.addChildren(routes), history: createMemoryHistory({ initialEntries: [`/sign-in${search}`] }) });
  render(<RouterProvider router={router as never} />);
  return { sent, path: () => router.state.location.href };
}

describe('the sign-in page', () => {
  it('takes the token out of the address before it is used, and goes on to where one wanted to be', async () => {
    history.replaceState(null, '', `/console/sign-in#${token}`);
    const { sent, path } = open('?return=%2Fusage%3Fby%3Dkey', 204);
    await waitFor(() => expect(path()).toBe('/usage?by=key'));
    expect(sent.map((call) => call.body)).toEqual([{ token }]);
    expect(sent[0]!.address).not.toContain(token);
  });
  it('says what is wrong with a link and takes another', async () => {
    const { sent, path } = open('', 401);
    const paste = (value: string) => {
      fireEvent.change(screen.getByLabelText('Sign-in link'), { target: { value } });
      fireEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    };
    await screen.findByLabelText('Sign-in link');
    paste('https://prism.example/console/sign-in');
    expect((await screen.findByRole('alert')).textContent).toContain('This is no sign-in link.');
    expect(sent).toEqual([]);
    paste(`#${token}`);
    await waitFor(() => expect(screen.getByRole('alert').textContent).toContain('This link is used up.'));
    expect(path()).toBe('/sign-in');
  });
  it.each([
    ['openid_denied', 'declined'], ['openid_expired', '10 minutes'], ['openid_failed', 'could not be trusted'], ['openid_unavailable', 'use a sign-in link'],
    ['not_a_member', 'Ask an owner'], ['link_invalid', 'a new link'], ['too_many_sign_ins', 'Wait a minute'], ['constructor', 'The sign-in failed.'],
  ])('says why the service signed nobody in: %s (spec: openid-errors)', async (error, words) => {
    open(`?error=${error}`, 204);
    expect((await screen.findByRole('alert')).textContent).toContain(words);
  });
  it('leads to the provider, and says that it is away', async () => {
    const { sent } = open('?return=%2Fusage', 204, true);
    fireEvent.click(await screen.findByRole('button', { name: 'Sign in with single sign-on' }));
    expect((await screen.findByRole('alert')).textContent).toContain('The provider is away.');
    expect(sent.map((call) => call.body)).toEqual([{ return: '/console/usage' }]);
  });
  it('takes an invitation to the provider, whose token stays out of every address', async () => {
    history.replaceState(null, '', `/console/sign-in#${token}`);
    const { sent } = open('', 204, true);
    fireEvent.click(await screen.findByRole('button', { name: 'Accept with single sign-on' }));
    await waitFor(() => expect(sent.map((call) => call.body)).toEqual([{ return: '/console/', token }]));
    expect(sent[0]!.address).not.toContain(token);
  });
  it('takes an invitation without the provider', async () => {
    history.replaceState(null, '', `/console/sign-in#${token}`);
    const { sent, path } = open('', 204, true);
    fireEvent.click(await screen.findByRole('button', { name: 'Sign in with the link alone' }));
    await waitFor(() => expect(path()).toBe('/'));
    expect(sent.map((call) => call.body)).toEqual([{ token }]);
  });
  it.each(['//evil.example/', 'https://evil.example/', '/\\evil.example'])('never leaves for %s', async (to) => {
    history.replaceState(null, '', `/console/sign-in#${token}`);
    const { path } = open(`?return=${encodeURIComponent(to)}`, 204);
    await waitFor(() => expect(path()).toBe('/'));
  });
});
