import type { paths } from '@/api/schema';

/** What a list of results shows. It is the search of the URL, and the filters have the names of the API's parameters. */
export interface ResultsSearch {
  prism?: string;
  status?: 'ok' | 'failed';
  ref?: string;
  version?: number;
  model?: string;
  key_id?: string;
  run?: string;
  /** ISO 8601. */
  from?: string;
  to?: string;
  /** Words that a shown row must have. The API has no such filter: the rows that were loaded are searched. */
  words?: string;
  /** The id of the result that is open beside the table. */
  open?: string;
}

export type ListQuery = NonNullable<paths['/v1/results']['get']['parameters']['query']>;
export type ExportQuery = NonNullable<paths['/v1/prisms/{prism}/results']['get']['parameters']['query']>;

const text = (value: unknown) =>
  (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined);
const filled = (value: unknown) => text(value) || undefined;
const time = (value: unknown) => {
  const at = Date.parse(filled(value) ?? '');
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
};

/** The search of a URL that somebody may have typed: what no filter can be is left out. */
export function resultsSearch(search: Record<string, unknown>): ResultsSearch {
  const version = Number(filled(search.version));
  return compact({
    prism: filled(search.prism),
    status: search.status === 'ok' || search.status === 'failed' ? search.status : undefined,
    ref: text(search.ref),
    version: Number.isInteger(version) && version > 0 && version <= 2147483647 ? version : undefined,
    model: filled(search.model),
    key_id: filled(search.key_id),
    run: filled(search.run),
    from: time(search.from),
    to: time(search.to),
    words: filled(search.words),
    open: filled(search.open),
  });
}

/** The object without its undefined members, so that equal filters are equal keys. */
export function compact<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

/** The filters as parameters of the list. */
export function listQuery({ prism, status, ref, version, model, key_id, run, from, to }: ResultsSearch): ListQuery {
  return compact({ prism, status, ref, version, model, key_id, run, from, to });
}

const exported = ['status', 'from', 'to', 'model', 'key_id'] as const;
const retried = ['from', 'to'] as const;

/** The filters that an export has; it is of one prism. */
export function exportQuery(search: ResultsSearch): ExportQuery {
  return compact(Object.fromEntries(exported.map((name) => [name, search[name]]))) as ExportQuery;
}

/** The filters that are set but that an export does not have, by the names of the API. */
export const beyondExport = (search: ResultsSearch) => beyond(search, exported);

/**
 * The filters that are set but that the retry of many results does not have. It retries failed ones, so the status does not
 * count.
 */
export const beyondRetry = (search: ResultsSearch) => beyond(search, [...retried, 'status']);

function beyond(search: ResultsSearch, known: readonly string[]): string[] {
  return Object.keys(compact(search)).filter((name) => name !== 'prism' && name !== 'open' && !known.includes(name));
}

/** Whether a filter other than the prism is set. */
export function filtered(search: ResultsSearch): boolean {
  return Object.keys(compact(search)).some((name) => name !== 'open' && name !== 'prism');
}

/** Whether the values of a row have each word, in any case. */
export function hasWords(values: unknown[], words: string | undefined): boolean {
  const wanted = (words ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return true;
  const whole = values.filter((value) => value != null).join('\n').toLowerCase();
  return wanted.every((word) => whole.includes(word));
}

/** Spans of time that end now, in hours. */
export const spans = [[1, 'Last hour'], [24, 'Last 24 hours'], [24 * 7, 'Last 7 days'], [24 * 30, 'Last 30 days']] as const;

/** The beginning of a span, on a whole minute. */
export function spanFrom(hours: number, now: number): string {
  return new Date(Math.floor((now - hours * 3_600_000) / 60_000) * 60_000).toISOString();
}

/** A time for an input of type datetime-local, in the reader's zone, and back. */
export function localTime(iso: string | undefined): string {
  if (!iso) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function fromLocal(value: string): string | undefined {
  return time(value);
}
