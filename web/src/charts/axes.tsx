import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { onKeys } from '@/design/keys';

/**
 * Which of `count` places pointer and arrow keys point at, and what a picture listens with. `nearest` is the place that is the
 * nearest to so many pixels from the left. Without an `initial` place the first arrow key begins at an end.
 */
export function useCrosshair(count: number, nearest: (pixels: number) => number, initial?: number) {
  const [at, setAt] = useState<number>();
  const within = (place: number) => Math.max(0, Math.min(count - 1, place));
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setAt((now) => within((now ?? initial ?? (by > 0 ? -1 : count)) + by));
  };
  const leave = () => setAt(undefined);
  return {
    at: at === undefined ? undefined : Math.min(at, count - 1),
    listeners: {
      tabIndex: 0, onPointerLeave: leave, onBlur: leave, onKeyDown: onKeys(onKey),
      onPointerMove: (event: PointerEvent<SVGSVGElement>) =>
        setAt(within(nearest(event.clientX - event.currentTarget.getBoundingClientRect().left))),
    },
  };
}

interface LevelsProps {
  highest: number;
  left: number;
  right: number;
  y: (value: number) => number;
  format: (value: number) => string;
}

/** Lines at nothing, the middle and the top, with their values on the left. */
export function Levels({ highest, left, right, y, format }: LevelsProps) {
  return [0, highest / 2, highest].map((value) => (
    <g key={value}>
      <line className="grid" x1={left} x2={right} y1={y(value)} y2={y(value)} />
      <text className="axis" x={left - 6} y={y(value) + 4} textAnchor="end">{format(value)}</text>
    </g>
  ));
}

/** The days or times of UTC below a picture, as many as there is room for. */
export function Times({ times, width, x, y }: { times: string[]; width: number; x: (at: number) => number; y: number }) {
  return ticksOf(times.length, width).map((i) => (
    <text key={i} className="axis" x={x(i)} y={y} textAnchor={i === 0 ? 'start' : i === times.length - 1 ? 'end' : 'middle'}>
      {isTime(times[i]!) ? times[i]!.slice(5, 16) : times[i]}
    </text>
  ));
}

/** Whether it is a day or a time, and not words such as `the last day`. */
export const isTime = (time: string) => /^\d{4}-/.test(time);

/** Which of n times have a label, of as many as there is room for: at equal distances, if half as many can be. */
export function ticksOf(n: number, width: number): number[] {
  const most = Math.max(2, Math.floor(width / 90));
  if (n <= most) return Array.from({ length: n }, (_, i) => i);
  for (let parts = most - 1; parts >= most / 2; parts--) {
    if ((n - 1) % parts === 0) return Array.from({ length: parts + 1 }, (_, i) => (i * (n - 1)) / parts);
  }
  return Array.from({ length: most }, (_, i) => Math.round((i * (n - 1)) / (most - 1)));
}
