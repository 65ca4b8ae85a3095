/** A problem of a request: the path of the member in the body or the parameter's name, and what is wrong with it. */
export interface Problem {
  path: string;
  message: string;
}

/** Each error of a call. `status` is 0 when no response arrived: no network, or Prism is down. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  readonly code: string;
  /** Names the call in Prism's logs. Empty when no response arrived. */
  readonly requestId: string;
  /** The problems of a request with status 400, by path. Empty for other errors. */
  readonly problems: Problem[];

  constructor(status: number, code: string, message: string, requestId = '') {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.problems = code === 'validation_failed' ? problemsOf(message) : [];
  }

  /** Whether the same call may succeed later: no response, too many calls, or a failure of the server. */
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }

  /** The message of the problem at a path, for a field that shows it. */
  problem(path: string): string | undefined {
    return this.problems.find((p) => p.path === path)?.message;
  }
}

const prefix = 'Invalid request: ';

/** Reads the problems out of the API's message, `Invalid request: path: text; path: text`. */
export function problemsOf(message: string): Problem[] {
  if (!message.startsWith(prefix)) return [];
  return message
    .slice(prefix.length)
    .split(/; (?=[^\s;]+: )/)
    .map((text) => {
      const at = text.indexOf(': ');
      return at < 0 ? { path: '', message: text } : { path: text.slice(0, at), message: text.slice(at + 2) };
    });
}

/** The error that a response states in the API's form. */
export function errorOf(response: Response, body: unknown): ApiError {
  const stated = (body as { error?: { code?: unknown; message?: unknown } } | undefined)?.error;
  const code = typeof stated?.code === 'string' ? stated.code : 'unknown';
  const message = typeof stated?.message === 'string' ? stated.message
    : response.status === 503 ? 'Prism is busy, or starts again.'
    : `The server answered ${response.status} without a message.`;
  return new ApiError(response.status, code, message, response.headers.get('X-Request-Id') ?? '');
}

/** The error of a call that got no response. An aborted call keeps its own error. */
export function errorOfNetwork(cause: unknown): unknown {
  if (cause instanceof ApiError || (cause instanceof DOMException && cause.name === 'AbortError')) return cause;
  return new ApiError(0, 'no_response', navigator.onLine ? 'Prism does not respond.' : 'This machine is offline.');
}
