import { type CSSProperties, type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useMemo, useRef } from 'react';
import { editable, layered, onKeys, onPageKeys } from './keys';
import { Icon } from './icons';
import './table.css';

export interface Column<R> {
  id: string;
  head: ReactNode;
  cell: (row: R) => ReactNode;
  /** Numbers end-align. */
  align?: 'end';
  /** The least CSS width where there is room, such as `8rem`. Columns of text without one share the rest, and cut it. */
  width?: string;
  /** Makes the column sortable by this value; null sorts last. For rows that the server sorts, `true`. */
  sort?: ((row: R) => string | number | null | undefined) | true;
  /** `wide`: left out where the table has less than 640 px. */
  show?: 'wide';
}

/** `name` ascending, `-name` descending. */
export type Sort = string | undefined;

interface Props<R> {
  /** Says what the rows are, for assistive technology. */
  label: string;
  columns: Column<R>[];
  rows: R[];
  rowKey: (row: R) => string;
  /** The key of the row that is open beside the table. */
  open?: string | undefined;
  /** Enter or a click. Without it rows only show. */
  onOpen?: (row: R) => void;
  sort?: Sort;
  onSort?: (sort: Sort) => void;
  /** Old rows are shown while new ones load. */
  stale?: boolean;
  /** Shown in place of rows when there are none. */
  empty?: ReactNode;
  /** j and k work without focus in the table. At most one table of a page; true unless said otherwise. */
  main?: boolean;
}

/** A table for lists: arrow keys or j and k move, Enter opens, heads sort. */
export function Table<R>({ label, columns, rows, rowKey, open, onOpen, sort, onSort, stale, empty, main = true }: Props<R>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const sorted = useMemo(() => sortRows(rows, columns, sort), [rows, columns, sort]);

  const move = (by: number) => {
    const all = [...(body.current?.querySelectorAll<HTMLElement>('tr[tabindex]') ?? [])];
    const at = all.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
    const from = at >= 0 ? at : all.findIndex((row) => row.getAttribute('aria-current') === 'true');
    all[from < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, from + by))]?.focus();
  };
  useEffect(() => {
    if (!main) return;
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || editable(event.target) || layered()) return;
      if (event.key !== 'j' && event.key !== 'k') return;
      event.preventDefault();
      move(event.key === 'j' ? 1 : -1);
    };
    return onPageKeys(onKey);
  }, [main]);

  const onRowKey = (event: KeyboardEvent<HTMLTableRowElement>, row: R) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      move(event.key === 'ArrowDown' ? 1 : -1);
    } else if (event.key === 'Enter' && event.target === event.currentTarget) {
      event.preventDefault();
      onOpen?.(row);
    }
  };

  if (rows.length === 0 && empty) return <>{empty}</>;
  const current = sorted.findIndex((row) => rowKey(row) === open);
  return (
    <div className="table-wrap">
      <table className="table" aria-label={label} aria-busy={stale || undefined}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.id} {...{ column, sort, onSort }}
                share={grows(column) ? 100 / columns.filter(grows).length : undefined} />
            ))}
          </tr>
        </thead>
        <tbody ref={body} className={onOpen ? 'opens' : undefined}>
          {sorted.map((row, index) => (
            <tr key={rowKey(row)} tabIndex={index === Math.max(0, current) ? 0 : -1} aria-current={index === current || undefined}
              onKeyDown={onKeys((event) => onRowKey(event, row))}
              onClick={onOpen && ((event) => { if (!pressedControl(event.target)) onOpen(row); })}>
              {columns.map((column) => (
                <td key={column.id} className={classOf(column)} onPointerEnter={sayCut}>{column.cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface HeadProps<R> {
  column: Column<R>;
  sort: Sort;
  onSort?: ((sort: Sort) => void) | undefined;
  share: number | undefined;
}

function Head<R>({ column, sort, onSort, share }: HeadProps<R>) {
  const state = sort === column.id ? 'ascending' : sort === `-${column.id}` ? 'descending' : undefined;
  const style = { '--share': share && `${share}%`, '--least': column.width } as CSSProperties;
  if (!column.sort || !onSort) return <th scope="col" className={classOf(column)} style={style}>{column.head}</th>;
  const next = state === 'ascending' ? `-${column.id}` : state === 'descending' ? undefined : column.id;
  return (
    <th scope="col" className={classOf(column)} style={style} aria-sort={state}>
      <button type="button" className="sort" onClick={() => onSort(next)}>
        <span>{column.head}</span>
        <Icon name={state === 'descending' ? 'down' : 'up'} />
      </button>
    </th>
  );
}

// Columns of text without a width share what the others leave; their text is cut, so that a row is one line.
const grows = <R,>({ width, align }: Column<R>) => !width && !align;

const classOf = <R,>(column: Column<R>) =>
  [column.align, column.show, grows(column) && 'grows'].filter(Boolean).join(' ') || undefined;

/** A cut text is whole in the tooltip. */
function sayCut({ currentTarget: cell }: PointerEvent<HTMLTableCellElement>): void {
  if (cell.scrollWidth > cell.clientWidth) cell.title = cell.textContent ?? '';
  else cell.removeAttribute('title');
}

const pressedControl = (target: EventTarget) =>
  target instanceof Element && target.closest('a, button, input, select, label') !== null;

/** The rows in the order of the sort; rows with equal values keep their order. */
export function sortRows<R>(rows: R[], columns: Column<R>[], sort: Sort): R[] {
  const descending = sort?.startsWith('-');
  const value = columns.find((column) => column.id === (descending ? sort?.slice(1) : sort))?.sort;
  if (typeof value !== 'function') return rows;
  const compare = (a: string | number, b: string | number) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x == null || y == null) return Number(x == null) - Number(y == null);
    return descending ? compare(y, x) : compare(x, y);
  });
}
