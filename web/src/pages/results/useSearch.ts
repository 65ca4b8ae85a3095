import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { type Change, compact, resultsSearch, type ResultsSearch } from './search';

export type SetSearch = (change: Change, replace?: boolean) => Promise<void>;

export interface FilterProps {
  search: ResultsSearch;
  set: SetSearch;
  /** The page is of one prism, which is no filter then. */
  fixed?: boolean;
}

/**
 * The filters and the open row in the URL, on whatever page the table is. A page for one prism fixes `prism`. Typing replaces the
 * entry of the history (`replace`), so that Back leaves the page and not the letters.
 */
export function useResultsSearch(prism?: string): [ResultsSearch, SetSearch] {
  const all = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const text = JSON.stringify(all);
  const search = useMemo(
    () => ({ ...resultsSearch(JSON.parse(text) as Record<string, unknown>), ...(prism !== undefined && { prism }) }),
    [text, prism],
  );
  const set = useCallback<SetSearch>((change, replace = false) => navigate({
    to: '.', replace, resetScroll: false,
    search: (old) => {
      const next = typeof change === 'function' ? change(resultsSearch(old)) : change;
      return compact({ ...old, ...next, ...(prism !== undefined && { prism: undefined }) });
    },
  }), [navigate, prism]);
  return [search, set];
}
