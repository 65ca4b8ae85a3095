import type { Value } from "./answers.js";

/** A row of a jsonl download: the names and values of its columns. */
export type DownloadedRow = Record<string, Value>;

/**
 * Rows that are read as they come, once. A download whose connection is lost throws a ConnectionError, and never ends as if it
 * were whole. Read it to its end, or cancel it.
 */
export class Download implements AsyncIterable<Uint8Array> {
  readonly #chunks: AsyncGenerator<Uint8Array, void, undefined>;
  readonly #cancel: () => void;

  constructor(chunks: AsyncGenerator<Uint8Array, void, undefined>, cancel: () => void) {
    this.#chunks = chunks;
    this.#cancel = cancel;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#chunks;
  }

  /** The bytes as a stream, such as for a Response or a file. */
  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const { done, value } = await this.#chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => this.cancel(),
    });
  }

  /** All of it as one text. */
  async text(): Promise<string> {
    let text = "";
    for await (const part of this.#texts()) text += part;
    return text;
  }

  /** The lines of jsonl or tsv, without their ends. In csv a cell can hold line breaks. */
  async *lines(): AsyncGenerator<string, void, undefined> {
    let rest = "";
    for await (const part of this.#texts()) {
      const lines = (rest + part).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    if (rest !== "") yield rest;
  }

  /** The rows of a download in the format jsonl. */
  async *rows<T extends object = DownloadedRow>(): AsyncGenerator<T, void, undefined> {
    for await (const line of this.lines()) {
      if (!line.startsWith("{")) throw new TypeError('prism: rows() reads the format "jsonl" only');
      yield JSON.parse(line) as T;
    }
  }

  /** Ends the download. */
  async cancel(): Promise<void> {
    this.#cancel();
    await this.#chunks.return();
  }

  async *#texts(): AsyncGenerator<string, void, undefined> {
    const decoder = new TextDecoder();
    for await (const chunk of this.#chunks) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  }
}
