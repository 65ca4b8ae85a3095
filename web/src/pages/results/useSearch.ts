import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { compact, resultsSearch, type ResultsSearch } from './search';

/**
 * The filters and the open row in the URL, on whatever page the table is. A page for one prism fixes `prism`. Typing replaces the
 * entry of the history (`replace`), so that Back leaves the page and not the letters.
 */
export function useResultsSearch(prism?: string): [ResultsSearch, (change: ResultsSearch, replace?: boolean) => Promise<void>] {
  const all = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const text = JSON.stringify(all);
  const search = useMemo(
    () => ({ ...resultsSearch(JSON.parse(text) as Record<string, unknown>), ...(prism !== undefined && { prism }) }),
    [text, prism],
  );
  const set = useCallback((change: ResultsSearch, replace = false) => {
    const next = { ...change, ...(prism !== undefined && { prism: undefined }) };
    return navigate({ to: '.', search: (old) => compact({ ...old, ...next }), replace, resetScroll: false });
  }, [navigate, prism]);
  return [search, set];
}
