import { askRaw } from '@/api';
import { withQuery } from '../results/download';
import type { Only } from './search';

/** A row of a run as the download has it: the columns of the file, then those of Prism, then those of the Lens. */
export interface Row {
  row: number;
  result: string;
  status: string;
  error: string;
  /** The cells of the file by column, in its order. */
  cells: [string, unknown][];
  answers: [string, unknown][];
}

const own = ['prism_row', 'prism_result_id', 'prism_status', 'prism_error'];

/** A line of the download. The four columns of Prism stand together behind those of the file, which may have their names too. */
export function rowOf(line: string): Row {
  const entries = Object.entries(JSON.parse(line) as Record<string, unknown>);
  const at = entries.findIndex((_, i) => own.every((name, n) => entries[i + n]?.[0].endsWith(name)));
  const [row, result, status, error] = entries.slice(at, at + 4).map(([, value]) => value);
  return {
    row: Number(row), result: String(result ?? ''), status: String(status), error: String(error ?? ''),
    cells: entries.slice(0, at), answers: entries.slice(at + 4),
  };
}

/** The whole lines of what was read so far, and the rest. */
export function lines(text: string): { whole: string[]; rest: string } {
  const all = text.split('\n');
  const rest = all.pop()!;
  return { whole: all.filter(Boolean), rest };
}

/** Up to `limit` rows behind a row: the download is begun, and ended when they are there. */
export async function readRows(run: string, only: Only, after: number, limit: number, signal: AbortSignal): Promise<Row[]> {
  const ended = new AbortController();
  const response = await askRaw(
    withQuery(`/v1/runs/${run}/rows`, { format: 'jsonl', only, after }), { signal: AbortSignal.any([signal, ended.signal]) },
  );
  const pieces =
    response.body!.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  const found: Row[] = [];
  let rest = '';
  while (found.length < limit) {
    const { done, value } = await pieces.read();
    if (done) return found;
    const read = lines(rest + value);
    rest = read.rest;
    for (const line of read.whole) if (found.length < limit) found.push(rowOf(line));
  }
  ended.abort();
  return found;
}

/** The place of the column that has most text: what a person reads of a row. Undefined for no rows. */
export function textOf(rows: Row[]): number | undefined {
  const sums = (rows[0]?.cells ?? []).map((_, index) =>
    rows.reduce((sum, { cells }) => sum + (typeof cells[index]?.[1] === 'string' ? cells[index][1].length : 0), 0));
  return sums.length ? sums.indexOf(Math.max(...sums)) : undefined;
}
