import type { Page } from "./types.js";

/**
 * A list of the API. Awaited, it is one page; iterated, it is every item, and pages are read as they are needed. An error ends the
 * iteration.
 *
 *     const page = await prism.listResults({ limit: 10 });
 *     for await (const result of prism.listResults({ prism: "tickets" })) …
 */
export class List<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #read: (cursor?: string) => Promise<Page<T>>;
  #first: Promise<Page<T>> | undefined;

  /** `read` reads the page behind a cursor, or the page that the caller selected. */
  constructor(read: (cursor?: string) => Promise<Page<T>>) {
    this.#read = read;
  }

  then<A = Page<T>, B = never>(
    resolved?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    rejected?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#first ??= this.#read();
    return this.#first.then(resolved, rejected);
  }

  /** Iterates over pages. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let page = await this.#read();
    for (;;) {
      yield page;
      if (page.next_cursor === null) return;
      page = await this.#read(page.next_cursor);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }
}
