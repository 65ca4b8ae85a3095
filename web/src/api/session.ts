import { useSyncExternalStore } from 'react';
import { ApiError, errorOf, errorOfNetwork } from './errors';
import type { components } from './schema';

export type Role = components['schemas']['Role'];

export interface Member {
  id: string;
  name: string;
  role: Role;
}

export interface Account {
  id: string;
  name: string;
  member: Member;
}

/**
 * - `unknown`: not asked yet
 * - `none`: nobody is signed in; pages lead to the sign-in page
 * - `active`: signed in
 * - `ended`: a session that was active is over; the page stays with its typed text and offers to sign in again
 */
export interface SessionState {
  status: 'unknown' | 'none' | 'active' | 'ended';
  /** The current account; the first one until another is chosen. */
  account?: Account;
  accounts: Account[];
}

interface SessionKey {
  key: string;
  expires_at: string;
  account: { id: string; name: string };
  member: { name: string; role: Role };
}

const renewBefore = 60_000; // milliseconds before its end at which a key is renewed
const chosen = 'prism.account'; // the id of the account that was chosen last; never a key
const active = 'prism.session'; // that this browser is signed in, so that pages for everybody ask for a session only then

/** The session of this page. Its key lives in this object only: in no storage, no URL and no element. */
export class Session {
  #state: SessionState = { status: 'unknown', accounts: [] };
  #listeners = new Set<() => void>();
  #key: { text: string; until: number; account: string } | undefined;
  #renewal: Promise<string> | undefined;

  get state(): SessionState {
    return this.#state;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Asks who is signed in. Resolves to whether somebody is; throws an ApiError without a response. */
  async load(): Promise<boolean> {
    try {
      const { accounts } = (await send('GET', '/console/session')) as { accounts: Account[] };
      const wanted = localStorage.getItem(chosen);
      this.#set({ status: 'active', accounts, account: accounts.find((a) => a.id === wanted) ?? accounts[0] });
      return true;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      this.#end();
      return false;
    }
  }

  /** The same as `load`, but asks nothing where nobody has signed in. */
  async join(): Promise<boolean> {
    return localStorage.getItem(active) !== null && this.load();
  }

  /** Drops the key. The next call makes a new one. */
  forget(): void {
    this.#key = undefined;
  }

  /** What the console is: its version, and whether it takes OpenID Connect. */
  config(): Promise<{ version: string; openid: boolean }> {
    return send('GET', '/console/config') as Promise<{ version: string; openid: boolean }>;
  }

  /** Whose a sign-in link is. Nothing is used up. */
  async owner(token: string): Promise<Account> {
    return ((await send('POST', '/console/session/link', { token })) as { account: Account }).account;
  }

  /** Uses up a sign-in link of an account, which becomes the current one. */
  async signIn(token: string, account: Account): Promise<void> {
    await send('POST', '/console/session', { token });
    localStorage.setItem(chosen, account.id);
    this.#key = undefined;
    await this.load();
  }

  /**
   * The address of the provider of OpenID Connect, which leads back to `page`. `token` is that of an invitation, and `account` is
   * the name of the account to sign in to. Either account comes first then, whichever was chosen last.
   */
  async startOpenID(
    page: string, { token, account }: { token: string | undefined; account: string | undefined },
  ): Promise<string> {
    const { url } = (await send(
      'POST', '/console/openid/start', { return: page, ...(token && { token }), ...(account && { account }) },
    )) as { url: string };
    if (token || account) localStorage.removeItem(chosen);
    return url;
  }

  /** Ends the membership in an account. The session goes on in its other accounts, if there are any. */
  async leave(account: Account): Promise<void> {
    await send('POST', '/console/session/leave', { account: account.id });
    this.#key = undefined;
    this.#set({ status: 'none', accounts: [] });
  }

  async signOut(): Promise<void> {
    await send('DELETE', '/console/session');
    this.#key = undefined;
    this.#set({ status: 'none', accounts: [] });
  }

  /** Makes another of the member's accounts the current one. The caller drops what it keeps of the old account. */
  switchTo(account: Account): void {
    localStorage.setItem(chosen, account.id);
    this.#key = undefined;
    this.#set({ ...this.#state, account });
  }

  /** The key for a call: the one in memory, or a new one if that ends within a minute. */
  key(): Promise<string> {
    if (this.#key && this.#key.until - Date.now() > renewBefore) return Promise.resolve(this.#key.text);
    return this.renew();
  }

  /** A new key. `refused` is the key that a call was refused with; if another call renewed it already, no second one is made. */
  renew(refused?: string): Promise<string> {
    if (refused !== undefined && this.#key && this.#key.text !== refused) return Promise.resolve(this.#key.text);
    this.#renewal ??= this.#renewed().finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }

  async #renewed(): Promise<string> {
    const account = this.#state.account?.id;
    try {
      const made = (await send('POST', '/console/session/key', account ? { account } : {})) as SessionKey;
      // The account was changed meanwhile: the key is of the old one.
      if (account !== this.#state.account?.id) return this.#renewed();
      this.#key = { text: made.key, until: Date.parse(made.expires_at), account: made.account.id };
      this.#told(made);
      return made.key;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) this.#end();
      throw error;
    }
  }

  /** Takes the member's role, which may have changed since the session was loaded. */
  #told({ account, member }: SessionKey): void {
    const current = this.#state.account;
    const same = current && current.id === account.id && current.member.role === member.role;
    if (same && this.#state.status === 'active') return;
    const told = { ...account, member: { id: current?.member.id ?? '', ...member } };
    const accounts = this.#state.accounts.map((a) => (a.id === told.id ? told : a));
    this.#set({ status: 'active', account: told, accounts: accounts.length ? accounts : [told] });
  }

  #end(): void {
    this.#key = undefined;
    const was = this.#state.status === 'active' || this.#state.status === 'ended';
    this.#set(was ? { ...this.#state, status: 'ended' } : { status: 'none', accounts: [] });
  }

  #set(state: SessionState): void {
    this.#state = state;
    if (state.status === 'active') localStorage.setItem(active, '');
    else localStorage.removeItem(active);
    for (const listener of this.#listeners) listener();
  }
}

async function send(method: string, path: string, body?: unknown): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
  } catch (cause) {
    throw errorOfNetwork(cause);
  }
  if (response.status === 204) return undefined;
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw errorOf(response, answer);
  return answer;
}

export const session = new Session();

/** The session, in a component that shows it. */
export function useSession(): SessionState {
  return useSyncExternalStore(session.subscribe, () => session.state);
}

// What each role may do, as the API decides; pages leave out what the role cannot do.
const rights = {
  read: ['owner', 'editor', 'caller', 'labeller', 'reader'],
  call: ['owner', 'editor', 'caller'],
  label: ['owner', 'editor', 'labeller'],
  edit: ['owner', 'editor'],
  own: ['owner'],
} satisfies Record<string, Role[]>;

/** Whether the member may: `read`, `call` (create and retry results), `label`, `edit` (prisms), `own` (keys, members, audit). */
export function useCan(right: keyof typeof rights): boolean {
  const role = useSession().account?.member.role;
  return role !== undefined && (rights[right] as Role[]).includes(role);
}
