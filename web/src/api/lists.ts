import { useQuery } from '@tanstack/react-query';
import { api, ask, askAll } from './client';
import { useCan } from './session';

// Lists that several pages name things from; kept a minute.
const kept = { staleTime: 60_000 };

/** All prisms, or those that are not archived, newest first. */
export function usePrisms(archived: 'all' | 'false' = 'all') {
  return useQuery({
    ...kept,
    queryKey: ['prisms', 'names', archived],
    queryFn: ({ signal }) =>
      askAll((cursor) => ask(api.GET('/v1/prisms', { params: { query: { archived, limit: 100, cursor } }, signal }))),
  });
}

/** The configured models. */
export function useModels() {
  return useQuery({
    ...kept, queryKey: ['models'], queryFn: async ({ signal }) => (await ask(api.GET('/v1/models', { signal }))).data,
  });
}

/** All keys, newest first; only owners may list them, for others nothing is asked. */
export function useKeys() {
  const own = useCan('own');
  return useQuery({
    ...kept,
    queryKey: ['keys'],
    enabled: own,
    queryFn: ({ signal }) => askAll((cursor) => ask(api.GET('/v1/keys', { params: { query: { limit: 100, cursor } }, signal }))),
  });
}
