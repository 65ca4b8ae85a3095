import { useEffect, useSyncExternalStore } from 'react';
import { type Account, session, useSession } from '@/api/session';
import type { Prism } from './fill';

/** The account of the reader's session, if there is one. */
export function useAccount(): Account | undefined {
  const { status, account } = useSession();
  // without a console there is no session
  useEffect(() => { if (status === 'unknown') session.join().catch(() => undefined); }, [status]);
  return status === 'active' ? account : undefined;
}

const most = 1000;
let prisms: Prism[] = [];
let asked: string | undefined; // the id of the account whose prisms they are
const listeners = new Set<() => void>();

/** The prisms of an account that are not archived, newest first; none until they are there. They are asked for once. */
export function usePrisms(account: Account | undefined): Prism[] {
  useEffect(() => {
    if (!account || asked === account.id) return;
    asked = account.id;
    load().then((found) => { prisms = found; for (const listener of listeners) listener(); }, () => { asked = undefined; });
  }, [account]);
  const found =
    useSyncExternalStore((listener) => { listeners.add(listener); return () => listeners.delete(listener); }, () => prisms);
  return account ? found : none;
}

const none: Prism[] = [];

async function load(): Promise<Prism[]> {
  const found: Prism[] = [];
  for (let cursor: string | null = ''; cursor !== null && found.length < most;) {
    const response = await fetch(`/v1/prisms?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, {
      headers: { Authorization: `Bearer ${await session.key()}` }, credentials: 'omit', cache: 'no-store',
      referrerPolicy: 'no-referrer',
    });
    if (!response.ok) throw new Error(String(response.status));
    const page = (await response.json()) as { data: Prism[]; next_cursor: string | null };
    found.push(...page.data);
    cursor = page.next_cursor;
  }
  return found;
}
