import type { Schemas } from '@/api';
import type { RunFilter } from '@/data/runs';
import { compact } from '../results/search';

export const statuses =
  ['queued', 'running', 'pausing', 'paused', 'cancelling', 'cancelled', 'finished'] as const satisfies Schemas['RunStatus'][];

export const onlys = ['all', 'ok', 'failed', 'invalid', 'pending'] as const;
export type Only = (typeof onlys)[number];

export interface NewRunSearch {
  prism?: string;
  /** The uploaded file, so that a reload goes on with it. */
  file?: string;
}

export interface RunSearch {
  /** Only rows in this state. */
  only?: Only;
  /** The number of the row that is open beside the table. */
  row?: number;
}

const filled = (value: unknown) =>
  ((typeof value === 'string' || typeof value === 'number') && value !== '' ? String(value) : undefined);

export const runsSearch = (search: Record<string, unknown>): RunFilter =>
  compact({ prism: filled(search.prism), status: statuses.find((status) => status === search.status) });

export const newRunSearch = (search: Record<string, unknown>): NewRunSearch =>
  compact({ prism: filled(search.prism), file: filled(search.file) });

export function runSearch(search: Record<string, unknown>): RunSearch {
  const row = Number(filled(search.row));
  return compact({
    only: onlys.find((only) => only === search.only && only !== 'all'), row: Number.isInteger(row) && row > 0 ? row : undefined,
  });
}
