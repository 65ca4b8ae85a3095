import { useEffect, useSyncExternalStore } from 'react';

const target = () => decodeURIComponent(location.hash.slice(1));

/** The anchor that the address names. */
export function useTarget(): string {
  return useSyncExternalStore(
    (listener) => { addEventListener('hashchange', listener); return () => removeEventListener('hashchange', listener); }, target,
  );
}

/** Goes to an anchor that the address names when what has it is made: the browser looked for it before. */
export function useAnchor(id: string): void {
  useEffect(() => { if (target() === id) location.replace(location.hash); }, [id]);
}
