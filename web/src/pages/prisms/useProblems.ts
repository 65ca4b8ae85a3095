import { type QueryKey, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError } from '@/api';
import { type Problems, problemsByPath, together } from '@/definitions/problems';

/** The value as it was `ms` milliseconds ago, once it has not changed since. */
export function useSettled<T>(value: T, ms = 400): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

const none: Problems = new Map();

/**
 * The local problems of what is typed, and those of the API's dry run of it, asked when the typing pauses. `body` is what is
 * sent; `other` is why the dry run failed for another reason than a problem at a path.
 */
export function useDryRun(
  key: QueryKey, body: unknown, local: Problems, dryRun: (signal: AbortSignal) => Promise<unknown>, enabled: boolean,
) {
  const text = JSON.stringify(body);
  const settled = useSettled(text);
  const current = settled === text;
  const { error, isFetching } = useQuery({
    queryKey: [...key, 'dry run', settled],
    queryFn: async ({ signal }) => {
      await dryRun(signal);
      return true;
    },
    // The problems that are known here would only be told again.
    enabled: enabled && current && local.size === 0,
    placeholderData: undefined,
    gcTime: 60_000,
    staleTime: 60_000,
    retry: (count, cause) => cause instanceof ApiError && cause.passing && count < 2,
  });
  const found = current && local.size === 0 && error instanceof ApiError ? error : undefined;
  const placed = found?.problems.length ? problemsByPath(found.problems) : none;
  return {
    problems: together(local, placed), other: found && !found.problems.length ? found : undefined,
    checking: enabled && (!current || isFetching),
  };
}
