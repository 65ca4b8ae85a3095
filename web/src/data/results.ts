import { type InfiniteData, type QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api, ApiError, ask, type Schemas, useKeys } from '@/api';
import type { paths } from '@/api/schema';

export type ListQuery = NonNullable<paths['/v1/results']['get']['parameters']['query']>;
export type Result = Schemas['Result'];
export type RawResult = Schemas['RawResult'];
export type Record_ = Schemas['Record'];
/** A result of a list: with every probability, and the texts that were sent. */
export type Listed = RawResult;
type Page = Omit<Schemas['RawResultPage'], 'data'> & { data: Listed[] };
const whole = { format: 'raw', fields: 'true' } as const;

const listKey = (query: ListQuery) => ['results', 'list', query] as const;

/** The results of a filter, a page at a time. They stay as they were read until somebody asks for the newest ones. */
export function useResults(query: ListQuery) {
  return useInfiniteQuery({
    queryKey: listKey(query),
    queryFn: async ({ pageParam, signal }) => {
      const params = { query: { ...query, ...whole, limit: pageParam ? 100 : 50, cursor: pageParam } };
      return (await ask(api.GET('/v1/results', { params, signal }))) as Page;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    staleTime: Infinity,
    refetchOnReconnect: false,
  });
}

/** Whether there are newer results than the first one of the list; asked each 15 seconds, where the newest is the first. */
export function useNewer(query: ListQuery, first: string | undefined): boolean {
  const { data } = useQuery({
    queryKey: ['results', 'newest', query],
    queryFn: async ({ signal }) =>
      (await ask(api.GET('/v1/results', { params: { query: { ...query, limit: 1 } }, signal }))) as Page,
    enabled: first !== undefined && !query.run && !query.to && (query.sort ?? '-@created') === '-@created',
    refetchInterval: 15_000,
    placeholderData: undefined,
  });
  const newest = data?.data[0]?.id;
  return newest !== undefined && first !== undefined && newest > first;
}

export type Counts = Schemas['ResultCounts'];

/**
 * How many results match, and how many have each value of the names. Old counts stay while new ones are made. Those of a prism
 * that is left out of searches are not asked for, since they are refused.
 */
export function useCounts({ sort: _, ...query }: ListQuery, by: string, enabled = true) {
  const { data: prism } = usePrism(query.prism);
  const counted = isSearched(prism);
  return useQuery({
    queryKey: ['results', 'counts', query, by],
    queryFn: ({ signal }) => ask(api.GET('/v1/results/counts', { params: { query: { ...query, by } }, signal })),
    enabled: enabled && counted,
    staleTime: 30_000,
    ...(!counted && { placeholderData: undefined }), // old counts are those of another prism
  });
}

/** Whether the results of a prism are found by their texts and answers, sorted and counted. */
export const isSearched = (prism: Schemas['Prism'] | undefined): boolean => prism?.searchable !== false;

/** The name of the model that answered, which no list has. */
export function useModelOf(id: string) {
  return useQuery({
    queryKey: ['results', 'model', id],
    queryFn: async ({ signal }) =>
      (await ask(api.GET('/v1/results/{result_id}/record', { params: { path: { result_id: id } }, signal }))).model?.name ?? null,
    staleTime: Infinity,
    placeholderData: undefined,
  });
}

/** Reads the list again from its first page. */
export async function renew(client: QueryClient, query: ListQuery): Promise<void> {
  client.setQueryData<InfiniteData<Page, string | undefined>>(listKey(query), (old) =>
    old && { pages: old.pages.slice(0, 1), pageParams: old.pageParams.slice(0, 1) });
  await client.refetchQueries({ queryKey: listKey(query) });
}

/** Takes deleted results out of every list that is kept. */
export function forget(client: QueryClient, ids: ReadonlySet<string>): void {
  client.setQueriesData<InfiniteData<Page, string | undefined>>({ queryKey: ['results', 'list'] }, (old) => old && {
    ...old, pages: old.pages.map((page) => ({ ...page, data: page.data.filter((result) => !ids.has(result.id)) })),
  });
  for (const id of ids) client.removeQueries({ queryKey: ['results', 'one', id] });
  // The newest result that is known may be one of them.
  client.removeQueries({ queryKey: ['results', 'newest'] });
}

/** All that is known of one result: as the Lens shows it, with every probability, and the record of its call. */
export function useResult(id: string) {
  return useQuery(resultOptions(id));
}

export const resultOptions = (id: string) => ({
  queryKey: ['results', 'one', id],
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const path = { result_id: id };
    const [shaped, raw, record] = await Promise.all([
      ask(api.GET('/v1/results/{result_id}', { params: { path }, signal })) as Promise<Result>,
      ask(api.GET('/v1/results/{result_id}', { params: { path, query: { format: 'raw' } }, signal })) as Promise<RawResult>,
      ask(api.GET('/v1/results/{result_id}/record', { params: { path }, signal })),
    ]);
    return { shaped, raw, record };
  },
  staleTime: 60_000,
});

/** A prism with its latest version and its Lens. */
export function usePrism(prism: string | undefined) {
  return useQuery({
    queryKey: ['prisms', 'one', prism],
    queryFn: ({ signal }) => ask(api.GET('/v1/prisms/{prism}', { params: { path: { prism: prism! } }, signal })),
    enabled: prism !== undefined,
    placeholderData: undefined,
  });
}

/** A version never changes, so it is read once. */
export function useVersion(prism: string | undefined, version: number | undefined) {
  return useQuery({
    queryKey: ['prisms', 'version', prism, version],
    queryFn: ({ signal }) =>
      ask(api.GET('/v1/prisms/{prism}/versions/{version}', { params: { path: { prism: prism!, version: version! } }, signal })),
    enabled: prism !== undefined && version !== undefined,
    staleTime: Infinity,
    placeholderData: undefined,
  });
}

/** The names of the account's keys by id. Only owners may list keys; others see ids. */
export function useKeyNames(): Map<string, string> {
  const { data } = useKeys();
  return new Map((data ?? []).map((key) => [key.id, key.name ?? key.id]));
}

/** Retries a failed result. */
export async function retryResult(id: string): Promise<Result> {
  return orFailed(await api.POST('/v1/results/{result_id}/retry', { params: { path: { result_id: id } } }));
}

/** The result of a call that asked a model. A model that failed has made a result too, which is answered with status 502. */
export async function orFailed({ data, error, response }: {
  data?: unknown; error?: unknown; response: Response;
}): Promise<Result> {
  if (response.status === 502 && isResult(error)) return error;
  return (await ask(Promise.resolve({ data, error, response }))) as Result;
}

const isResult = (body: unknown): body is Result => typeof body === 'object' && body !== null && 'id' in body && 'status' in body;

export async function deleteResult(id: string): Promise<void> {
  try {
    await ask(api.DELETE('/v1/results/{result_id}', { params: { path: { result_id: id } } }));
  } catch (error) {
    // Deleted by somebody else meanwhile: it is gone, as wanted.
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}
