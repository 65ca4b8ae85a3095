import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { each } from './many';

/** Runs one call for each result, with progress; what failed is said at the end. */
export function useEach(ids: string[], work: (id: string) => Promise<unknown>) {
  const [at, setAt] = useState({ done: 0, failed: 0 });
  const under = useRef<AbortController>(undefined);
  const run = useMutation({
    mutationFn: () => {
      under.current = new AbortController();
      return each(ids, work, (done, failed) => setAt({ done, failed }), under.current.signal);
    },
  });
  return { ...run, at, stop: () => under.current?.abort() };
}
