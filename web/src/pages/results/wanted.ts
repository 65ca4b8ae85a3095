import { useSyncExternalStore } from 'react';

const stored = 'prism.columns';
const listeners = new Set<() => void>();
const shownAtFirst = new Set(['time']);

/** Whether the reader wants a column: by its id, or `prism/question` for an answer. */
export type Wanted = (id: string) => boolean;

/** The choices that were made, by column; what is stored may be anything. */
export function choices(text: string | null): Record<string, boolean> {
  try {
    const read: unknown = JSON.parse(text ?? '{}');
    return Object.fromEntries(Object.entries(read ?? {}).filter(([, shown]) => typeof shown === 'boolean')) as never;
  } catch {
    return {};
  }
}

/** Answers and the time are shown until somebody says otherwise, the rest is not. */
export const wantedBy = (chosen: Record<string, boolean>): Wanted => (id) =>
  chosen[id] ?? (id.includes('/') || shownAtFirst.has(id));

const read = () => localStorage.getItem(stored);
const listen = (listener: () => void) => { listeners.add(listener); return () => listeners.delete(listener); };

/** The columns that the reader wants, remembered in this browser. */
export function useWanted(): { text: string | null; wanted: Wanted } {
  const text = useSyncExternalStore(listen, read);
  return { text, wanted: wantedBy(choices(text)) };
}

export function want(id: string, shown: boolean): void {
  localStorage.setItem(stored, JSON.stringify({ ...choices(read()), [id]: shown }));
  for (const listener of listeners) listener();
}

export function wantDefaults(): void {
  localStorage.removeItem(stored);
  for (const listener of listeners) listener();
}
