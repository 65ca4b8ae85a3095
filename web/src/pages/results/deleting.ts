import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { deleteResult, forget } from '@/data/results';
import { count, toastBefore } from '@/design';
import { each } from './many';

let waiting: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

function setWaiting(ids: Iterable<string>): void {
  waiting = new Set(ids);
  for (const listener of listeners) listener();
}

/** The results that will be deleted, unless it is undone: no list shows them. */
export function useWaiting(): ReadonlySet<string> {
  return useSyncExternalStore((listener) => { listeners.add(listener); return () => listeners.delete(listener); }, () => waiting);
}

/** Takes results out of the lists, and deletes them after the time in which it can be undone. */
export function deleteLater(client: QueryClient, ids: string[]): void {
  setWaiting([...waiting, ...ids]);
  const back = () => setWaiting([...waiting].filter((id) => !ids.includes(id)));
  const act = async () => {
    const gone = new Set<string>();
    const { failed } = await each(ids, (id) => deleteResult(id).then(() => gone.add(id)), () => undefined, never);
    forget(client, gone);
    back();
    void client.invalidateQueries({ queryKey: ['results', 'counts'] });
    if (failed.length) throw failed[0];
  };
  toastBefore(
    `${count(ids.length, 'result')} will be deleted in 10 seconds. If you close this tab before, nothing is.`, act, back,
    'Not all of them were deleted.',
  );
}

const never = new AbortController().signal;
