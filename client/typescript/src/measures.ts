import type { CallOptions } from "./call.js";
import { Labels } from "./labels.js";
import type { List } from "./lists.js";
import type {
  Calibration, Comparison, Distribution, Drift, DriftChange, NewCalibration, PinnedCalibrations, Quality, Selection, Thresholds,
} from "./types.js";

/** What labels tell, as calibrations, measures, thresholds and comparisons of versions, and drift. */
export class Measures extends Labels {
  /**
   * Fits a calibration to the labels of a question of a version. It counts for nothing until it is pinned. Too few labels are a
   * conflict, and so is `auto` where no method is better than none.
   */
  createCalibration(prism: string, version: number, calibration: NewCalibration, options?: CallOptions): Promise<Calibration> {
    const path = ["prisms", prism, "versions", version, "calibrations"];
    return this.caller.json({ operation: "createCalibration", method: "POST", path, body: calibration, want: 201 }, options);
  }

  /** Lists the calibrations of a version, newest first. */
  listCalibrations(
    prism: string, version: number, selection?: Selection<"listCalibrations">, options?: CallOptions,
  ): List<Calibration> {
    return this.list("listCalibrations", ["prisms", prism, "versions", version, "calibrations"], selection, options);
  }

  readCalibration(prism: string, version: number, id: string, options?: CallOptions): Promise<Calibration> {
    return this.caller.json(
      { operation: "readCalibration", method: "GET", path: ["prisms", prism, "versions", version, "calibrations", id] }, options,
    );
  }

  /**
   * Pins calibrations to questions, by their ids; null unpins. Questions that are not named keep theirs. It returns what is
   * pinned then.
   */
  pinCalibrations(
    prism: string, version: number, questions: Record<string, string | null>, options?: CallOptions,
  ): Promise<PinnedCalibrations> {
    const path = ["prisms", prism, "versions", version, "calibration"];
    return this.caller.json({ operation: "pinCalibrations", method: "PUT", path, body: { questions } }, options);
  }

  /** Reads what is pinned to a version. */
  readPinnedCalibrations(prism: string, version: number, options?: CallOptions): Promise<PinnedCalibrations> {
    return this.caller.json({
      operation: "readPinnedCalibrations", method: "GET", path: ["prisms", prism, "versions", version, "calibration"],
    }, options);
  }

  /**
   * Measures the answers of a version by the labels that count. A question with fewer than 30 of them has null for its measures.
   * If all have, it is a conflict.
   */
  readQuality(prism: string, version: number, selection?: Selection<"readQuality">, options?: CallOptions): Promise<Quality> {
    return this.caller.json({
      operation: "readQuality", method: "GET", path: ["prisms", prism, "versions", version, "quality"], query: selection,
    }, options);
  }

  /** Chooses where yes of a yes_no question should begin and no end, from what mistakes and unsure answers cost. */
  readThresholds(
    prism: string, version: number, selection: Selection<"readThresholds">, options?: CallOptions,
  ): Promise<Thresholds> {
    const path = ["prisms", prism, "versions", version, "quality", "thresholds"];
    return this.caller.json({ operation: "readThresholds", method: "GET", path, query: selection }, options);
  }

  /** Compares version `b` with version `a` on the labelled inputs that both answered. */
  compareVersions(prism: string, selection: Selection<"compareVersions">, options?: CallOptions): Promise<Comparison> {
    return this.caller.json(
      { operation: "compareVersions", method: "GET", path: ["prisms", prism, "compare"], query: selection }, options,
    );
  }

  /**
   * Compares the answers of a version, the latest unless the selection says otherwise, in the last hour and day with its
   * reference.
   */
  readDrift(prism: string, selection?: Selection<"readDrift">, options?: CallOptions): Promise<Drift> {
    return this.caller.json(
      { operation: "readDrift", method: "GET", path: ["prisms", prism, "drift"], query: selection }, options,
    );
  }

  /** Counts the answers to a question by hour, day or week of a time zone. */
  readDistribution(prism: string, selection: Selection<"readDistribution">, options?: CallOptions): Promise<Distribution> {
    return this.caller.json(
      { operation: "readDistribution", method: "GET", path: ["prisms", prism, "distribution"], query: selection }, options,
    );
  }

  /**
   * Watches a prism or stops it, which forgets what was counted, and sets the reference of a version: whole hours, or its first
   * 2,000 results.
   */
  setDrift(prism: string, change: DriftChange, options?: CallOptions): Promise<Drift> {
    return this.caller.json({ operation: "setDrift", method: "PUT", path: ["prisms", prism, "drift"], body: change }, options);
  }
}
