import { askRaw, type Schemas } from '@/api';

type Run = Schemas['Run'];

interface ServerEvent {
  event: string;
  data: string;
}

/**
 * Takes a text/event-stream piece by piece, as the standard says it is read; a piece may end anywhere, also between \r and \n.
 */
export class EventReader {
  #line = '';
  #event = '';
  #data: string[] = [];
  #cr = false;

  /** The events that a piece completes. */
  read(piece: string): ServerEvent[] {
    const found: ServerEvent[] = [];
    for (const char of piece) {
      if (char === '\n' && this.#cr) {
        this.#cr = false;
        continue;
      }
      this.#cr = char === '\r';
      if (char === '\n' || char === '\r') this.#end(found);
      else this.#line += char;
    }
    return found;
  }

  #end(found: ServerEvent[]): void {
    const line = this.#line;
    this.#line = '';
    if (line === '') {
      if (this.#data.length) found.push({ event: this.#event || 'message', data: this.#data.join('\n') });
      this.#event = '';
      this.#data = [];
      return;
    }
    const at = line.indexOf(':');
    const [name, value] = at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')];
    if (name === 'event') this.#event = value;
    else if (name === 'data') this.#data.push(value);
  }
}

/** Whether a run changes no more by itself. */
export const over = ({ status }: Pick<Run, 'status'>) => status === 'finished' || status === 'cancelled';

/** Whether a run changes by itself. */
export const moving = ({ status }: Pick<Run, 'status'>) => !over({ status }) && status !== 'paused';

/** The events of a run until the stream ends. EventSource cannot carry the key, so the stream is read from a response. */
export async function follow(id: string, told: (run: Run) => void, signal: AbortSignal): Promise<void> {
  const response = await askRaw(`/v1/runs/${id}/events`, { signal, headers: { Accept: 'text/event-stream' } });
  const pieces =
    response.body!.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  const events = new EventReader();
  for (;;) {
    const { done, value } = await pieces.read();
    if (done) return;
    for (const { event, data } of events.read(value)) if (event === 'run') told(JSON.parse(data) as Run);
  }
}
