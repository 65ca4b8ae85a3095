import { type Call, type CallOptions, limits, rowTypes } from "./call.js";
import { Download } from "./download.js";
import { lacking, without } from "./lacking.js";
import type { List } from "./lists.js";
import { patiently } from "./pause.js";
import { type StoreOptions, storing } from "./prisms.js";
import { keyed, newIdempotencyKey } from "./results.js";
import { Rows } from "./rows.js";
import { responses } from "./shapes.js";
import type { DryRun, NewRun, Run, RunLimits, Selection } from "./types.js";
import { type Upload, type UploadOptions, Uploads } from "./upload.js";

export interface WatchOptions extends CallOptions {
  /** Is told the run whenever it is read. */
  onProgress?: ((run: Run) => void) | undefined;
}

/** A run of the rows of a file that is uploaded with it. */
export type RowsRun = Omit<NewRun, "file_id" | "from_labels_of" | "from_results"> & Required<Pick<NewRun, "fields">>;

/** Whether a run changes no more unless somebody resumes or retries it. */
export const isSettled = (run: Run): boolean =>
  run.status === "finished" || run.status === "cancelled" || run.status === "paused";

/** Runs of files. */
export class Runs extends Uploads {
  /**
   * Uploads a file as uploadFile does, runs it through a prism, and follows the run as watchRun does until it is finished,
   * cancelled or paused. If the call ends earlier, the run goes on.
   */
  async runFile(prism: string, upload: Upload, run: RowsRun, options: UploadOptions & WatchOptions = {}): Promise<Run> {
    const { onUpload, onProgress, ...call } = options;
    const bounds = this.caller.bounds(call);
    const file = await this.uploadFile(upload, { ...bounds, onUpload });
    const body = { ...run, idempotency_key: run.idempotency_key ?? newIdempotencyKey(), file_id: file.id };
    const made = await patiently(this.caller.pauses, bounds, () => this.createRun(prism, body, bounds));
    return this.watchRun(made.id, { ...bounds, onProgress });
  }

  /**
   * Starts a run of a ready file through a prism, given by its slug or id, or of the labelled inputs of a version, or of
   * the inputs of results. A dry run makes every check, also those of the rows, and says what the run would do.
   */
  createRun(prism: string, run: NewRun, options: StoreOptions & { dryRun: true }): Promise<DryRun>;
  createRun(prism: string, run: NewRun, options?: StoreOptions & { dryRun?: false | undefined }): Promise<Run>;
  createRun(prism: string, run: NewRun, options: StoreOptions = {}): Promise<Run | DryRun> {
    const call = { operation: "createRun", method: "POST", path: ["prisms", prism, "runs"] } as const;
    if (options.dryRun) return this.caller.json({ ...call, ...storing(run, 201, options), limit: limits.plan }, options);
    return this.caller.json({ ...call, ...keyed(run), want: 201 }, options);
  }

  /** Lists runs, newest first. */
  listRuns(selection?: Selection<"listRuns">, options?: CallOptions): List<Run> {
    return this.list("listRuns", ["runs"], selection, options);
  }

  readRun(id: string, options?: CallOptions): Promise<Run> {
    return this.caller.json({ operation: "readRun", method: "GET", path: ["runs", id] }, options);
  }

  /** Begins no further row of a run. Those under way end within 16 s. */
  pauseRun(id: string, options?: CallOptions): Promise<Run> {
    return this.caller.json({ operation: "pauseRun", method: "POST", path: ["runs", id, "pause"], repeatable: true }, options);
  }

  /** Continues a paused run. */
  resumeRun(id: string, options?: CallOptions): Promise<Run> {
    return this.caller.json({ operation: "resumeRun", method: "POST", path: ["runs", id, "resume"], repeatable: true }, options);
  }

  /** Ends a run for good; answers that are there stay. */
  cancelRun(id: string, options?: CallOptions): Promise<Run> {
    return this.caller.json({ operation: "cancelRun", method: "POST", path: ["runs", id, "cancel"], repeatable: true }, options);
  }

