import type { Sort } from '@/design/Table';

export const groupings = ['day', 'prism', 'model', 'key'] as const;

export interface UsageSearch {
  /** The first and the last day, in UTC. 30 days up to today unless given. */
  from?: string;
  to?: string;
  by?: (typeof groupings)[number];
  prism?: string;
  model?: string;
  key?: string;
  sort?: Sort;
}

const day = /^\d{4}-\d{2}-\d{2}$/;

/** What of an address is a search of the page; the rest is left out. */
export function usageSearch(search: Record<string, unknown>): UsageSearch {
  const text = (name: string, pattern = /./) =>
    (typeof search[name] === 'string' && pattern.test(search[name]) ? { [name]: search[name] } : {});
  return {
    ...text('from', day), ...text('to', day), ...text('prism'), ...text('model'), ...text('key'), ...text('sort'),
    ...(groupings.some((by) => by === search.by) && { by: search.by as UsageSearch['by'] }),
  };
}
