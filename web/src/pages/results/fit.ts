/** A column of a virtual table. Widths are fixed, so that rows which come and go do not move the columns. */
export interface FitColumn<R> {
  id: string;
  head: React.ReactNode;
  cell: (row: R) => React.ReactNode;
  /** The exact value, for the title and for copying. */
  title?: (row: R) => string | undefined;
  /** Least pixels. Columns share what is left in proportion to `grow`. */
  width: number;
  /** Least pixels where the table has less than 480; `width` unless said otherwise. */
  narrow?: number;
  grow?: number;
  align?: 'end';
  /** What the API sorts by, for a head that sorts. */
  sort?: string | undefined;
  /** Columns with higher numbers are left out first where there is no room; 0 always stays. */
  rank: number;
}

/** The columns for which there is room, in their order, with the width of each in pixels. At most one column stays too wide. */
export function fit<R>(columns: FitColumn<R>[], width: number): { column: FitColumn<R>; width: number }[] {
  const kept = new Set<FitColumn<R>>();
  let left = width;
  const least = (column: FitColumn<R>) => (width < 480 ? (column.narrow ?? column.width) : column.width);
  for (const column of [...columns].sort((a, b) => a.rank - b.rank)) {
    if (column.rank > 0 && least(column) > left) break;
    kept.add(column);
    left -= least(column);
  }
  const shown = columns.filter((column) => kept.has(column));
  const shares = shown.reduce((sum, { grow = 0 }) => sum + grow, 0);
  const spare = Math.max(0, left);
  return shown.map((column) => ({
    column, width: Math.floor(least(column) + (shares ? (spare * (column.grow ?? 0)) / shares : spare / shown.length)),
  }));
}

/** The keys from one row to another, in the order of the rows, both included. A row that is gone stands for the other. */
export function between(keys: string[], from: string | undefined, to: string): string[] {
  const end = keys.indexOf(to);
  const start = from === undefined ? end : keys.indexOf(from);
  if (end < 0) return [];
  if (start < 0) return [to];
  return keys.slice(Math.min(start, end), Math.max(start, end) + 1);
}
