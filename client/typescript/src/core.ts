import { Answers, RawAnswers } from "./answers.js";
import type { Call, CallOptions, Caller, Query } from "./call.js";
import { Download } from "./download.js";
import { List } from "./lists.js";
import type { Page, Schemas } from "./types.js";

/** The most items of a page, which iterations ask for. */
const most = 100;

/** What the operations of a client have in common. Each group of operations is a class that extends the one before. */
export class Core {
  protected readonly caller: Caller;

  constructor(caller: Caller) {
    this.caller = caller;
  }

  protected list<T>(operation: string, path: Call["path"], query: Query = {}, options: CallOptions = {}, shape?: (item: never) => T): List<T> {
    const read = (more: Query) =>
      this.caller.json({ operation, method: "GET", path, query: { ...query, ...more } }, options, (page: Page<never>): Page<T> =>
        shape ? { ...page, data: page.data.map(shape) } : page,
      );
    return new List((cursor) => read(cursor === undefined ? {} : { cursor, limit: query.limit ?? most }));
  }

  protected download(call: Call, options: CallOptions = {}): Promise<Download> {
    return this.caller.call(call, options, async (received) => received.name(new Download(received.chunks(), () => received.end())));
  }
}

/** A result as its methods return it. */
export function shaped<R>(result: Schemas["Result"] | Schemas["RawResult"], format: string | null | undefined): R {
  if (result.answers === null) return result as R;
  const members = entries<unknown>(result.answers);
  return { ...result, answers: format === "raw" ? new RawAnswers(members as never) : new Answers(members as never) } as R;
}

/** The members of an object in their order. */
export const entries = <T>(of: Record<string, T> | Map<string, T>): Iterable<[string, T]> => (of instanceof Map ? of : Object.entries(of));
