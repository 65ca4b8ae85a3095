import { type Call, type CallOptions, limits } from "./call.js";
import { answersOf, escalationOf, rowOf, shaped } from "./core.js";
import type { List } from "./lists.js";
import { Operations } from "./operations.js";
import type {
  Lens, NewPrism, NewTry, NewVersion, PreviewedLens, ResultRow, Schemas, Selection, StoredPrism, Try, Version,
} from "./types.js";

/** Options of a call that stores something. */
export interface StoreOptions extends CallOptions {
  /** Makes every check of the call and returns what the call would, but stores nothing. */
  dryRun?: boolean | undefined;
}

/** Options of a call that changes a prism. */
export interface ChangeOptions extends StoreOptions {
  /** The `etag` of the prism. A prism that was changed since is a conflict, and stays as it is. */
  ifMatch?: string | undefined;
}

/** Definitions: prisms, versions, Lenses, tries and models. */
export class Prisms extends Operations {
  /** Creates a prism with its version 1. A slug that the account has already is a conflict. */
  createPrism(prism: NewPrism, options?: StoreOptions): Promise<StoredPrism> {
    return this.#tagged({ operation: "createPrism", method: "POST", path: ["prisms"], ...storing(prism, 201, options) }, options);
  }

  /** Reads a prism by its slug or id, an archived one too. */
  readPrism(prism: string, options?: CallOptions): Promise<StoredPrism> {
    return this.#tagged({ operation: "readPrism", method: "GET", path: ["prisms", prism] }, options);
  }

  /** Lists prisms, newest first: those that are not archived, unless `archived` selects others. */
  listPrisms(selection?: Selection<"listPrisms">, options?: CallOptions): List<StoredPrism> {
    return this.list("listPrisms", ["prisms"], selection, options);
  }

  /** Replaces the name of a prism; "" is no name. */
  renamePrism(prism: string, name: string, options?: CallOptions): Promise<StoredPrism> {
    return this.#tagged({ operation: "renamePrism", method: "PUT", path: ["prisms", prism, "name"], body: { name } }, options);
  }

  /** Archives a prism, which then takes no calls. Its results stay readable. */
  archivePrism(prism: string, options?: CallOptions): Promise<StoredPrism> {
    return this.#tagged(
      { operation: "archivePrism", method: "POST", path: ["prisms", prism, "archive"], repeatable: true }, options,
    );
  }

  /** Lets an archived prism take calls again. */
  unarchivePrism(prism: string, options?: CallOptions): Promise<StoredPrism> {
    return this.#tagged(
      { operation: "unarchivePrism", method: "POST", path: ["prisms", prism, "unarchive"], repeatable: true }, options,
    );
  }

  /** Has the results of a prism deleted, within an hour, when they are older than this many days; null keeps them. */
  setRetention(prism: string, days: number | null, options?: CallOptions): Promise<StoredPrism> {
    return this.#tagged(
      { operation: "setRetention", method: "PUT", path: ["prisms", prism, "retention"], body: { days } }, options,
    );
  }

  /** Has searches find the results of a prism, or leave them out. */
  setSearchable(prism: string, searchable: boolean, options?: CallOptions): Promise<StoredPrism> {
    return this.#tagged(
      { operation: "setSearchable", method: "PUT", path: ["prisms", prism, "searchable"], body: { searchable } }, options,
    );
  }

  /** Adds the next version of a prism, which answers calls from then on. With `if_latest` only behind that version. */
  createVersion(prism: string, version: NewVersion, options?: ChangeOptions): Promise<Version> {
    const call =
      { operation: "createVersion", method: "POST", path: ["prisms", prism, "versions"], ifMatch: options?.ifMatch } as const;
    return this.caller.json({ ...call, ...storing(version, 201, options) }, options);
  }

  /** Lists the versions of a prism, newest first. */
  listVersions(prism: string, selection?: Selection<"listVersions">, options?: CallOptions): List<Version> {
    return this.list("listVersions", ["prisms", prism, "versions"], selection, options);
  }

  readVersion(prism: string, version: number, options?: CallOptions): Promise<Version> {
    return this.caller.json({ operation: "readVersion", method: "GET", path: ["prisms", prism, "versions", version] }, options);
  }

  /** Replaces the Lens of a prism, for old results too. */
  replaceLens(prism: string, lens: Lens, options?: ChangeOptions): Promise<StoredPrism> {
    const call = { operation: "replaceLens", method: "PUT", path: ["prisms", prism, "lens"], ifMatch: options?.ifMatch } as const;
    return this.#tagged({ ...call, ...storing(lens, 200, options) }, options);
  }

  /**
   * Shows results of a prism, at most 50, as a read with another Lens would. An id that no result of the prism has is left out.
   */
  previewLens(prism: string, lens: Lens, results: string[] = [], options?: CallOptions): Promise<PreviewedLens> {
    const body = { columns: lens.columns, result_ids: results };
    return this.caller.json(
      { operation: "previewLens", method: "POST", path: ["prisms", prism, "lens", "preview"], body, repeatable: true },
      options,
      (preview: Schemas["PreviewedLens"]) => ({
        ...preview, data: preview.data.map((row) => ({ ...row, result: shaped<ResultRow>(row.result, "json") })),
      }),
    );
  }

  /**
   * Asks the model the questions of a definition. Neither the definition nor a result is saved, but the use counts, so a call
   * without a response is not repeated. If the model gives no usable answer, it throws a FailedError with the try.
   */
  tryDefinition(definition: NewTry, options?: CallOptions): Promise<Try> {
    return this.caller.json(
      { operation: "tryDefinition", method: "POST", path: ["try"], body: definition, limit: limits.answer, failed: "try" },
      options,
      ({ raw, json, ...tried }: Schemas["Try"]) =>
        ({ ...tried, answers: answersOf(raw), row: rowOf(json), escalation: escalationOf(tried.escalation) }) as Try,
    );
  }

  // Makes a call whose response is a prism, and notes the ETag (spec: prism-etag).
  #tagged(call: Call, options: CallOptions = {}): Promise<StoredPrism> {
    return this.caller.json(call, options, (prism: StoredPrism, header) => {
      const etag = header("ETag");
      return etag === undefined ? prism : { ...prism, etag };
    });
  }
}

/** The body of a call that stores something and then has the status `want`, or of its dry run (spec: dry-run). */
export function storing(body: object, want: number, options: StoreOptions = {}) {
  return options.dryRun ? { body: { ...body, dry_run: true }, want: 200, repeatable: true } : { body, want };
}
