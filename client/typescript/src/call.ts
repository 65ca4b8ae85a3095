import {
  ApiError, type Circumstances, type Code, ConnectionError, FailedError, UnavailableError, ValidationError,
} from "./errors.js";
import { lacking, without } from "./lacking.js";
import { type Bounds, leaveIfAborted, Pauses, retryAfter } from "./pause.js";
import { responses } from "./shapes.js";
import type { FailedResult, FailedTry, Format, Schemas } from "./types.js";

/** How one call is made. Each method takes them as its last argument. */
export interface CallOptions {
  /** Ends the call with a {@link ConnectionError} when it is aborted. */
  signal?: AbortSignal | undefined;
  /**
   * The milliseconds that the whole call may take: all attempts and pauses, and reading a download. No pause begins that would
   * end later. Without it each attempt has its own bound: 75 s for a create or retry of a result and for a try, 30 s for other
   * calls and for each read of a response.
   */
  timeout?: number | undefined;
  /** The most attempts of a call whose repeat is safe; 1 never repeats. */
  attempts?: number | undefined;
  /** Names the request in the server's logs, in place of a name that the server chooses. */
  requestId?: string | undefined;
}

/** Options of a call whose response is a result. */
export interface ResultOptions<F extends Format> extends CallOptions {
  /**
   * How the result is written. `raw`, the default, has the answers; `json` has the columns of the Lens as `row`; csv, tsv and
   * jsonl are texts.
   */
  format?: F | undefined;
}

/** The bounds of one attempt, in milliseconds. */
export const limits = {
  /** A create or retry: up to 35 s for other calls, 15 s for the model, and saving. */
  answer: 75_000,
  /** Every other call, and each read of a response body. */
  other: 30_000,
  /** Sending a part of a file. */
  part: 120_000,
  /** Checking a run: Prism checks rows for 20 s. */
  plan: 60_000,
};

export type Query = Record<string, string | number | boolean | Date | readonly string[] | null | undefined>;

/** One operation with its request. */
export interface Call {
  operation: string;
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** The segments below /v1. */
  path: readonly (string | number)[];
  query?: Query | undefined;
  /** JSON, or octets as they are. */
  body?: object | undefined;
  ifMatch?: string | undefined;
  /** The status of success; 200. */
  want?: number;
  /** The milliseconds of an attempt; `limits.other`. */
  limit?: number;
  /** Whether the call has the same effect twice as once; every method but POST has (spec: idempotency-key). */
  repeatable?: boolean;
  /** What a 502 may be: a failed result in the format, or a failed try (spec: failed-result-is-not-an-error). */
  failed?: "result" | "try";
  format?: Format | undefined;
  /** The media type of the response, or those that it may have; undefined for JSON. */
  type?: string | readonly string[] | undefined;
}

/** How Prism is reached. */
export interface Connection {
  base: string;
  key: string;
  agent: string | undefined;
  attempts: number;
  timeout: number | undefined;
  fetch: typeof fetch;
  /** The pauses between attempts. */
  pauses: Pauses;
}

type Shape<T> = (value: never, header: (name: string) => string | undefined) => T;

/** Makes calls, and repeats them while that is safe. */
export class Caller {
  readonly pauses: Pauses;
  /** The pauses between questions whether something has ended. */
  readonly polls = new Pauses(100, 2_000);
  // Private, so that printing a client does not show the key.
  readonly #to: Connection;

  constructor(to: Connection) {
    this.#to = to;
    this.pauses = to.pauses;
  }

  /** The bounds of a call that begins now. Bounds that are passed as options stay as they are. */
  bounds(options: CallOptions & { end?: number }): Bounds & CallOptions {
    const timeout = options.timeout ?? this.#to.timeout;
    if (timeout !== undefined && !(timeout > 0)) throw new TypeError("prism: timeout is not a number of milliseconds above 0");
    return { ...options, end: options.end ?? performance.now() + (timeout ?? Infinity) };
  }

