import { useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent, type MouseEvent, type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState,
} from 'react';
import { editable, Icon, layered, onKeys, onPageKeys, type Sort } from '@/design';
import '@/design/table.css';
import { between, fit, type FitColumn } from './fit';
import './results.css';

interface Props<R> {
  label: string;
  columns: FitColumn<R>[];
  rows: R[];
  rowKey: (row: R) => string;
  open?: string | undefined;
  onOpen?: ((row: R) => void) | undefined;
  /** Rows that can be chosen by space, shift and their boxes. */
  chosen?: ReadonlySet<string>;
  onChoose?: (keys: ReadonlySet<string>) => void;
  /** There are more rows than those: asked for when the end comes near. */
  more?: (() => void) | undefined;
  /** Why the next rows are not there: they load, or failed. */
  tail?: ReactNode;
  stale?: boolean;
  /** The order that the rows have, and how to ask for another one. */
  sort?: Sort;
  onSort?: ((sort: string) => void) | undefined;
  /** Pixels of a row: 32, or 52 with a text of two lines. */
  rowHeight?: 32 | 52;
}

/** A table of any number of rows that scrolls with the page. Only the rows near the window are in the document. */
export function VirtualTable<R>({
  label, columns, rows, rowKey, open, onOpen, chosen, onChoose, more, tail, stale, sort, onSort, rowHeight = 32,
}: Props<R>) {
  const wrap = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const { width, top } = usePlace(wrap, body);
  const [focus, setFocus] = useState<string>();
  const [origin, setOrigin] = useState<string>();
  const wanted = useRef<string>(undefined);
  const virtual = useWindowVirtualizer({
    count: rows.length, estimateSize: () => rowHeight, overscan: 16, scrollMargin: top, scrollPaddingStart: 56,
    scrollPaddingEnd: 8,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const near = last >= rows.length - 30;
  useEffect(() => {
    if (near) more?.();
  }, [near, more]);

  const keys = () => rows.map(rowKey);
  const current = rows.findIndex((row) => rowKey(row) === (focus ?? open));
  const focusRow = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (!row) return;
    wanted.current = rowKey(row);
    setFocus(wanted.current);
    virtual.scrollToIndex(rows.indexOf(row), { align: 'auto' });
    take();
  };
  // The row that is to have the focus may not be in the document before the page has scrolled to it.
  const take = () => {
    const row = wanted.current && body.current?.querySelector<HTMLElement>(`tr[data-key="${CSS.escape(wanted.current)}"]`);
    if (!row) return;
    row.focus({ preventScroll: true });
    wanted.current = undefined;
  };
  useLayoutEffect(take);

  /** Goes to another row: it opens beside the table when one is open there. */
  const step = (by: number) => {
    const from = open !== undefined ? rows.findIndex((row) => rowKey(row) === open) : current;
    const to = from < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, from + by));
    focusRow(to);
    if (open !== undefined && rows[to]) onOpen?.(rows[to]);
  };
  const stepRef = useRef(step);
  useEffect(() => {
    stepRef.current = step;
  });
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || editable(event.target) || layered()) return;
      if (event.key !== 'j' && event.key !== 'k') return;
      event.preventDefault();
      stepRef.current(event.key === 'j' ? 1 : -1);
    };
    return onPageKeys(onKey);
  }, []);

  const choose = (key: string, range: boolean) => {
    const next = new Set(chosen);
    if (range) for (const one of between(keys(), origin, key)) next.add(one);
    else if (!next.delete(key)) next.add(key);
    setOrigin(key);
    onChoose?.(next);
  };
  const onRowKey = (event: KeyboardEvent<HTMLTableRowElement>, row: R, index: number) => {
    const page = Math.max(1, Math.floor(innerHeight / rowHeight) - 4);
    const to = {
      ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: rows.length - 1, PageDown: index + page, PageUp: index - page,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      if (event.shiftKey && onChoose) {
        const target = rows[Math.max(0, Math.min(rows.length - 1, to))]!;
        onChoose(new Set([...(chosen ?? []), ...between(keys(), rowKey(row), rowKey(target))]));
      }
      focusRow(to);
    } else if (event.target !== event.currentTarget) {
      return;
    } else if (event.key === 'Enter') {
      event.preventDefault();
      onOpen?.(row);
    } else if ((event.key === ' ' || event.key === 'x') && onChoose) {
      event.preventDefault();
      choose(rowKey(row), event.shiftKey);
    }
  };
  const onRowClick = (event: MouseEvent, row: R) => {
    if (event.target instanceof Element && event.target.closest('a, button, input, label')) return;
    if (getSelection()?.toString()) return;
    if (event.shiftKey && onChoose) choose(rowKey(row), true);
    else {
      setFocus(rowKey(row));
      onOpen?.(row);
    }
  };

  const boxes = onChoose ? 32 : 0;
  const shown = fit(columns, width - boxes);
  const [before, after] = [
    items[0] ? items[0].start - virtual.options.scrollMargin : 0,
    items.length ? virtual.getTotalSize() - (items.at(-1)!.end - virtual.options.scrollMargin) : 0,
  ];
  const reachable = items.some((item) => item.index === current)
    ? current : (items.find((item) => item.start >= (virtual.scrollOffset ?? 0))?.index ?? items[0]?.index);
  const all = chosen && rows.length > 0 && rows.every((row) => chosen.has(rowKey(row)));
  return (
    <div className="virtual" ref={wrap} data-tall={rowHeight === 52 || undefined} data-narrow={width < 480 || undefined}>
      <table className="table" aria-label={label} aria-rowcount={more ? -1 : rows.length + 1} aria-busy={stale || undefined}>
        <colgroup>
          {onChoose && <col style={{ width: boxes }} />}
          {shown.map(({ column, width: w }) => <col key={column.id} style={{ width: w }} />)}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {onChoose && (
              <th scope="col">
                <label className="virtual-box">
                  <input type="checkbox" aria-label="Select the loaded rows" checked={Boolean(all)}
                    onChange={() => onChoose(new Set(all ? [] : keys()))} />
                </label>
              </th>
            )}
            {shown.map(({ column }) => (
              <Head key={column.id} {...{ column, sort, onSort }} />
            ))}
          </tr>
        </thead>
        <tbody ref={body} className={onOpen ? 'opens' : undefined}>
          {before > 0 && <Space height={before} />}
          {items.map((item) => {
            const row = rows[item.index]!;
            const key = rowKey(row);
            return (
              <tr key={key} data-key={key} aria-rowindex={item.index + 2} tabIndex={item.index === reachable ? 0 : -1}
                aria-current={key === open || undefined} data-chosen={chosen?.has(key) || undefined}
                onFocus={(event) => { if (event.target === event.currentTarget) setFocus(key); }}
                onKeyDown={onKeys((event) => onRowKey(event, row, item.index))} onClick={(event) => onRowClick(event, row)}>
                {onChoose && (
                  <td>
                    <label className="virtual-box">
                      <input type="checkbox" tabIndex={-1} aria-label={`Select row ${item.index + 1}`}
                        checked={chosen?.has(key) ?? false}
                        onClick={(event) => choose(key, event.shiftKey)} onChange={() => undefined} />
                    </label>
                  </td>
                )}
                {shown.map(({ column }) => (
                  <td key={column.id} className={column.align ? `clip ${column.align}` : 'clip'} title={column.title?.(row)}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          {after > 0 && <Space height={after} />}
        </tbody>
      </table>
      {tail && <div className="virtual-tail">{tail}</div>}
    </div>
  );
}

/** A head by which rows can be sorted: pressed once the way that people ask for most, twice the other one. */
function Head<R>({ column, sort, onSort }: {
  column: FitColumn<R>; sort: Sort; onSort: ((sort: string) => void) | undefined;
}) {
  const className = column.align ? `clip ${column.align}` : 'clip';
  const by = column.sort;
  if (!by || !onSort) return <th scope="col" className={className}>{column.head}</th>;
  const state = sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : undefined;
  return (
    <th scope="col" className={className} aria-sort={state}>
      <button type="button" className="sort" onClick={() => onSort(state === 'descending' ? by : `-${by}`)}>
        <span>{column.head}</span>
        <Icon name={state === 'ascending' ? 'up' : 'down'} />
      </button>
    </th>
  );
}

/** Keeps the place of rows that are not in the document. */
const Space = ({ height }: { height: number }) => <tr aria-hidden="true" className="virtual-space"><td style={{ height }} /></tr>;

/** The width of a table's wrap, and how far its rows are from the top of the page, in pixels. */
function usePlace(wrap: RefObject<HTMLElement | null>, body: RefObject<HTMLElement | null>): { width: number; top: number } {
  const [place, setPlace] = useState({ width: 0, top: 0 });
  useLayoutEffect(() => {
    const element = wrap.current!;
    const measure = () => {
      const width = Math.floor(element.getBoundingClientRect().width);
      const top = Math.round(body.current!.getBoundingClientRect().top + scrollY);
      setPlace((old) => (old.width === width && old.top === top ? old : { width, top }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    observer.observe(document.body);
    observer.observe(body.current!);
    return () => observer.disconnect();
  }, [wrap, body]);
  return place;
}
