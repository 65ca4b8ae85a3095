import type { ResultOptions } from "./call.js";
import { ApiError } from "./errors.js";
import { patience } from "./pause.js";
import { Sha256 } from "./sha256.js";
import type { AnsweredIn, Format, NewResult } from "./types.js";

/** How many texts are answered. By default a call has up to 10 attempts: an account over its limit has to wait. */
export interface ManyOptions<F extends Format = "raw"> extends ResultOptions<F> {
  /** How many calls are under way at once; 8 by default. */
  concurrency?: number | undefined;
  /**
   * Names the job, such as "tickets of May". The idempotency key of an item that has none is derived from the job, the prism as
   * it is named in the call, and the item, but not from its place: so the same job can be run again after an interruption, and
   * what is answered already is returned and not asked again; the same job of the Go client has the same keys. Equal items share
   * one result; give them different refs to have several. Without a job each item has a new key.
   */
  job?: string | undefined;
}

/** What became of one item. `index` is its place among the items; the first is 0. */
export type Outcome<T, F extends Format = "raw"> =
  { item: T; index: number } & ({ result: AnsweredIn<F>; error?: undefined } | { error: Error; result?: undefined });

/** Calls `create` for each item, `concurrency` at once, and yields the outcomes as they are there. */
export async function* many<T extends NewResult, F extends Format>(
  prism: string,
  items: Iterable<T> | AsyncIterable<T>,
  options: ManyOptions<F>,
  create: (item: NewResult, options: ResultOptions<F>) => Promise<AnsweredIn<F>>,
): AsyncGenerator<Outcome<T, F>> {
  const { concurrency = 8, job, signal, attempts = patience, ...others } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new TypeError("prism: createResults: concurrency is not a whole number above 0");
  }
  const from = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const leave = new AbortController();
  const abort = () => leave.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort);
  const underWay = new Map<number, Promise<Outcome<T, F>>>();
  const begin = async (item: T, index: number): Promise<Outcome<T, F>> => {
    const keyed = item.idempotency_key === undefined && job !== undefined
      ? { ...item, idempotency_key: keyOf(job, prism, item) } : item;
    try {
      return { item, index, result: await create(keyed, { ...others, attempts, signal: leave.signal }) };
    } catch (error) {
      return { item, index, error: error as Error };
    }
  };
  try {
    for (let index = 0, more = true; ; ) {
      while (more && underWay.size < concurrency) {
        const next = await from.next();
        if (next.done) more = false;
        else underWay.set(index, begin(next.value, index++));
      }
      if (underWay.size === 0) return;
      const outcome = await Promise.race(underWay.values());
      underWay.delete(outcome.index);
      if (outcome.error && endsAll(outcome.error, leave.signal)) throw outcome.error;
      yield outcome;
    }
  } finally {
    signal?.removeEventListener("abort", abort);
    leave.abort();
    await Promise.allSettled(underWay.values());
    await from.return?.();
  }
}

// Releases keep the key as it is: a job may begin with one release, or with the Go client, and go on with another. It is the
// SHA-256 of the JSON that Go writes: fields by their names, members that are not sent left out, and five characters escaped that
// JSON does not need escaped.
function keyOf(job: string, prism: string, { text, fields, version, ref, context }: NewResult): string {
  const sorted = fields && Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
  const members = { fields: sorted, text, version: version ?? undefined, ref: ref ?? undefined, context: context ?? undefined };
  const json = JSON.stringify([job, prism, members])
    .replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const hash = new Sha256();
  hash.update(new TextEncoder().encode(json));
  return hash.hex();
}

// Whether every other item would have the same error.
function endsAll(error: Error, signal: AbortSignal): boolean {
  return signal.aborted
    || (error instanceof ApiError && (error.code === "unauthorized" || error.code === "not_found")) || error instanceof TypeError;
}
