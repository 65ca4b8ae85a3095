import type { FailedResult, FailedTry, File, Schemas } from "./types.js";

/**
 * The kind of a refusal. Branch on it, not on the message.
 *
 * - `validation_failed`: the request is invalid; {@link ValidationError} has its problems
 * - `bad_request`: the request cannot be read: malformed, too large, of another content type
 * - `unauthorized`: the key is missing, unknown, revoked or expired (401), or its role does not allow the call (403)
 * - `not_found`: it does not exist, or the prism is archived
 * - `conflict`: it was done already, or the state does not allow it
 * - `internal_error`: a bug of the server
 * - `unavailable`: the 503 of a server that did nothing; {@link UnavailableError}
 * - `unexpected`: not a response of Prism: a proxy's page, a redirect, JSON of another shape
 */
export type Code = Schemas["Error"]["error"]["code"] | "unavailable" | "unexpected";

/** What every error of a call has. */
export interface Circumstances {
  /** The operation, such as `createResult`. */
  operation: string;
  /** Names the request in the server's logs. Undefined without a response. */
  requestId?: string | undefined;
  /** The idempotency key of the call. The same call with this key is a repeat. Undefined for calls without one. */
  idempotencyKey?: string | undefined;
}

/** The base of every error of a call. None contains the API key, an address with its query, or a value that was sent. */
export class PrismError extends Error implements Circumstances {
  override name = "PrismError";
  readonly operation: string;
  readonly requestId: string | undefined;
  readonly idempotencyKey: string | undefined;

  constructor(message: string, at: Circumstances, options?: ErrorOptions) {
    super(`prism: ${at.operation}: ${message}`, options);
    this.operation = at.operation;
    this.requestId = at.requestId;
    this.idempotencyKey = at.idempotencyKey;
  }
}

/** Prism refused the call. */
export class ApiError extends PrismError {
  override name = "ApiError";
  /** The status of the response. */
  readonly status: number;
  readonly code: Code;
  /** The message of the response, for people. */
  readonly text: string;
  /** The seconds that the server asks to wait before a repeat; undefined if it does not ask. */
  readonly retryAfter: number | undefined;

  constructor(at: Circumstances, status: number, code: Code, text: string, retryAfter?: number) {
    super(`${status} ${code}: ${text}`, at);
    this.status = status;
    this.code = code;
    this.text = text;
    this.retryAfter = retryAfter;
  }
}

/** One problem of a request. */
export interface Problem {
  /** Where it is, such as `fields.message` or `questions.0.text`; empty for a problem of the whole request. */
  path: string;
  message: string;
}

/** The request is invalid: the `validation_failed` of a 400. */
export class ValidationError extends ApiError {
  override name = "ValidationError";
  /** Every problem of the request, in the order of the message. */
  get problems(): Problem[] {
    return problemsOf(this.text);
  }
}

/** Prism did nothing: it is stopping or overloaded, or the account is over a limit. Repeat the call after `retryAfter`. */
export class UnavailableError extends ApiError {
  override name = "UnavailableError";
}

/** The model gave no usable answer. The result is saved, and can be retried once. Nothing is saved of `tryDefinition`. */
export class FailedError extends PrismError {
  override name = "FailedError";
  /** The failed result. Undefined if the format was csv, tsv or jsonl, and for a try. */
  readonly result: FailedResult | undefined;
  /** The failed try. Undefined for a result. */
  readonly try: FailedTry | undefined;
  /** The failed result in the requested format. */
  readonly body: string;

  constructor(at: Circumstances, body: string, failed: { result?: FailedResult; try?: FailedTry }) {
    const { result } = failed;
    super(result ? `result ${result.id} failed: ${result.error}` : (failed.try?.error ?? "the result failed"), at);
    this.result = result;
    this.try = failed.try;
    this.body = body;
  }
}

/** There is no complete response. `cause` says why: it is the signal's reason if the caller's signal was aborted. */
export class ConnectionError extends PrismError {
  override name = "ConnectionError";
  /** Whether Prism may have received the call. A create may then have saved a result. */
  readonly sent: boolean;
  /** Whether the call, one of its attempts or a read of the response took too long. */
  readonly timedOut: boolean;
  /** Whether the caller's signal was aborted. */
  readonly aborted: boolean;

  constructor(at: Circumstances, cause: unknown, is: { sent: boolean; timedOut?: boolean; aborted?: boolean }) {
    super(`no response: ${is.timedOut ? "it took too long" : reason(cause)}`, at, { cause });
    this.sent = is.sent;
    this.timedOut = is.timedOut ?? false;
    this.aborted = is.aborted ?? false;
  }
}

/** Prism cannot read an uploaded file. */
export class UnusableFileError extends PrismError {
  override name = "UnusableFileError";
  readonly file: File;

  constructor(file: File) {
    super(`the file is unusable: ${file.error ?? "no reason is known"}`, { operation: "uploadFile" });
    this.file = file;
  }
}

// The innermost cause is the one that says something: that of fetch is only "fetch failed".
function reason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error && cause.cause.message !== "" ? cause.cause.message : cause.message;
}

// spec: validation-message, error-missing-fields, error-unknown-fields
function problemsOf(text: string): Problem[] {
  const listed = /^(Missing|Unknown) fields: (.*)$/s.exec(text);
  if (listed) {
    const message = listed[1] === "Missing" ? "Required" : "Unknown field";
    return listed[2]!.split(", ").map((key) => ({ path: `fields.${key}`, message }));
  }
  const invalid = /^Invalid request: (.*)$/s.exec(text);
  if (!invalid) return [{ path: "", message: text }];
  const problems: Problem[] = [];
  for (const part of invalid[1]!.split("; ")) {
    const problem = /^(.*?): (.*)$/s.exec(part);
    const before = problems.at(-1);
    if (problem) problems.push({ path: problem[1]!, message: problem[2]! });
    else if (before) before.message += `; ${part}`;
    else problems.push({ path: "", message: part });
  }
  return problems;
}
