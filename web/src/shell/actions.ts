import { useEffect, useRef, useSyncExternalStore } from 'react';
import { editable, layered, onPageKeys } from '@/design/keys';

/** Something that ⌘K finds and, with `keys`, that keys do: `g p`, `/`, `n`. */
export interface Action {
  id: string;
  label: string;
  /** Where it stands in the palette and in the list of keys. */
  group: string;
  keys?: string;
  /** More words that find it. */
  words?: string;
  run: () => void;
}

let groups: Action[][] = [];
let flat: Action[] = [];
const listeners = new Set<() => void>();

function changed() {
  flat = groups.flat();
  for (const listener of listeners) listener();
}

/** Registers actions while the component is shown. The newest one wins where two have the same keys. */
export function useActions(actions: Action[]): void {
  const current = useRef(actions);
  const names = JSON.stringify(actions.map(({ id, label, group, keys, words }) => [id, label, group, keys, words]));
  useEffect(() => {
    current.current = actions;
  });
  useEffect(() => {
    const own =
      current.current.map((action) => ({ ...action, run: () => current.current.find((a) => a.id === action.id)?.run() }));
    groups = [...groups, own];
    changed();
    return () => {
      groups = groups.filter((group) => group !== own);
      changed();
    };
  }, [names]);
}

export function useAllActions(): Action[] {
  return useSyncExternalStore((listener) => { listeners.add(listener); return () => listeners.delete(listener); }, () => flat);
}

const arrows: Record<string, string> = { ArrowLeft: '←', ArrowRight: '→' };

/** Whether Enter presses what has the focus. */
const pressed = (target: EventTarget | null) => target instanceof Element && target.closest('a, button, summary') !== null;

/**
 * Listens for the keys of actions: single keys, the arrows ← and →, Enter where it presses nothing, and pairs such as `g p`
 * within a second. Returns how to stop.
 */
export function listenForKeys(): () => void {
  let first: { key: string; at: number } | undefined;
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || editable(event.target) || layered()) return;
    const key = arrows[event.key] ?? event.key;
    if (key === 'Enter' ? pressed(event.target) : key.length > 1) return;
    const pair = first && event.timeStamp - first.at < 1000 ? `${first.key} ${key}` : undefined;
    const found = [pair, key].map((keys) => keys && flat.findLast((a) => a.keys === keys)).find(Boolean);
    first = { key, at: event.timeStamp };
    if (!found) return;
    first = undefined;
    event.preventDefault();
    found.run();
  };
  return onPageKeys(onKey);
}
