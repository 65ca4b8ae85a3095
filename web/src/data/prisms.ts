import { queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { LensColumn } from '@/answers/words';
import { api, ask, askAll, type Schemas } from '@/api';
import { orFailed, type Result } from './results';

export type Prism = Schemas['Prism'];
export type RawAnswers = NonNullable<Schemas['RawResult']['answers']>;
export type LensAnswers = NonNullable<Schemas['Result']['answers']>;

/** A prism, and the entity tag that a change of it is sent with. */
export interface Tagged {
  prism: Prism;
  etag: string;
}

export const prismQuery = (prism: string) => queryOptions({
  queryKey: ['prism', prism],
  queryFn: async ({ signal }): Promise<Tagged> => {
    let etag = '';
    const found = await ask(api.GET('/v1/prisms/{prism}', { params: { path: { prism } }, signal }).then((r) => {
      etag = r.response.headers.get('ETag') ?? '';
      return r;
    }));
    return { prism: found, etag };
  },
  // Another prism's data would be shown under this prism's name.
  placeholderData: undefined,
});

const route = getRouteApi('/frame/prisms/$prism');

/** The prism of the address. Only below PrismPage, which shows its children once the prism is there. */
export function usePrismOfPage(): Tagged {
  const { prism } = route.useParams();
  return useQuery(prismQuery(prism)).data!;
}

const most = 1000;

/** Every prism, up to the first 1,000: the API does not search. */
export const prismsQuery = (archived: 'false' | 'true' | 'all') => queryOptions({
  queryKey: ['prisms', 'list', archived],
  queryFn: async ({ signal }): Promise<{ prisms: Prism[]; more: boolean }> => {
    const prisms: Prism[] = [];
    let cursor: string | undefined;
    do {
      const page =
        await ask(api.GET('/v1/prisms', { params: { query: { archived, limit: 100, ...(cursor && { cursor }) } }, signal }));
      prisms.push(...page.data);
      cursor = page.next_cursor ?? undefined;
    } while (cursor && prisms.length < most);
    return { prisms, more: cursor !== undefined };
  },
});

const day = 24 * 60 * 60 * 1000;

/** Results and failures of each prism in the last 7 days, today in UTC included. */
export const weekQuery = () => queryOptions({
  queryKey: ['usage', 'prisms of 7 days'],
  queryFn: async ({ signal }) => {
    const from = new Date(Date.now() - 6 * day).toISOString().slice(0, 10);
    const usage = await ask(api.GET('/v1/usage', { params: { query: { by: 'prism', from } }, signal }));
    const sums = new Map<string, { results: number; failed: number }>();
    for (const sum of usage.data) {
      const slug = sum.prism ?? ''; // results of tries are of no prism
      const old = sums.get(slug) ?? { results: 0, failed: 0 };
      sums.set(slug, { results: old.results + sum.results, failed: old.failed + sum.failed });
    }
    return sums;
  },
});

export const versionsQuery = (prism: string) => queryOptions({
  queryKey: ['prism', prism, 'versions'],
  queryFn: ({ signal }) => askAll((cursor) => ask(api.GET('/v1/prisms/{prism}/versions', {
    params: { path: { prism }, query: { limit: 100, cursor } }, signal,
  })), most),
  placeholderData: undefined,
});

/** Creates a result. A failed one is a result too, so the 502 is no error here. */
export async function createResult(prism: string, body: Schemas['CreateResult']): Promise<Result> {
  return orFailed(await api.POST('/v1/prisms/{prism}/results', { params: { path: { prism } }, body }));
}

/** The response of a try, whose use is counted but which is not stored. */
export type Tried = Schemas['Try'];

/** Asks the model about a definition that is not stored. A failed try is an answer too, so the 502 is no error here. */
export async function tryDefinition(body: Schemas['NewTry'], signal?: AbortSignal): Promise<Tried> {
  const { data, error, response } = await api.POST('/v1/try', { body, signal: signal ?? null });
  if (response.status === 502 && error && 'took_ms' in error) return error;
  return ask(Promise.resolve({ data, error, response }));
}

export type Preview = Schemas['PreviewedLens'];

export async function previewLens(prism: string, columns: LensColumn[], ids: string[], signal?: AbortSignal): Promise<Preview> {
  return ask(api.POST(
    '/v1/prisms/{prism}/lens/preview',
    { params: { path: { prism } }, body: { columns, result_ids: ids }, signal: signal ?? null },
  ));
}
