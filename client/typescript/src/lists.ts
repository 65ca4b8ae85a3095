import type { Page } from "./types.js";

/**
 * A list of the API. Awaited, it is one page; iterated, it is every item, and pages are read as they are needed. An error ends
 * the iteration.
 *
 *     const page = await prism.listResults({ limit: 10 });
 *     for await (const result of prism.listResults({ prism: "tickets" })) …
 */
export class List<T, P extends Page<T> = Page<T>> implements PromiseLike<P>, AsyncIterable<T> {
  readonly #read: (cursor?: string) => Promise<P>;
  #first: Promise<P> | undefined;

  /** `read` reads the page behind a cursor, or the page that the caller selected. */
  constructor(read: (cursor?: string) => Promise<P>) {
    this.#read = read;
  }

  then<A = P, B = never>(
    resolved?: ((page: P) => A | PromiseLike<A>) | null,
    rejected?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#first ??= this.#read();
    return this.#first.then(resolved, rejected);
  }

  /** Iterates over pages. */
  async *pages(): AsyncGenerator<P, void, undefined> {
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
