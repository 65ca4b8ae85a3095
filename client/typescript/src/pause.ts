import { ApiError, type Circumstances, ConnectionError } from "./errors.js";

/** What bounds a call: its signal, and the time of performance.now() at which it ends. */
export interface Bounds {
  signal?: AbortSignal | undefined;
  end: number;
}

// The longest pause in seconds that a server can ask for: behind it, the caller decides whether to try again.
const maxRetryAfter = 60;

/** How long to pause, in milliseconds: each pause is up to twice the one before, up to `most`. */
export class Pauses {
  readonly #first: number;
  readonly #most: number;

  constructor(first: number, most: number) {
    this.#first = first;
    this.#most = most;
  }

  /**
   * Makes the pause after attempt n: a random part of it, so that clients that failed together do not return together, and at
   * least the seconds that the server asked for. It resolves to false if the signal is aborted before the pause ends, and at once
   * if the bounds end before the pause does or the server asks for more than a minute.
   */
  async wait(n: number, asked: number, bounds: Bounds): Promise<boolean> {
    if (asked > maxRetryAfter || bounds.signal?.aborted) return false;
    const longest = Math.min(this.#first * 2 ** Math.min(n - 1, 16), this.#most);
    const pause = Math.max(longest / 2, asked * 1000) + (Math.random() * longest) / 2;
    if (performance.now() + pause >= bounds.end) return false;
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        bounds.signal?.removeEventListener("abort", finish);
        resolve(!bounds.signal?.aborted);
      };
      const timer = setTimeout(finish, pause);
      bounds.signal?.addEventListener("abort", finish);
    });
  }

  /** Makes the pause after poll n of something that goes on, or throws a ConnectionError if it cannot. */
  async must(n: number, bounds: Bounds, operation: string): Promise<void> {
    if (await this.wait(n, 0, bounds)) return;
    leaveIfAborted({ operation }, bounds.signal);
    throw new ConnectionError({ operation }, undefined, { sent: true, timedOut: true });
  }
}

/** Throws a ConnectionError if the signal was aborted. */
export function leaveIfAborted(at: Circumstances, signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new ConnectionError(at, signal.reason, { sent: false, aborted: true });
}

/** The seconds that the server asked to wait; 0 if it did not ask. */
export const retryAfter = (error: unknown): number => (error instanceof ApiError ? (error.retryAfter ?? 0) : 0);

/**
 * How often a step of something that takes long may fail in a row without progress: half a minute or more, in which a server
 * restarts.
 */
export const patience = 10;

/** Repeats a step that fails for a reason that may pass, until it succeeds. `progress` tells how far the steps came. */
export async function patiently<T>(
  pauses: Pauses, bounds: Bounds, step: () => Promise<T>, progress: () => number = () => 0,
): Promise<T> {
  for (let n = 1; ; n++) {
    const before = progress();
    try {
      return await step();
    } catch (error) {
      if (progress() > before) n = 1;
      if (n >= patience || !mayPass(error) || !(await pauses.wait(n, retryAfter(error), bounds))) throw error;
    }
  }
}

/** Whether an error may be gone at the next try. */
export function mayPass(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ApiError && error.status >= 500);
}
