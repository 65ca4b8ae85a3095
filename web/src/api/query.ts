import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './errors';

/**
 * Old rows stay while new ones load; failures that may pass are repeated with growing pauses, others are shown at once.
 * Calls are made whatever the browser says of the network: Prism may be on this machine, and a network that comes or goes beside
 * it would otherwise hold every call back without a word.
 */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 10_000,
      placeholderData: (previous: unknown) => previous,
      retry: (count, error) => error instanceof ApiError && error.passing && count < 4,
      retryDelay: (count) => Math.min(1000 * 2 ** count, 15_000),
    },
    mutations: { networkMode: 'always', retry: false },
  },
});
