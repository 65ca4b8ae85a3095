import { api, ApiError, ask, type Schemas } from '@/api';
import { compact, exportQuery, ofAll, type ResultsSearch } from './search';

/** Which failed results of a prism, of those that were not retried. */
export interface Match {
  prism: string;
  from?: string | undefined;
  to?: string | undefined;
  q?: string | undefined;
  where?: string[] | undefined;
}

export function matchOf(search: ResultsSearch): Match | undefined {
  const { prism, from, to } = search;
  return prism === undefined ? undefined : { prism, from, to, ...ofAll(search) };
}

/** How many results a retry of all that match would retry. */
export const countMatching = (match: Match) => retry({ ...match, status: 'failed', dry_run: true });

/** Retries all that match, if they are as many as the reader was told. Otherwise a `changed` error tells the new number. */
export const retryMatching = (match: Match, expect: number) => retry({ ...match, status: 'failed', expect });

async function retry(body: Schemas['ResultRetry']): Promise<number> {
  return (await ask(api.POST('/v1/results/retry', { body }))).retrying;
}

/** The filters as those of a run that answers all that match again. */
export function againOf(search: ResultsSearch): Schemas['ResultsOfRun'] {
  const { status, version, from, to } = search;
  return compact({ status, version, from, to, ...ofAll({ ...search, version: undefined }) });
}

/** Why a version cannot answer the results again, in words; undefined for other errors. */
export function againProblem(error: ApiError, version: number): string | undefined {
  const told = [error.message, ...error.problems.map(({ message }) => message)];
  if (told.some((text) => text.startsWith('more than 10,000 '))) {
    return 'More than 10,000 results match, and a run has at most so many. Narrow them by filters first.';
  }
  if (told.includes('no result matches')) return 'No result matches any more.';
  const [, keys] = told.map((text) => /^Missing fields: (.+)$/.exec(text)).find(Boolean) ?? [];
  return keys && `Version ${version} needs fields that not all of these results have: ${keys}. Choose another version.`;
}

type Deletion = Schemas['ResultDeletion'];

/** The filters as members of a deletion, which has at least one. */
export function deletionOf(search: ResultsSearch, now = new Date()): Deletion {
  const { to, ...rest } = exportQuery(search);
  const which = { ...rest, ...(to !== undefined && { before: to }) };
  return Object.keys(which).length ? which : { before: now.toISOString() };
}

const remove = async (prism: string, body: Deletion): Promise<number> =>
  (await ask(api.POST('/v1/prisms/{prism}/results/delete', { params: { path: { prism } }, body }))).deleting;

/** How many results a deletion would delete. */
export const countDeleted = (prism: string, which: Deletion) => remove(prism, { ...which, dry_run: true });

/** Deletes what matches, if it is still as many as the reader was told. */
export const deleteMatching = (prism: string, which: Deletion, expect: number) => remove(prism, { ...which, expect });

/** The number in the refusal `12 results match now.`, or undefined for other errors. */
export function matchNow(error: unknown): number | undefined {
  if (!(error instanceof ApiError) || error.status !== 409) return undefined;
  const found = /^([\d,]+) results? match(?:es)? now\.$/.exec(error.message);
  return found ? Number(found[1]!.replaceAll(',', '')) : undefined;
}

/** Does `work` for each id, some at once, and goes on after failures. */
export async function each(
  ids: string[], work: (id: string) => Promise<unknown>, told: (done: number, failed: number) => void, signal: AbortSignal,
  atOnce = 4,
): Promise<{ done: number; failed: unknown[] }> {
  const failed: unknown[] = [];
  let [next, done] = [0, 0];
  const worker = async () => {
    while (next < ids.length && !signal.aborted) {
      const id = ids[next++]!;
      try {
        await work(id);
      } catch (error) {
        failed.push(error);
      }
      done++;
      told(done, failed.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, ids.length) }, worker));
  return { done, failed };
}
