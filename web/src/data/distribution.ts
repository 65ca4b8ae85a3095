import { queryOptions } from '@tanstack/react-query';
import { api, ask } from '@/api';
import { dayAfter, today } from './usage';

export const span = 30; // days that are shown; as many before them are compared with

/** How the answers to a question were each day, of twice the days that are shown. */
export const dailyQuery = (prism: string, question: string) => {
  const to = dayAfter(today(), 1);
  const query = { question, from: dayAfter(to, -2 * span), to };
  return queryOptions({
    queryKey: ['distribution', prism, query],
    staleTime: 60_000, refetchInterval: 60_000, placeholderData: undefined,
    queryFn: ({ signal }) => ask(api.GET('/v1/prisms/{prism}/distribution', { params: { path: { prism }, query }, signal })),
  });
};

/** How the answers of the last 30 days to a question are distributed. */
export const latestQuery = (prism: string, question: string, version: number) => queryOptions({
  staleTime: 30_000, placeholderData: undefined,
  queryKey: ['quality', prism, 'distribution', question, version],
  queryFn: ({ signal }) => ask(api.GET('/v1/prisms/{prism}/distribution', {
    params: { path: { prism }, query: { question, version, by: 'week' } }, signal,
  })),
});
