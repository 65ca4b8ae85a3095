import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SignIn } from './SignIn';

const token = 'abcdefghijklmnopqrstuvwxyzABCDEF';

afterEach(() => { vi.unstubAllGlobals(); history.replaceState(null, '', '/'); localStorage.clear(); });

const ada = { id: 'a', name: 'demo', member: { id: 'm', name: 'Ada', role: 'editor' } };
const other = { id: 'b', name: 'other', member: { id: 'n', name: 'Bob', role: 'owner' } };

/** Shows the sign-in page at an address; the calls that change something, and the address when each was sent. */
function open(search: string, status: number, { openid = false, signedIn = false } = {}) {
  const sent: { path: string; body: unknown; address: string }[] = [];
  let accounts = signedIn ? [other] : [];
  if (signedIn) localStorage.setItem('prism.session', '');
  vi.stubGlobal('fetch', async (path: string, init?: RequestInit) => {
    if (path === '/console/config') return Response.json({ version: '1', openid });
    if (init?.method !== 'POST') return Response.json({ accounts });
    sent.push({ path, body: JSON.parse(init.body as string), address: location.href });
    if (path === '/console/openid/start') {
      return Response.json({ error: { code: 'service_unavailable', message: 'The provider is away.' } }, { status: 503 });
    }
    if (status !== 204) return Response.json({ error: { code: 'unauthorized', message: 'This link is used up.' } }, { status });
    if (path === '/console/session/link') return Response.json({ account: ada, expires_at: '2026-11-26T12:00:00Z' });
    accounts = [ada, ...accounts];
    return new Response(null, { status });
  });
  const root = createRootRoute();
  const routes = [
    createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignIn }),
    createRoute({ getParentRoute: () => root, path: '$', component: () => <p>a page</p> }),
  ];
  const router = createRouter({
    routeTree: root.addChildren(routes), history: createMemoryHistory({ initialEntries: [`/sign-in${search}`] }),
  });
  render(<RouterProvider router={router as never} />);
  return { sent, path: () => router.state.location.href, used: () => sent.filter((call) => call.path === '/console/session') };
}

const press = async (name: string) => fireEvent.click(await screen.findByRole('button', { name }));

describe('the sign-in page', () => {
  it('says whose a link is and uses it after a yes, then goes on to where one wanted to be (spec: link-owner)', async () => {
    history.replaceState(null, '', `/console/sign-in#${token}`);
    const { sent, path, used } = open('?return=%2Fusage%3Fby%3Dkey', 204);
    const title = await screen.findByRole('heading', { name: 'Sign in to demo?' });
    expect(document.activeElement).toBe(title);
    expect(document.body.textContent).toContain('This link signs you in as Ada, editor of the account demo.');
    expect(document.body.textContent).not.toContain('You stay signed in');
    expect(used()).toEqual([]);
    await press('Sign in as Ada');
    await waitFor(() => expect(path()).toBe('/usage?by=key'));
    expect(sent.map((call) => [call.path, call.body])).toEqual([
      ['/console/session/link', { token }], ['/console/session', { token }],
    ]);
    for (const call of sent) expect(call.address).not.toContain(token);
    expect(localStorage.getItem('prism.account')).toBe('a');
  });
  it('names the accounts that the session keeps, and takes no for an answer', async () => {
    history.replaceState(null, '', `/console/sign-in#${token}`);
    const { path, used } = open('', 204, { signedIn: true });
    expect(await screen.findByText('You stay signed in to other, too.')).toBeTruthy();
    await press('Cancel');
    expect(await screen.findByLabelText('Sign-in link')).toBeTruthy();
    expect(used()).toEqual([]);
    expect(path()).toBe('/sign-in');
  });
  it('says what is wrong with a link and takes another', async () => {
    const { sent, path } = open('', 401);
    const paste = (value: string) => {
      fireEvent.change(screen.getByLabelText('Sign-in link'), { target: { value } });
      fireEvent.click(screen.getByRole('button', { name: 'Continue' }));
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
    ['openid_denied', 'declined'], ['openid_expired', '10 minutes'], ['openid_failed', 'could not be trusted'],
    ['openid_unavailable', 'use a sign-in link'],
    ['not_a_member', 'Ask an owner'], ['link_invalid', 'a new link'], ['too_many_sign_ins', 'Wait a minute'],
    ['constructor', 'The sign-in failed.'],
  ])('says why the service signed nobody in: %s (spec: openid-errors)', async (error, words) => {
    open(`?error=${error}`, 204);
    expect((await screen.findByRole('alert')).textContent).toContain(words);
  });
  it('leads to the provider, and says that it is away', async () => {
    const { sent } = open('?return=%2Fusage', 204, { openid: true });
    await press('Sign in with single sign-on');
    expect((await screen.findByRole('alert')).textContent).toContain('The provider is away.');
    expect(sent.map((call) => call.body)).toEqual([{ return: '/console/usage' }]);
  });
  it('says what an account sees before one signs in to it by name (spec: claim-grant)', async () => {
    localStorage.setItem('prism.account', 'b');
    const { sent, path } = open('?account=demo&return=%2Fusage', 204, { openid: true });
    expect(await screen.findByRole('heading', { name: 'Sign in to demo?' })).toBeTruthy();
    expect(document.body.textContent).toContain('Its owners then see your name, your email address, when you were last here');
    expect(sent).toEqual([]);
    await press('Agree and sign in with single sign-on');
    await waitFor(() => expect(sent.map((call) => call.body)).toEqual([{ return: '/console/usage', account: 'demo' }]));
    await press('Cancel');
    await press('Sign in with single sign-on');
    await waitFor(() => expect(sent.at(-1)?.body).toEqual({ return: '/console/' }));
    expect(path()).toBe('/sign-in');
  });
  it('needs single sign-on for an account that is named', async () => {
    open('?account=demo', 204);
    expect(await screen.findByRole('heading', { name: 'Sign in' })).toBeTruthy();
    expect(await screen.findByLabelText('Sign-in link')).toBeTruthy();
  });
  it('takes an invitation to the provider, whose token stays out of every address', async () => {
    history.replaceState(null, '', `/console/sign-in#${token}`);
    const { sent } = open('', 204, { openid: true });
    await press('Accept with single sign-on');
    await waitFor(() => expect(sent.map((call) => call.body)).toEqual([{ token }, { return: '/console/', token }]));
    for (const call of sent) expect(call.address).not.toContain(token);
  });
  it('takes an invitation without the provider', async () => {
    history.replaceState(null, '', `/console/sign-in#${token}`);
    const { path, used } = open('', 204, { openid: true });
    await press('Sign in with the link alone');
    await waitFor(() => expect(path()).toBe('/'));
    expect(used().map((call) => call.body)).toEqual([{ token }]);
  });
  it.each([
    '//evil.example/', 'https://evil.example/', '/\\evil.example', '/..//evil.example',
  ])('never leaves for %s (spec: return-page)', async (to) => {
    history.replaceState(null, '', `/console/sign-in#${token}`);
    const { path } = open(`?return=${encodeURIComponent(to)}`, 204);
    await press('Sign in as Ada');
    await waitFor(() => expect(path()).toBe('/'));
  });
});
