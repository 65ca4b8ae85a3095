import type { paths } from '@/api/schema';
import type { ListQuery } from '@/data/results';

/** What a list of results shows. It is the search of the URL, and the filters have the names of the API's parameters. */
export interface ResultsSearch {
  prism?: string;
  status?: 'ok' | 'failed';
  ref?: string;
  version?: number;
  model?: string;
  key_id?: string;
  /** The id of a member, `me`, or `none`. */
  assignee?: string;
  run?: string;
  /** ISO 8601. */
  from?: string;
  to?: string;
  /** Words in the texts, ref or error. */
  q?: string;
  /** Conditions on answers, labels and what Prism knows. */
  where?: string[];
  /** What the rows are sorted by; the newest are first without it. */
  sort?: string;
  /** The id of the result that is open beside the table. */
  open?: string;
  /** The view whose tab is shown: its id, or the name of one that everybody has. */
  view?: string;
}

type ExportQuery = NonNullable<paths['/v1/prisms/{prism}/results']['get']['parameters']['query']>;

const text = (value: unknown) =>
  (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined);
const filled = (value: unknown) => text(value) || undefined;
const time = (value: unknown) => {
  const at = Date.parse(filled(value) ?? '');
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
};

/** The texts of a list; one is a list of one, and none is no list. */
export const texts = (value: unknown) => {
  const all = (Array.isArray(value) ? value : [value]).map(filled).filter((one) => one !== undefined);
  return all.length ? all : undefined;
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
    assignee: filled(search.assignee),
    run: filled(search.run),
    from: time(search.from),
    to: time(search.to),
    q: filled(search.q),
    where: texts(search.where),
    sort: filled(search.sort),
    open: filled(search.open),
    view: filled(search.view),
  });
}

/** What changes of a search. What follows from the search itself is a function of it: a change before may not be drawn yet. */
export type Change = ResultsSearch | ((now: ResultsSearch) => ResultsSearch);

/** The object without its undefined members, so that equal filters are equal keys. */
export function compact<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

/** The filters as parameters of the list. Conditions and most orders are of one prism. */
export function listQuery({ open: _, view: __, where, sort, ...rest }: ResultsSearch): ListQuery {
  const any = /^-?@(took|created)$/.test(sort ?? '');
  return compact({ ...rest, where: rest.prism ? where : undefined, sort: rest.prism || any ? sort : undefined });
}

/** The conditions of a retry and of a queue of labels, which say the version and the model so. */
function conditions({ version, model, where }: ResultsSearch): string[] | undefined {
  const all = [
    ...(where ?? []), ...(version === undefined ? [] : [`@version:is:${version}`]),
    ...(model === undefined ? [] : [`@model:is:${model}`]),
  ];
  return all.length ? all : undefined;
}

/** The filters as parameters of an export, which is of one prism, and has an order of its own. */
export function exportQuery({ prism: _, open: __, view: ___, sort: ____, ...filters }: ResultsSearch): ExportQuery {
  return compact(filters);
}

/** The filters as members of a retry of all that match. */
export function ofAll(search: ResultsSearch) {
  return compact({ q: search.q, where: conditions(search) });
}

/** The filters of a queue of labels, with the time as conditions. */
export function queueOf(search: ResultsSearch) {
  const { q, from, to, assignee } = search;
  const where = [
    ...(conditions(search) ?? []), ...(from ? [`@created:from:${from}`] : []), ...(to ? [`@created:to:${to}`] : []),
  ];
  return compact({ q, where: where.length ? where : undefined, assignee });
}

const retried = ['status', 'from', 'to', 'model', 'version', 'q', 'where'];

/** The filters that are set but that the retry of all that match does not have. It is of failed ones, whatever the status. */
export const beyondRetry = (search: ResultsSearch) => beyond(search, retried);

/** The filters that are set but that a queue of labels does not have. It is of ok ones, whatever the status. */
export const beyondQueue = (search: ResultsSearch) => beyond(search, [...retried, 'assignee']);

const unfiltering = ['prism', 'open', 'sort', 'view'];

function beyond(search: ResultsSearch, known: readonly string[]): string[] {
  return Object.keys(compact(search)).filter((name) => !unfiltering.includes(name) && !known.includes(name));
}

/** Whether a filter other than the prism is set. */
export const filtered = (search: ResultsSearch) => beyond(search, []).length > 0;

/** No filter at all, and not those of the view that a page begins with. */
export const clear = { ...Object.fromEntries(
  ['prism', 'status', 'ref', 'version', 'model', 'key_id', 'assignee', 'run', 'from', 'to', 'q', 'where', 'sort']
    .map((name) => [name, undefined]),
), view: 'all' } as ResultsSearch;

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
