import { useCallback, useEffect, useRef, useState } from 'react';
import { session, type SessionState } from '@/api/session';

// What is typed and not saved yet is kept in the tab's storage, by account and member: it survives a reload and the end of a
// session, and nobody else who signs in here sees it. Keys and secrets are never part of it.
const prefix = 'prism.draft.';

export function draftKey(name: string, { account }: SessionState = session.state): string {
  return `${prefix}${account?.id ?? ''}.${account?.member.id ?? ''}.${name}`;
}

export function readDraft<T>(name: string): T | undefined {
  try {
    const text = sessionStorage.getItem(draftKey(name));
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

export function writeDraft(name: string, value: unknown): void {
  try {
    if (value === undefined) sessionStorage.removeItem(draftKey(name));
    else sessionStorage.setItem(draftKey(name), JSON.stringify(value));
  } catch {
    // A full or forbidden storage only costs the draft its life across a reload.
  }
}

/** Removes every draft: whoever signs out leaves nothing behind. */
function clearDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
}

let before = session.state.status;
session.subscribe(() => {
  const now = session.state.status;
  // A session that was never active in this page says nothing of who typed.
  if (now === 'none' && (before === 'active' || before === 'ended')) clearDrafts();
  before = now;
});

/** State that survives a reload. It is kept 200 ms after the last change, and before the page is left. `undefined` removes it. */
export function useDraft<T>(name: string): [T | undefined, (value: T | undefined) => void] {
  const [value, setValue] = useState(() => readDraft<T>(name));
  const pending = useRef<{ timer: number; write: () => void }>(undefined);
  const flush = useCallback(() => {
    if (!pending.current) return;
    clearTimeout(pending.current.timer);
    pending.current.write();
    pending.current = undefined;
  }, []);
  useEffect(() => {
    addEventListener('pagehide', flush);
    return () => {
      removeEventListener('pagehide', flush);
      flush();
    };
  }, [flush]);
  const set = useCallback((next: T | undefined) => {
    setValue(next);
    if (pending.current) clearTimeout(pending.current.timer);
    pending.current = { write: () => writeDraft(name, next), timer: window.setTimeout(flush, 200) };
    if (next === undefined) flush();
  }, [name, flush]);
  return [value, set];
}
