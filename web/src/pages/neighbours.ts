import { type Column, type Sort, sortRows } from '@/design';

/** The keys of the rows before and after the open one, as the table shows them. */
export function neighbours<R>(rows: R[], columns: Column<R>[], sort: Sort, key: (row: R) => string, open: string | undefined) {
  const shown = sortRows(rows, columns, sort).map(key);
  const at = open === undefined ? -1 : shown.indexOf(open);
  return { previous: at > 0 ? shown[at - 1] : undefined, next: at >= 0 ? shown[at + 1] : undefined };
}
