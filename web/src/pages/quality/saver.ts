import { ApiError } from '@/api/errors';
import type { LabelQueue } from '@/data/quality';
import type { LabelValue } from '@/questions';

/** Labels of one result that are to be put; null removes one. */
export interface Unsaved {
  result: string;
  labels: Record<string, LabelValue | null>;
  sample: LabelQueue['sample'];
}

export interface SaverState {
  /** Not stored yet, oldest first. */
  waiting: Unsaved[];
  /** What the API refused, with the reason. It is not sent again. */
  refused: { labels: Unsaved; message: string }[];
  /** Why the oldest one could not be stored and is tried again. */
  trouble: string | undefined;
}

const longest = 30_000; // milliseconds between two attempts

/**
 * Stores labels one result after the other, in the order in which they were made, so that an undo never overtakes its label. What
 * cannot be stored now is tried again with growing pauses; what waits is given to `keep` at each change, so that a reload loses
 * nothing.
 */
export class Saver {
  #state: SaverState;
  #listeners = new Set<() => void>();
  #running = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #put: (unsaved: Unsaved) => Promise<unknown>;
  readonly #keep: (waiting: Unsaved[]) => void;

  constructor(put: (unsaved: Unsaved) => Promise<unknown>, keep: (waiting: Unsaved[]) => void, waiting: Unsaved[] = []) {
    this.#put = put;
    this.#keep = keep;
    this.#state = { waiting, refused: [], trouble: undefined };
    if (waiting.length) void this.#run();
  }

  get state(): SaverState {
    return this.#state;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Stores labels soon. Those of a result that still waits, and is not being sent, are sent together. */
  add(unsaved: Unsaved): void {
    const { waiting } = this.#state;
    const last = waiting.at(-1);
    const joins =
      last && last.result === unsaved.result && last.sample === unsaved.sample && !(this.#running && waiting.length === 1);
    const labels = joins ? { ...last.labels, ...unsaved.labels } : unsaved.labels;
    this.#set({ waiting: [...(joins ? waiting.slice(0, -1) : waiting), { ...unsaved, labels }] });
    if (this.#timer === undefined) void this.#run();
  }

  /** Tries again at once, as when the network is back. */
  again(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void this.#run();
  }

  /** Forgets what was refused, once it was read. */
  dismiss(): void {
    this.#set({ refused: [] });
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    for (let next = this.#state.waiting[0]; next; next = this.#state.waiting[0]) {
      try {
        await this.#put(next);
        this.#done({});
      } catch (error) {
        // A session that ended goes on after the next sign-in.
        const passes = !(error instanceof ApiError) || error.passing || error.status === 401;
        const message = error instanceof Error ? error.message : String(error);
        if (passes) {
          this.#set({ trouble: message });
          this.#timer = setTimeout(() => this.again(), Math.min(1000 * 2 ** this.#failures++, longest));
          break;
        }
        this.#done({ refused: [...this.#state.refused, { labels: next, message }] });
      }
    }
    this.#running = false;
  }

  #done(change: Partial<SaverState>): void {
    this.#failures = 0;
    this.#set({ ...change, trouble: undefined, waiting: this.#state.waiting.slice(1) });
  }

  #set(change: Partial<SaverState>): void {
    this.#state = { ...this.#state, ...change };
    if (change.waiting) this.#keep(change.waiting);
    for (const listener of this.#listeners) listener();
  }
}
