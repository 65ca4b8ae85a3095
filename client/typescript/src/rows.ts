import { ConnectionError, PrismError } from "./errors.js";
import { type Bounds, mayPass, patiently, type Pauses } from "./pause.js";

/** The columns of a download changed while it was continued, because the prism got another Lens. */
export class ColumnsChangedError extends PrismError {
  override name = "ColumnsChangedError";
}

/** A format whose rows can be told apart, so that a download continues behind the last one. */
export type LineFormat = "csv" | "tsv" | "jsonl";

type Chunks = AsyncGenerator<Uint8Array, void, undefined>;

const at = { operation: "listRunRows" };
const newline = 10;
const quote = 34;

/** A download of a run's rows, through as many connections as it takes. It yields whole rows only. */
export class Rows {
  readonly #format: LineFormat;
  // What is between the cells, if they may be quoted: in csv, and in tsv with a delimiter of its own.
  readonly #quotedBetween: string | undefined;
  readonly #request: (after: number) => Promise<Chunks>;
  #after: number;
  #from: Chunks;
  // The first row of csv and tsv, with the names of the columns.
  #header: Uint8Array | undefined;
  #last: Uint8Array | undefined;

  /** `request` requests the rows behind the one with a number; `first` are those behind `after`. */
  constructor(
    format: LineFormat, delimiter: string | undefined, after: number, first: Chunks, request: (after: number) => Promise<Chunks>,
  ) {
    this.#format = format;
    this.#quotedBetween = format === "jsonl" ? undefined : delimiter || (format === "csv" ? "," : undefined);
    this.#after = after;
    this.#from = first;
    this.#request = request;
  }

  async *chunks(pauses: Pauses, bounds: Bounds): Chunks {
    let rows = this.#whole();
    try {
      for (;;) {
        const next = await rows.next().catch(async (error: unknown) => {
          if (!mayPass(error)) throw error;
          return patiently(pauses, bounds, async () => {
            this.#from = await this.#request(this.#number());
            rows = this.#whole();
            return rows.next();
          });
        });
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await rows.return();
    }
  }

  // The whole rows of the current connection, as many at a time as have come. A row that is incomplete is a lost connection.
  async *#whole(): Chunks {
    const again = this.#header;
    let first = this.#format !== "jsonl";
    let rest = new Uint8Array();
    let scanned = 0;
    let quoted = false;
    for await (const chunk of this.#from) {
      const bytes = new Uint8Array(rest.length + chunk.length);
      bytes.set(rest);
      bytes.set(chunk, rest.length);
      let begin = 0;
      let end = 0;
      for (; scanned < bytes.length; scanned++) {
        // Quotes inside a csv cell are doubled, so between an odd number of them a line break is inside a cell.
        if (bytes[scanned] === quote) quoted = this.#quotedBetween !== undefined && !quoted;
        if (bytes[scanned] !== newline || quoted) continue;
        const row = bytes.subarray(end, scanned + 1);
        end = scanned + 1;
        if (!first) {
          this.#last = row;
          continue;
        }
        first = false;
        if (!again) this.#header = row;
        else if (same(again, row)) begin = end;
        else throw new ColumnsChangedError("the Lens of the prism changed during the download", at);
      }
      rest = bytes.slice(end);
      scanned -= end;
      if (end > begin) yield bytes.subarray(begin, end);
    }
    if (rest.length > 0) throw new ConnectionError(at, new Error("the response ends inside a row"), { sent: true });
  }

  // The number of the last row that came, which is the first of Prism's own columns. Their names have prefixes if the file has
  // such names too; the file's columns come first, so the last four names in a row are Prism's.
  #number(): number {
    if (!this.#last) return this.#after;
    const [names, cells] = this.#cells(new TextDecoder().decode(this.#last));
    const own = [/^(prism_)+row$/, /^(prism_)+result_id$/, /^(prism_)+status$/, /^(prism_)+error$/];
    for (let i = Math.min(names.length, cells.length) - own.length; i >= 0; i--) {
      const number = Number(cells[i]);
      if (own.every((name, of) => name.test(names[i + of]!)) && Number.isSafeInteger(number)) return number;
    }
    throw new PrismError("a row without its number", at);
  }

  #cells(row: string): [string[], string[]] {
    if (this.#format === "jsonl") {
      const members = Object.entries(JSON.parse(row) as object);
      return [members.map(([name]) => name), members.map(([, value]) => String(value))];
    }
    const between = this.#quotedBetween;
    const split = (text: string) => (between ? cellsOf(text, between) : text.trimEnd().split("\t"));
    return [split(new TextDecoder().decode(this.#header)), split(row)];
  }
}

/** The cells of one row of csv. */
function cellsOf(row: string, between: string): string[] {
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^${between}\\r\\n]*))([${between}]|\\r?\\n|$)`, "y");
  const cells: string[] = [];
  for (let found = cell.exec(row); found; found = found[3] === between ? cell.exec(row) : null) {
    cells.push(found[1]?.replaceAll('""', '"') ?? found[2]!);
  }
  return cells;
}

const same = (a: Uint8Array, b: Uint8Array) => a.length === b.length && a.every((byte, i) => byte === b[i]);
