import { Answers, Row } from "./answers.js";
import type { Call, CallOptions, Caller, Query } from "./call.js";
import { Download } from "./download.js";
import { List } from "./lists.js";
import type { Escalation, Page, Schemas } from "./types.js";

/** The most items of a page, which iterations ask for. */
const most = 100;

/** What the operations of a client have in common. Each group of operations is a class that extends the one before. */
export class Core {
  protected readonly caller: Caller;

  constructor(caller: Caller) {
    this.caller = caller;
  }

  protected list<T, P extends Page<T> = Page<T>>(
    operation: string, path: Call["path"], query: Query = {}, options: CallOptions = {}, shape?: (item: never) => T,
  ): List<T, P> {
    const read = (more: Query) =>
      this.caller.json({ operation, method: "GET", path, query: { ...query, ...more } }, options, (page: P & Page<never>): P =>
        shape ? { ...page, data: page.data.map(shape) } : page,
      );
    return new List((cursor) => read(cursor === undefined ? {} : { cursor, limit: query.limit ?? most }));
  }

  protected download(call: Call, options: CallOptions = {}): Promise<Download> {
    return this.caller.call(
      call, options, async (received) => received.name(new Download(received.chunks(), () => received.end())),
    );
  }
}

/** A result as its methods return it: with its `answers`, or in the format json with the `row` in their place. */
export function shaped<R>(result: Schemas["Result"] | Schemas["RawResult"], format: "json" | "raw"): R {
  const { answers, ...rest } = result;
  if (format === "raw") return { ...rest, answers: answersOf(answers as Schemas["RawResult"]["answers"]) } as R;
  return { ...rest, row: rowOf(answers as Schemas["Result"]["answers"]) } as R;
}

/** Answers as methods return them; null if the model gave none. */
export const answersOf = (answers: Schemas["RawResult"]["answers"]): Answers | null =>
  answers === null ? null : new Answers(entries(answers));

/** Columns of a Lens as methods return them. */
export const rowOf = (columns: Schemas["Result"]["answers"]): Row | null => (columns === null ? null : new Row(entries(columns)));

/** What both models of an escalation answered, as methods return it. */
export function escalationOf(escalation: Schemas["Escalation"] | null): Escalation | null {
  if (!escalation) return escalation;
  const [first, second] = [escalation.first, escalation.second].map((model) => ({ ...model, answers: answersOf(model.answers) }));
  return { ...escalation, first: first!, second: second! };
}

/** The members of an object in their order. */
export const entries = <T>(of: Record<string, T> | Map<string, T>): Iterable<[string, T]> =>
  (of instanceof Map ? of : Object.entries(of));