  /** Makes a call and passes its response to `use`, which reads all of it or keeps it. */
  async call<T>(call: Call, options: CallOptions, use: (received: Received) => Promise<T>): Promise<T> {
    const bounds = this.bounds(options);
    const attempts = attemptsOf(options.attempts ?? this.#to.attempts);
    const [address, init] = this.#request(call, options);
    for (let n = 1; ; n++) {
      try {
        return await use(await this.#attempt(call, address, init, bounds));
      } catch (error) {
        if (n >= attempts || !safeToRepeat(call, error) || !(await this.pauses.wait(n, retryAfter(error), bounds))) throw error;
      }
    }
  }

  /** Makes a call and returns what `shape` makes of its JSON response and headers. */
  async json<T extends object>(call: Call, options: CallOptions = {}, shape: Shape<T> = (value) => value): Promise<T> {
    return this.call(call, options, async (received) => {
      const text = await received.text();
      let missing: string[] = [];
      try {
        const value = object(parse(text));
        missing = lacking(value, responses[`${call.operation} ${received.status}`]!);
        if (missing.length === 0) return received.name(shape(value as never, (name) => received.header(name)));
      } catch {
        // It has another shape.
      }
      throw received.unexpected(missing.length > 0 ? without(missing) : "a response body that is not the expected JSON");
    });
  }

  /** Makes a call and returns its response as text. */
  text(call: Call, options: CallOptions = {}): Promise<string> {
    return this.call(call, options, (received) => received.text());
  }

  /** Makes a call whose response has no body. */
  async nothing(call: Call, options: CallOptions = {}): Promise<void> {
    await this.text({ want: 204, ...call }, options);
  }

  #request(call: Call, options: CallOptions): [string, RequestInit] {
    const headers = new Headers({ Authorization: `Bearer ${this.#to.key}` });
    if (this.#to.agent !== undefined) headers.set("User-Agent", this.#to.agent);
    if (options.requestId !== undefined) headers.set("X-Request-Id", options.requestId);
    if (call.ifMatch !== undefined) headers.set("If-Match", call.ifMatch);
    // Prism does not redirect API calls. Another server that does must not get the key.
    const init: RequestInit = { method: call.method, headers, redirect: "manual" };
    if (call.body instanceof Uint8Array) {
      headers.set("Content-Type", "application/octet-stream");
      init.body = call.body as Uint8Array<ArrayBuffer>;
    } else if (call.body) {
      headers.set("Content-Type", "application/json");
      init.body = JSON.stringify(call.body);
    }
    return [`${this.#to.base}/v1/${path(call)}${query(call)}`, init];
  }

  async #attempt(call: Call, address: string, init: RequestInit, bounds: Bounds): Promise<Received> {
    const key = call.body && "idempotency_key" in call.body ? (call.body.idempotency_key as string) : undefined;
    const received = new Received({ operation: call.operation, idempotencyKey: key }, this.#to.base, bounds);
    try {
      await received.fetch(() => this.#to.fetch(address, { ...init, signal: received.signal }), call.limit ?? limits.other);
      if (received.status !== (call.want ?? 200)) throw await refusal(call, received);
      const types = [call.type ?? received.type].flat();
      if (!types.includes(received.type)) throw received.unexpected(`a response body that is not ${types.join(", ")}`);
      return received;
    } catch (error) {
      received.end();
      throw error;
    }
  }
}

/**
 * A response, or the wait for one. It ends its request when the response, or a read, takes too long; the time between reads does
 * not count.
 */
export class Received {
  readonly at: Circumstances;
  readonly #server: string;
  readonly #controller = new AbortController();
  readonly #bounds: Bounds;
  readonly #leave = () => this.#controller.abort(this.#bounds.signal?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #late = false;
  #response: Response | undefined;

  constructor(at: Circumstances, server: string, bounds: Bounds) {
    this.at = at;
    this.#server = server;
    this.#bounds = bounds;
    leaveIfAborted(at, bounds.signal);
    bounds.signal?.addEventListener("abort", this.#leave);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get status(): number {
    return this.#response?.status ?? 0;
  }

  header(name: string): string | undefined {
    return this.#response?.headers.get(name) ?? undefined;
  }

  /** The media type of the body. */
  get type(): string | undefined {
    return this.header("Content-Type")?.split(";")[0]?.trim();
  }

  /** The error of a response that no Prism sends. */
  unexpected(what: string, retryAfter?: number): ApiError {
    return new ApiError(this.at, this.status, "unexpected", `${this.#server} sent ${what}`, retryAfter);
  }

  /** Makes the request. */
  async fetch(send: () => Promise<Response>, limit: number): Promise<void> {
    this.#response = await this.#within(limit, send, neverSent);
    this.at.requestId = this.header("X-Request-Id");
  }

  /** Reads the body in pieces, and ends the request behind the last one. */
  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = this.#response?.body?.getReader();
    try {
      while (reader) {
        const { done, value } = await this.#within(limits.other, () => reader.read(), () => false);
        if (done) return;
        yield value;
      }
    } finally {
      this.end();
    }
  }

  /** Reads the whole body as text. */
  async text(): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of this.chunks()) text += decoder.decode(chunk, { stream: true });
    return text + decoder.decode();
  }

  /** Notes that the request had this answer, for requestIdOf. */
  name<T extends object>(answer: T): T {
    if (this.at.requestId !== undefined) requestIds.set(answer, this.at.requestId);
    return answer;
  }

  /** Ends the request, read or not. */
  end(): void {
    clearTimeout(this.#timer);
    this.#bounds.signal?.removeEventListener("abort", this.#leave);
    this.#controller.abort();
  }

  async #within<T>(limit: number, work: () => Promise<T>, unsent: (error: unknown) => boolean): Promise<T> {
    const left = this.#bounds.end - performance.now();
    this.#timer = setTimeout(() => {
      this.#late = true;
      this.#controller.abort();
    }, Math.min(limit, left));
    try {
      return await work();
    } catch (error) {
      const { signal } = this.#bounds;
      const aborted = signal?.aborted ?? false;
      throw new ConnectionError(
        this.at, aborted ? signal?.reason : error, { sent: !unsent(error), timedOut: this.#late && !aborted, aborted },
      );
    } finally {
      clearTimeout(this.#timer);
    }
  }
}

const requestIds = new WeakMap<object, string>();

/**
 * The id that names the request of an answer in the server's logs. An answer is what a method of a client returned: a result, a
 * page or a download. Undefined for anything else.
 */
export const requestIdOf = (answer: object): string | undefined => requestIds.get(answer);

// Prism did nothing (spec: error-service-unavailable), or the call has the same effect twice. A failed result is an answer.
function safeToRepeat(call: Call, error: unknown): boolean {
  const repeatable = call.repeatable ?? call.method !== "POST";
  if (error instanceof ConnectionError) return !error.sent || repeatable;
  if (error instanceof UnavailableError) return true;
  return error instanceof ApiError && repeatable && (error.status >= 500 || error.status === 429);
}

// Whether the connection was certainly never made. Only node tells; elsewhere the request counts as sent.
function neverSent(error: unknown): boolean {
  const cause = error instanceof Error
    ? (error.cause as { code?: string; syscall?: string; errors?: unknown[] } | undefined) : undefined;
  const connecting = (e: { code?: string; syscall?: string } | undefined) =>
    e?.syscall === "connect" || e?.syscall === "getaddrinfo" || e?.code === "UND_ERR_CONNECT_TIMEOUT";
  return connecting(cause)
    || (Array.isArray(cause?.errors) && cause.errors.length > 0 && cause.errors.every((e) => connecting(e as object)));
}

// The text of both string members of Prism's own 503. The 503 of a proxy has another body, and does not mean that Prism did
// nothing.
const unavailable = "Service Unavailable";

async function refusal(call: Call, received: Received): Promise<Error> {
  const { status } = received;
  const asked = received.header("Retry-After") ?? "";
  const retryAfter = /^\d{1,9}$/.test(asked) ? Number(asked) : undefined;
  const text = await received.text();
  const unexpected = received.unexpected("a response that is not Prism's", retryAfter);
  let value: { id?: unknown; status?: unknown; statusCode?: unknown; message?: unknown; error?: unknown } | undefined;
  try {
    value = object(parse(text));
  } catch {
    // A row of text, or a proxy's page.
  }
  if (call.failed && status === 502) {
    if (call.format && call.format in rowTypes) {
      return received.type === rowTypes[call.format as keyof typeof rowTypes]
        ? new FailedError(received.at, text, {}) : unexpected;
    }
    if (value?.status !== "failed" || lacking(value, responses[`${call.operation} 502`]!).length > 0) return unexpected;
    if (call.failed === "try") {
      const { raw: _, json: __, ...told } = value as Schemas["Try"];
      return new FailedError(received.at, text, { try: { ...told, answers: null, row: null } as FailedTry });
    }
    return new FailedError(received.at, text, { result: value as unknown as FailedResult });
  }
  if (status === 503 && value?.statusCode === 503 && value.message === unavailable && value.error === unavailable) {
    return new UnavailableError(received.at, status, "unavailable", unavailable, retryAfter);
  }
  const { code, message } = (value?.error ?? {}) as { code?: Code; message?: string };
  if (!code) return unexpected;
  const kind = code === "validation_failed" ? ValidationError : ApiError;
  return new kind(received.at, status, code, message ?? "", retryAfter);
}

/** The media types of rows. */
export const rowTypes = {
  csv: "text/csv", tsv: "text/tab-separated-values", jsonl: "application/jsonl",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  parquet: "application/vnd.apache.parquet",
};

function path(call: Call): string {
  return call.path
    .map((segment) => {
      // An address has no such segments: it would be that of another operation.
      if (segment === "" || segment === "." || segment === "..") {
        throw new TypeError(`prism: ${call.operation}: an id or a slug is empty, "." or ".."`);
      }
      return escaped(call, String(segment));
    })
    .join("/");
}

function query(call: Call): string {
  const members = Object.entries(call.query ?? {})
    .filter(([, value]) => value !== undefined && value !== null)
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => [name, one]))
    .map(([name, value]) => `${name}=${escaped(call, value instanceof Date ? value.toISOString() : String(value))}`);
  return members.length > 0 ? `?${members.join("&")}` : "";
}

function escaped(call: Call, text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw new TypeError(`prism: ${call.operation}: a parameter has an unpaired surrogate`);
  }
}

function attemptsOf(attempts: number): number {
  if (!Number.isInteger(attempts) || attempts < 1) throw new TypeError("prism: attempts is not a whole number above 0");
  return attempts;
}

function object(value: unknown): object {
  if (typeof value !== "object" || value === null) throw new TypeError("not an object");
  return value;
}

const wholeNumber = /"(?:0|[1-9]\d*)"\s*:/;
const texts = /"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?/g;

/**
 * Reads JSON. Members named `answers` and `json` are Maps if one of their names is a whole number, whose place an object does not
 * keep. To read them in order, such names are marked with NUL, which no name has.
 */
export function parse(text: string): unknown {
  if (!wholeNumber.test(text)) return JSON.parse(text);
  const marked =
    text.replace(texts, (found) => (wholeNumber.test(found) && found.endsWith(":") ? `"\\u0000${found.slice(1)}` : found));
  return JSON.parse(marked, (name, value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Map) return value;
    const members = Object.entries(value).map(([member, of]): [string, unknown] => [member.replace("\0", ""), of]);
    return name === "answers" || name === "json" ? new Map(members) : Object.fromEntries(members);
  });
}
