import { useEffect, useSyncExternalStore } from 'react';
import { session } from '@/api/session';
import { draftKey, readDraft, writeDraft } from '../prisms/drafts';
import { putLabels } from './calls';
import { Saver, type SaverState, type Unsaved } from './saver';

// A saver outlives its page: labels that wait are stored while one looks at something else.
const savers = new Map<string, Saver>();

session.subscribe(() => {
  if (session.state.status === 'none') savers.clear(); // its drafts are removed too
});

/** The saver of a prism's labels, of whoever is signed in. */
export function useSaver(prism: string): [Saver, SaverState] {
  const name = `labels.${prism}`;
  const key = draftKey(name);
  let saver = savers.get(key);
  if (!saver) {
    saver = new Saver(({ result, labels, sample }) => putLabels(result, labels, sample), (waiting) => writeDraft(name, waiting.length ? waiting : undefined), readDraft<Unsaved[]>(name));
    savers.set(key, saver);
  }
  const state = useSyncExternalStore(saver.subscribe, () => saver.state);
  useEffect(() => {
    const back = () => saver.again();
    addEventListener('online', back);
    return () => removeEventListener('online', back);
  }, [saver]);
  const waits = state.waiting.length > 0;
  useEffect(() => {
    if (!waits) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [waits]);
  return [saver, state];
}
