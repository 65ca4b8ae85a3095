import { type QueryClient, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, ApiError, ask, type Schemas } from '@/api';
import { follow, moving, over } from './events';

export type Run = Schemas['Run'];

/** Which runs a list has: those of a prism, in a state, or all. */
export interface RunFilter {
  prism?: string;
  status?: Schemas['RunStatus'];
}

/** The runs, newest first. While one goes, the list is read again each 2 seconds, else each 20. */
export function useRuns({ prism, status }: RunFilter, enabled = true) {
  return useInfiniteQuery({
    enabled,
    queryKey: ['runs', 'list', { prism, status }],
    queryFn: ({ pageParam, signal }) =>
      ask(api.GET('/v1/runs', { params: { query: { prism, status, limit: 50, cursor: pageParam } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? [];
      return pages.length > 3 ? false : pages.some((page) => page.data.some(moving)) ? 2000 : 20_000;
    },
  });
}

const key = (id: string) => ['runs', 'one', id];

/** A run, live: its events while it moves. After a lost stream the run is read, and followed again. */
export function useRun(id: string) {
  const client = useQueryClient();
  const query = useQuery({
    queryKey: key(id),
    queryFn: ({ signal }) => ask(api.GET('/v1/runs/{run_id}', { params: { path: { run_id: id } }, signal })),
    placeholderData: undefined,
  });
  const live = query.data !== undefined && !over(query.data);
  useEffect(() => {
    if (!live) return;
    const controller = new AbortController();
    void followOn(client, id, controller.signal);
    return () => controller.abort();
  }, [client, id, live]);
  return query;
}

/** Follows a run until it is over or the signal aborts. It gives up when the run may not be read any more. */
async function followOn(client: QueryClient, id: string, signal: AbortSignal): Promise<void> {
  for (let time = 1; !signal.aborted; time++) {
    try {
      await follow(id, (run) => { time = 1; told(client, run); }, signal);
    } catch (error) {
      if (error instanceof ApiError && !error.passing) return;
    }
    if (signal.aborted) return;
    await new Promise((resolve) => setTimeout(resolve, Math.min(500 * 2 ** time, 15_000)));
    if (signal.aborted) return;
    await client.refetchQueries({ queryKey: key(id) });
    const now = client.getQueryData<Run>(key(id));
    if (now && over(now)) return;
  }
}

/** Keeps what an answer or an event says of a run. */
export function told(client: QueryClient, run: Run): void {
  client.setQueryData(key(run.id), run);
}

export const act = (verb: 'pause' | 'resume' | 'cancel' | 'retry', run_id: string): Promise<Run> =>
  ask(api.POST(
    `/v1/runs/{run_id}/${verb}`, { params: { path: { run_id } } },
  ) as Promise<{ data?: Run; error?: unknown; response: Response }>);

/** What a run has behind it: rows that neither wait nor were cancelled. */
export const doneOf = ({ rows, pending, cancelled }: Pick<Run, 'rows' | 'pending' | 'cancelled'>) => rows - pending - cancelled;

export const fileKey = (id: string | undefined) => ['files', 'one', id];
export const rowsKey = (id: string | undefined) => ['files', 'rows', id];

export function useFile(id: string | undefined) {
  return useQuery({
    queryKey: fileKey(id),
    queryFn: ({ signal }) => ask(api.GET('/v1/files/{file_id}', { params: { path: { file_id: id! } }, signal })),
    enabled: id !== undefined,
    refetchInterval: ({ state }) => (state.data?.status === 'reading' ? 1000 : false),
    placeholderData: undefined,
  });
}

export function useFileRows(id: string | undefined) {
  return useQuery({
    queryKey: rowsKey(id),
    queryFn: async ({ signal }) =>
      (await ask(api.GET('/v1/files/{file_id}/rows', { params: { path: { file_id: id! }, query: { limit: 5 } }, signal }))).data,
    enabled: id !== undefined,
    staleTime: Infinity,
    placeholderData: undefined,
  });
}
