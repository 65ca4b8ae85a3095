import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { api, ask } from './client';
import { ApiError } from './errors';
import { Session, session } from './session';

const member = { id: 'm', name: 'Ada', role: 'owner' as const };
const account = { id: 'a', name: 'demo', member };

/** Answers calls by their method and path, and notes each of them. */
function serve(routes: Record<string, (request: Request) => Response | Promise<Response>>) {
  const calls: { what: string; auth: string | null; body: string }[] = [];
  vi.stubGlobal('fetch', async (input: string | Request, init?: RequestInit) => {
    const request = input instanceof Request ? input : new Request(new URL(input, location.origin), init);
    const what = `${request.method} ${new URL(request.url).pathname}`;
    calls.push({ what, auth: request.headers.get('Authorization'), body: await request.clone().text() });
    const route = routes[what];
    if (!route) throw new TypeError(`no route ${what}`);
    return route(request);
  });
  return calls;
}

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { 'X-Request-Id': 'req_1' } });
const refused = () => json(401, { error: { code: 'unauthorized', message: 'You are signed out.' } });
const keyed = (key: string, seconds = 900) =>
  json(200, { key, expires_at: new Date(Date.now() + seconds * 1000).toISOString(), account, member });
const signedIn = () => json(200, { member, accounts: [account], expires_at: new Date().toISOString() });

beforeEach(() => { vi.useFakeTimers({ now: Date.parse('2026-11-22T12:00:00Z'), toFake: ['Date'] }); });
afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals(); localStorage.clear(); sessionStorage.clear(); });

describe('the key of a session', () => {
  it('is made once for calls that start together, and used until its last minute', async () => {
    let n = 0;
    const calls = serve({ 'GET /console/session': signedIn, 'POST /console/session/key': () => keyed(`prism_${++n}`) });
    const own = new Session();
    await own.load();
    expect(await Promise.all([own.key(), own.key(), own.key()])).toEqual(['prism_1', 'prism_1', 'prism_1']);
    vi.setSystemTime(Date.now() + 13 * 60_000);
    expect(await own.key()).toBe('prism_1');
    vi.setSystemTime(Date.now() + 61_000);
    expect(await own.key()).toBe('prism_2');
    expect(calls.filter((call) => call.what === 'POST /console/session/key')).toHaveLength(2);
  });

  it('is in no storage and no address', async () => {
    serve({ 'GET /console/session': signedIn, 'POST /console/session/key': () => keyed('prism_secret') });
    const own = new Session();
    await own.load();
    await own.key();
    expect(JSON.stringify([
      { ...localStorage }, { ...sessionStorage }, location.href, document.cookie, document.documentElement.outerHTML,
    ])).not.toContain('prism_secret');
  });

  it('is of the account that was switched to, also if another one was under way', async () => {
    const other = { id: 'b', name: 'other', member };
    let open: (() => void) | undefined;
    const calls = serve({
      'GET /console/session': () => json(200, { member, accounts: [account, other], expires_at: '' }),
      'POST /console/session/key': async (request) => {
        const { account: id } = (await request.json()) as { account: string };
        if (id === 'a') await new Promise<void>((resolve) => { open = resolve; });
        return json(200, {
          key: `prism_${id}`, expires_at: new Date(Date.now() + 900_000).toISOString(), account: { id, name: id }, member,
        });
      },
    });
    const own = new Session();
    await own.load();
    const first = own.key();
    await vi.waitFor(() => expect(open).toBeDefined(), 30_000);
    own.switchTo(other);
    open!();
    expect(await first).toBe('prism_b');
    expect(await own.key()).toBe('prism_b');
    expect(calls).toHaveLength(3);
  });
});