  /** Sends the failed rows of a run to the model again. It is a conflict if there are none. */
  retryRun(id: string, options?: CallOptions): Promise<Run> {
    return this.caller.json({ operation: "retryRun", method: "POST", path: ["runs", id, "retry"] }, options);
  }

  /** Changes how fast a run goes. */
  setRunLimits(id: string, limits: RunLimits, options?: CallOptions): Promise<Run> {
    return this.caller.json({ operation: "setRunLimits", method: "PUT", path: ["runs", id, "limits"], body: limits }, options);
  }

  /**
   * Streams the rows of a run in the order of its file: the columns of the file, then the outcome, then the answers. It works in
   * every state of the run. Without a `format` they have that of the file. A download of csv, tsv or jsonl whose connection is
   * lost continues behind the last row that came; one of xlsx or parquet throws a ConnectionError.
   */
  async listRunRows(id: string, selection: Selection<"listRunRows"> = {}, options: CallOptions = {}): Promise<Download> {
    const { after = 0 } = selection;
    const call: Call = {
      operation: "listRunRows", method: "GET", path: ["runs", id, "rows"], query: selection,
      type: selection.format ? rowTypes[selection.format] : Object.values(rowTypes),
    };
    const bounds = this.caller.bounds(options);
    const request = (behind: number) =>
      this.caller.call(
        { ...call, query: { ...selection, ...(behind > 0 && { after: behind }) } }, bounds, async (received) => received,
      );
    const first = await request(after);
    const format = (Object.keys(rowTypes) as (keyof typeof rowTypes)[]).find((name) => rowTypes[name] === first.type)!;
    if (format === "xlsx" || format === "parquet") return first.name(new Download(first.chunks(), () => first.end()));
    let current = first;
    const again = async (behind: number) => (current = await request(behind)).chunks();
    const rows = new Rows(format, selection.delimiter, after, first.chunks(), again);
    return first.name(new Download(rows.chunks(this.caller.pauses, bounds), () => current.end()));
  }

  /** Iterates over the states of a run, at most two a second, until it is over. watchRun does so through lost connections. */
  async *followRun(id: string, options: CallOptions = {}): AsyncGenerator<Run, void, undefined> {
    const call: Call = { operation: "followRun", method: "GET", path: ["runs", id, "events"], type: "text/event-stream" };
    const received = await this.caller.call(call, options, async (begun) => begun);
    for await (const line of new Download(received.chunks(), () => received.end()).lines()) {
      if (!line.startsWith("data:")) continue;
      const run = JSON.parse(line.slice("data:".length)) as Run;
      const missing = lacking(run, responses["followRun 200"]!);
      if (missing.length > 0) throw received.unexpected(without(missing));
      yield run;
    }
  }

  /**
   * Follows a run until it is finished, cancelled or paused, and returns it. It reads the run's events, or where those do not
   * arrive, such as behind a proxy that holds them back, asks every 2 s. If the call ends earlier, the run goes on.
   */
  async watchRun(id: string, options: WatchOptions = {}): Promise<Run> {
    const { onProgress = () => {}, ...call } = options;
    const bounds = this.caller.bounds(call);
    for (let n = 1, arrive = true; ; n++) {
      const states = this.followRun(id, bounds);
      try {
        // A run that cannot be followed is read below, which also tells what is wrong if that stays so.
        let state = arrive ? await states.next().catch(() => undefined) : undefined;
        for (arrive = false; state?.value; state = await states.next().catch(() => undefined)) {
          arrive = true;
          onProgress(state.value);
          if (isSettled(state.value)) return state.value;
        }
      } finally {
        await states.return();
      }
      const run = await patiently(this.caller.pauses, bounds, () => this.readRun(id, bounds));
      onProgress(run);
      if (isSettled(run)) return run;
      await this.caller.polls.must(n, bounds, "watchRun");
    }
  }
}
