import { type Call, type CallOptions, limits, type ResultOptions, rowTypes } from "./call.js";
import { escalationOf, shaped } from "./core.js";
import type { Download } from "./download.js";
import type { List } from "./lists.js";
import { type ManyOptions, many, type Outcome } from "./many.js";
import { Prisms, type StoreOptions, storing } from "./prisms.js";
import type {
  AnsweredIn, Deleting, Format, FoundPage, NewResult, Result, ResultCounts, ResultDeletion, ResultIn, ResultRecord, ResultRetry,
  ResultRow, Retrying, Schemas, Selection,
} from "./types.js";

/**
 * An idempotency key that no other call has. Keep it as long as you may repeat the call: a repeat with the same key returns the
 * stored result, or retries it if it failed.
 */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A body with an idempotency key: the caller's or a new one, or none if the caller says null. */
export function keyed<T extends { idempotency_key?: string | null }>(body: T) {
  const { idempotency_key: key = newIdempotencyKey(), ...rest } = body;
  return key === null ? { body: rest } : { body: { ...rest, idempotency_key: key }, repeatable: true };
}

/** Results: creating, reading, retrying, listing, exporting and deleting. */
export class Results extends Prisms {
  /**
   * Answers a text through a prism, given by its slug or id, and saves the result. If the model gives no usable answer, it throws
   * a FailedError with the saved result.
   */
  createResult<F extends Format = "raw">(
    prism: string, result: NewResult, options: ResultOptions<F> = {},
  ): Promise<AnsweredIn<F>> {
    return this.#result(
      { operation: "createResult", method: "POST", path: ["prisms", prism, "results"], ...keyed(result), ...answering }, options,
    );
  }

  /**
   * Answers many texts, several at a time, and yields the outcome of each as soon as it is there, whatever the order of the
   * texts: `index` tells its place. Texts are taken as they are needed. A text that has no answer has an `error`; an error of the
   * key or the prism ends the iteration.
   */
  createResults<T extends NewResult, F extends Format = "raw">(
    prism: string, results: Iterable<T> | AsyncIterable<T>, options: ManyOptions<F> = {},
  ): AsyncGenerator<Outcome<T, F>> {
    return many(prism, results, options, (result, call) => this.createResult(prism, result, call));
  }

  /** Reads a saved result, also a failed one. It does not call the model. */
  readResult<F extends Format = "raw">(id: string, options: ResultOptions<F> = {}): Promise<ResultIn<F>> {
    return this.#result({ operation: "readResult", method: "GET", path: ["results", id] }, options);
  }

  /**
   * Sends a failed result's fields to the model again and saves a new result, to which the idempotency key moves. A result can be
   * retried once; the second retry is a conflict. If the model fails again, it throws a FailedError with the new result.
   */
  retryResult<F extends Format = "raw">(id: string, options: ResultOptions<F> = {}): Promise<AnsweredIn<F>> {
    return this.#result({ operation: "retryResult", method: "POST", path: ["results", id, "retry"], ...answering }, options);
  }

  /** Lists results, newest first, in the order of `sort`, or those of a run in row order. */
  listResults(
    selection: Selection<"listResults"> & { format: "json" }, options?: CallOptions,
  ): List<ResultRow, FoundPage<ResultRow>>;
  listResults(selection?: Selection<"listResults"> & { format?: "raw" }, options?: CallOptions): List<Result, FoundPage<Result>>;
  listResults(
    selection: Selection<"listResults"> = {}, options?: CallOptions,
  ): List<Result | ResultRow, FoundPage<Result | ResultRow>> {
    const { format = "raw" } = selection;
    return this.list("listResults", ["results"], { ...selection, format }, options,
      (result) => shaped<Result | ResultRow>(result, format));
  }

  /** Counts the results that match by questions, `@version`, `@model`, `@status` and `@labelled`, with commas between in `by`. */
  countResults(selection: Selection<"countResults"> = {}, options?: CallOptions): Promise<ResultCounts> {
    return this.caller.json({ operation: "countResults", method: "GET", path: ["results", "counts"], query: selection }, options);
  }

  /** Streams the results of a prism, oldest first; csv and tsv begin with one header row. */
  exportResults(prism: string, selection: Selection<"exportResults"> = {}, options?: CallOptions): Promise<Download> {
    const type = rowTypes[selection.format ?? "csv"];
    return this.download(
      { operation: "exportResults", method: "GET", path: ["prisms", prism, "results"], query: selection, type }, options,
    );
  }

  /** Streams the results of a prism that have some ids, at most 1,000, oldest first. */
  exportSelected(prism: string, ids: string[], format: keyof typeof rowTypes = "csv", options?: CallOptions): Promise<Download> {
    const path = ["prisms", prism, "results", "export"];
    const type = rowTypes[format];
    return this.download(
      { operation: "exportSelected", method: "POST", path, body: { ids, format }, repeatable: true, type }, options,
    );
  }

  /** Reads everything that is kept of the call that made a result. */
  readRecord(id: string, options?: CallOptions): Promise<ResultRecord> {
    return this.caller.json({ operation: "readRecord", method: "GET", path: ["results", id, "record"] }, options,
      (record: Schemas["Record"]) => ({ ...record, escalation: escalationOf(record.escalation) }));
  }

  /**
   * Deletes a result for good, and frees its idempotency key. A result that is not there is `not_found`, also if it was deleted
   * by an attempt of this call whose response was lost.
   */
  deleteResult(id: string, options?: CallOptions): Promise<void> {
    return this.caller.nothing({ operation: "deleteResult", method: "DELETE", path: ["results", id] }, options);
  }

  /**
   * Deletes the results of a prism that match every member of the deletion, at least one, and were saved before the call. A dry
   * run counts them.
   */
  deleteResults(prism: string, deletion: ResultDeletion, options?: StoreOptions): Promise<Deleting> {
    const call = { operation: "deleteResults", method: "POST", path: ["prisms", prism, "results", "delete"] } as const;
    return this.caller.json({ ...call, ...storing(deletion, 202, options) }, options);
  }

  /**
   * Retries all failed results that match, in the background, if they are as many as `expect`; else it is a conflict. A dry run
   * counts them.
   */
  retryResults(retry: ResultRetry, options?: StoreOptions): Promise<Retrying> {
    const call = { operation: "retryResults", method: "POST", path: ["results", "retry"] } as const;
    return this.caller.json({ ...call, ...storing({ ...retry, status: "failed" }, 202, options) }, options);
  }

  // Makes a call whose response is a result in a format.
  #result<R>(call: Call, options: ResultOptions<Format>): Promise<R> {
    const { format = "raw" } = options;
    const made = { ...call, query: { format }, format };
    if (format === "json" || format === "raw") {
      return this.caller.json(made, options, (result) => shaped<R & object>(result, format));
    }
    return this.caller.text({ ...made, type: rowTypes[format] }, options) as Promise<R>;
  }
}

// A call that the model answers.
const answering = { limit: limits.answer, failed: "result" } as const;