describe('a session', () => {
  it('is looked for only where somebody signed in', async () => {
    let over = false;
    const calls = serve({
      'GET /console/session': () => (over ? refused() : signedIn()),
      'DELETE /console/session': () => new Response(null, { status: 204 }),
    });
    expect(await new Session().join()).toBe(false);
    expect(calls).toHaveLength(0);
    const own = new Session();
    await own.load();
    expect(await new Session().join()).toBe(true);
    over = true;
    expect(await new Session().join()).toBe(false);
    const asked = calls.length;
    expect(await new Session().join()).toBe(false);
    expect(calls).toHaveLength(asked);
    over = false;
    await own.load();
    await own.signOut();
    expect(await new Session().join()).toBe(false);
  });

  it('has a new key when the old one was forgotten', async () => {
    let n = 0;
    serve({ 'GET /console/session': signedIn, 'POST /console/session/key': () => keyed(`prism_${++n}`) });
    const own = new Session();
    await own.load();
    expect(await own.key()).toBe('prism_1');
    own.forget();
    expect(await own.key()).toBe('prism_2');
  });

  it('that never was leads to the sign-in page, and one that is over keeps its page', async () => {
    let over = true;
    serve({ 'GET /console/session': () => (over ? refused() : signedIn()), 'POST /console/session/key': refused });
    const own = new Session();
    expect(await own.load()).toBe(false);
    expect(own.state.status).toBe('none');
    over = false;
    await own.load();
    await expect(own.key()).rejects.toMatchObject({ status: 401, requestId: 'req_1' });
    expect(own.state).toMatchObject({ status: 'ended', account });
    await own.load();
    expect(own.state.status).toBe('active');
  });

  it('is not over because the network is', async () => {
    serve({ 'GET /console/session': signedIn });
    const own = new Session();
    await own.load();
    await expect(own.key()).rejects.toMatchObject({ status: 0 });
    expect(own.state.status).toBe('active');
  });

  it('takes a role that has changed with the next key', async () => {
    serve({ 'GET /console/session': signedIn, 'POST /console/session/key': () =>
      json(200, { key: 'k', expires_at: '2026-11-22T12:15:00Z', account, member: { name: 'Ada', role: 'reader' } }) });
    const own = new Session();
    await own.load();
    await own.key();
    expect(own.state.account?.member).toEqual({ id: 'm', name: 'Ada', role: 'reader' });
  });
});

describe('a call', () => {
  it('that is refused is made once more with a new key and the same body', async () => {
    let n = 0;
    const calls = serve({
      'GET /console/session': signedIn,
      'POST /console/session/key': () => keyed(`prism_${++n}`),
      'POST /v1/keys': (request) =>
        (request.headers.get('Authorization') === 'Bearer prism_1' ? refused() : json(201, { id: 'k' })),
    });
    await session.load();
    expect(await ask(api.POST('/v1/keys', { body: { name: 'x' } }))).toEqual({ id: 'k' });
    const made = calls.filter((call) => call.what === 'POST /v1/keys');
    expect(made.map((call) => call.auth)).toEqual(['Bearer prism_1', 'Bearer prism_2']);
    expect(made.map((call) => call.body)).toEqual(['{"name":"x"}', '{"name":"x"}']);
  });

  it('that fails is an error with the request id and the problems by path', async () => {
    serve({
      'POST /console/session/key': () => keyed('prism_3'),
      'POST /v1/keys': () => json(400, {
        error: { code: 'validation_failed', message: "Invalid request: name: Too long; expires_at: Expected a time; not a date" },
      }),
    });
    const error = await ask(api.POST('/v1/keys', { body: { name: 'x' } })).catch((cause: unknown) => cause as ApiError);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 400, requestId: 'req_1', passing: false });
    expect((error as ApiError).problem('name')).toBe('Too long');
    expect((error as ApiError).problem('expires_at')).toBe('Expected a time; not a date');
  });
});

describe('the account of a sign-in by single sign-on', () => {
  it.each([
    [{ token: undefined, account: undefined }, 'b'],
    [{ token: 't', account: undefined }, null],
    [{ token: undefined, account: 'demo' }, null],
  ])('comes first if the sign-in names it: %o (spec: session-accounts)', async (names, chosen) => {
    localStorage.setItem('prism.account', 'b');
    serve({ 'POST /console/openid/start': () => json(200, { url: 'https://provider.example/' }) });
    expect(await new Session().startOpenID('/console/', names)).toBe('https://provider.example/');
    expect(localStorage.getItem('prism.account')).toBe(chosen);
  });
});
