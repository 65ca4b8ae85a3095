import { askRaw } from '@/api';

/** What a download in memory may have, in bytes. A larger one is streamed into a file, or made by prismctl. */
const mostInMemory = 500 * 1024 * 1024;

export class TooLargeError extends Error {
  override name = 'TooLargeError';
  constructor() {
    super('This download has more than 500 MB, which is too much for the memory of a page. '
      + 'Write it straight into a file, or use the command below.');
  }
}

export class CutError extends Error {
  override name = 'CutError';
  constructor(bytes: number) {
    super(`The connection was lost after ${sizeText(bytes)}, so nothing was saved. `
      + 'Download it again, or use the command: it continues where it was cut, but for workbooks.');
  }
}

/** 1.5 KB, 12 MB: in powers of 1,000, as file managers say it. */
export function sizeText(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB'];
  let n = bytes;
  let unit = 0;
  while (n >= 1000 && unit < units.length - 1) {
    n /= 1000;
    unit++;
  }
  return `${unit && n < 10 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
}

/** A name for a file from what it is of: letters, digits and hyphens, with the day in UTC. */
export function fileName(parts: string[], extension: string, now: Date): string {
  const name = parts.map((part) => part.normalize('NFKD').replace(/[^\w.-]+/g, '-').replace(/^[-.]+|[-.]+$/g, ''))
    .filter(Boolean)
    .join('-')
    .slice(0, 120);
  return `${name || 'prism'}-${now.toISOString().slice(0, 10)}.${extension}`;
}

/**
 * Reads a body to its end. `write` takes each piece; more than `most` bytes are a TooLargeError, a lost connection is a CutError.
 */
export async function drain(
  body: ReadableStream<Uint8Array>, write: (piece: Uint8Array<ArrayBuffer>) => unknown, onBytes: (bytes: number) => void,
  most = Infinity,
): Promise<void> {
  const reader = body.getReader();
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw cause instanceof DOMException && cause.name === 'AbortError' ? cause : new CutError(bytes);
    });
    if (done) return;
    bytes += value.length;
    if (bytes > most) {
      await reader.cancel();
      throw new TooLargeError();
    }
    await write(value as Uint8Array<ArrayBuffer>);
    onBytes(bytes);
  }
}

type Picker = (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
const picker = () => (window as unknown as { showSaveFilePicker?: Picker }).showSaveFilePicker?.bind(window);

/** Whether this browser can write a download straight into a file. */
export const canStream = () => picker() !== undefined;

/**
 * Downloads a path of the API, or what it answers to a body, with the session's key, which no link can carry. `stream` writes
 * into a file that the reader chooses, for downloads of any size; without it the browser saves what was gathered in memory.
 */
export async function download(
  path: string, name: string, { stream, onBytes, signal, body }: {
    stream: boolean; onBytes: (bytes: number) => void; signal: AbortSignal; body?: object | undefined;
  },
): Promise<void> {
  const sent = body && { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
  const pick = stream ? picker() : undefined;
  if (pick) {
    const file = await (await pick({ suggestedName: name })).createWritable();
    try {
      const response = await askRaw(path, { signal, ...sent });
      await drain(response.body!, (piece) => file.write(piece), onBytes);
    } catch (cause) {
      await file.abort();
      throw cause;
    }
    return file.close();
  }
  const response = await askRaw(path, { signal, ...sent });
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  await drain(response.body!, (piece) => pieces.push(piece), onBytes, mostInMemory);
  const url = URL.createObjectURL(new Blob(pieces, { type: response.headers.get('Content-Type') ?? 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser reads it after the click
}

/** How csv and tsv are written, beside the format. */
export interface TextStyle {
  bom?: 'true';
  delimiter?: ';';
  safe?: 'true';
}

/** The style that Excel opens as a table, in the language of the reader: where the comma is in numbers, lists have semicolons. */
export function forExcel(format: string, language: string): TextStyle {
  const comma = new Intl.NumberFormat(language).format(1.5).includes(',');
  return { bom: 'true', ...(format === 'csv' && comma && { delimiter: ';' }), safe: 'true' };
}

/** The flags of prismctl for a style. */
export const styleFlags = (style: TextStyle) =>
  `${style.bom ? ' --bom' : ''}${style.delimiter ? ` --delimiter '${style.delimiter}'` : ''}${style.safe ? ' --safe' : ''}`;

/** A path with its query; members that are undefined are left out, and a list is sent once for each of its values. */
export function withQuery(path: string, query: Record<string, string | number | readonly string[] | undefined>): string {
  const set = Object.entries(query).flatMap(([name, value]) =>
    (value === undefined ? [] : [value].flat().map((one) => [name, String(one)])));
  return set.length ? `${path}?${new URLSearchParams(set).toString()}` : path;
}
