import type { CallOptions } from "./call.js";
import { answersOf } from "./core.js";
import type { List } from "./lists.js";
import { Results } from "./results.js";
import type {
  AddedLabels, LabelledResult, LabelQueue, ManyLabels, NewLabels, QueuedResult, Schemas, Selection,
} from "./types.js";

/** Labels: what was right for results. */
export class Labels extends Results {
  /**
   * Replaces labels of a result, removes those whose value is null, and returns all that it has then. A failed result is a
   * conflict.
   */
  putLabels(result: string, labels: NewLabels, options?: CallOptions): Promise<LabelledResult> {
    return this.caller.json(
      { operation: "putLabels", method: "PUT", path: ["results", result, "labels"], body: labels }, options,
    );
  }

  /** Reads the labels of a result. */
  readLabels(result: string, options?: CallOptions): Promise<LabelledResult> {
    return this.caller.json({ operation: "readLabels", method: "GET", path: ["results", result, "labels"] }, options);
  }

  /** Labels up to 1,000 results of a prism. What can be stored is; the response says which were not. */
  addLabels(prism: string, labels: ManyLabels, options?: CallOptions): Promise<AddedLabels> {
    return this.caller.json(
      { operation: "addLabels", method: "POST", path: ["prisms", prism, "labels"], body: labels, repeatable: true }, options,
    );
  }

  /** Lists the labelled results of a prism, newest first. */
  listLabels(prism: string, selection?: Selection<"listLabels">, options?: CallOptions): List<LabelledResult> {
    return this.list("listLabels", ["prisms", prism, "labels"], selection, options);
  }

  /**
   * Lists results that have no label for a question. Send their labels with the `sample` of the page, which is the `order` that
   * was asked for.
   */
  listLabelQueue(prism: string, selection: Selection<"listLabelQueue">, options?: CallOptions): List<QueuedResult, LabelQueue> {
    return this.list("listLabelQueue", ["prisms", prism, "label-queue"], selection, options,
      (result: Schemas["QueuedResult"]) => ({ ...result, answers: answersOf(result.answers)! }));
  }
}
