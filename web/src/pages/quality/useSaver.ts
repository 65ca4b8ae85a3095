import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { session } from '@/api/session';
import { draftKey, readDraft, writeDraft } from '@/data/drafts';
import type { Prism } from '@/data/prisms';
import { putLabels } from '@/data/quality';
import { Saver, type SaverState, type Unsaved } from './saver';

// A saver outlives its page: labels that wait are stored while one looks at something else.
const savers = new Map<string, Saver>();

// The pages that use a saver now, by its name: while there is one, measures are not computed again beside each label.
const users = new Map<string, number>();

session.subscribe(() => {
  if (session.state.status === 'none') savers.clear(); // its drafts are removed too
});

/** The saver of a prism's labels, of whoever is signed in. */
export function useSaver(prism: Prism): [Saver, SaverState] {
  const client = useQueryClient();
  const name = `labels.${prism.id}`;
  const key = draftKey(name);
  let saver = savers.get(key);
  if (!saver) {
    const put = async ({ result, labels, sample }: Unsaved) => {
      await putLabels(result, labels, sample);
      // Measures that were read before are old now.
      void client.invalidateQueries({ queryKey: ['quality', prism.slug], refetchType: users.get(key) ? 'none' : 'active' });
      void client.invalidateQueries({ queryKey: ['results', 'one', result] });
    };
    saver = new Saver(put, (waiting) => writeDraft(name, waiting.length ? waiting : undefined), readDraft<Unsaved[]>(name));
    savers.set(key, saver);
  }
  const state = useSyncExternalStore(saver.subscribe, () => saver.state);
  useEffect(() => {
    users.set(key, (users.get(key) ?? 0) + 1);
    return () => { users.set(key, users.get(key)! - 1); };
  }, [key]);
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
