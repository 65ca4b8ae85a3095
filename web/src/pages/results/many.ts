import { api, ApiError, ask, type Schemas } from '@/api';
import type { ResultsSearch } from './search';

/** The failed results of a prism that were not retried, in a span of time. */
export interface Match {
  prism: string;
  from?: string | undefined;
  to?: string | undefined;
}

export const matchOf = ({ prism, from, to }: ResultsSearch): Match | undefined =>
  (prism === undefined ? undefined : { prism, from, to });

/** How many results a retry of all that match would retry. */
export const countMatching = (match: Match) => retry({ ...match, status: 'failed', dry_run: true });

/** Retries all that match, if they are as many as the reader was told. Otherwise a `changed` error tells the new number. */
export const retryMatching = (match: Match, expect: number) => retry({ ...match, status: 'failed', expect });

async function retry(body: Schemas['ResultRetry']): Promise<number> {
  return (await ask(api.POST('/v1/results/retry', { body }))).retrying;
}

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
