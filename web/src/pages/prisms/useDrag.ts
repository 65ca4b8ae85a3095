import { type RefObject, useEffect, useRef, useState } from 'react';

/** The place of an item that is held at `y`, among rows from top to bottom of which it is at `from`. */
export function placeAt(y: number, rows: { top: number; bottom: number }[], from: number): number {
  const middle = (at: number) => (rows[at]!.top + rows[at]!.bottom) / 2;
  let to = from;
  while (to > 0 && y < middle(to - 1)) to--;
  while (to < rows.length - 1 && y > middle(to + 1)) to++;
  return to;
}

/**
 * Items of a list that are dragged by a handle: `hold` takes the one with this id until the pointer is let go. The list may move
 * the handle in the document meanwhile, so that the document is what listens.
 */
export function useDrag(list: RefObject<HTMLElement | null>, ids: string[], move: (from: number, by: number) => void) {
  const [held, hold] = useState<string>();
  const latest = useRef({ ids, move });
  useEffect(() => { latest.current = { ids, move }; });
  useEffect(() => {
    if (held === undefined) return;
    const onMove = (event: PointerEvent) => {
      const from = latest.current.ids.indexOf(held);
      if (!list.current || from < 0) return;
      const to = placeAt(event.clientY, [...list.current.children].map((row) => row.getBoundingClientRect()), from);
      if (to !== from) latest.current.move(from, to - from);
    };
    const drop = () => hold(undefined);
    document.addEventListener('pointermove', onMove);
    document.addEventListener('pointerup', drop);
    document.addEventListener('pointercancel', drop);
    return () => {
      document.removeEventListener('pointermove', onMove);
      document.removeEventListener('pointerup', drop);
      document.removeEventListener('pointercancel', drop);
    };
  }, [held, list]);
  return { held, hold };
}
