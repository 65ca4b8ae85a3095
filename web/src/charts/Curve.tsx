import { exactly } from '@/design/numbers';
import { niceMax } from './Area';
import { Levels, useCrosshair } from './axes';
import { Figure } from './Figure';
import { useWidth } from './width';
import './charts.css';

/** A line over 0 to 1, of points in rising order of x. */
export interface Line {
  label: string;
  points: { x: number; y: number }[];
}

const height = 240;
const [top, right, bottom, left] = [8, 12, 40, 52]; // room for the axes, in pixels

interface Props {
  label: string;
  title?: string;
  lines: Line[];
  axes: { x: string; y: string };
  wordsOf: (index: number) => string;
  marks?: { x: number; label: string }[];
  initial: number;
  formatX: (x: number) => string;
  formatY: (y: number) => string;
}

/**
 * At most 4 lines over a share or probability, with a crosshair for pointer and arrow keys. `wordsOf` says what is at a point of
 * the first line, at first of point `initial`; `marks` are places on the x axis that have a name.
 */
export function Curve({ label, title, lines, axes, wordsOf, marks = [], initial, formatX, formatY }: Props) {
  const [width, ref] = useWidth();
  const points = lines[0]?.points ?? [];
  const highest = niceMax(Math.max(0, ...lines.flatMap((line) => line.points.map((point) => point.y))));
  const x = (value: number) => left + value * (width - left - right);
  const y = (value: number) => height - bottom - ((height - top - bottom) * value) / highest;
  const { at, listeners } = useCrosshair(points.length, (pixels) => {
    const value = (pixels - left) / (width - left - right);
    return points.reduce((best, point, i) => (Math.abs(point.x - value) < Math.abs(points[best]!.x - value) ? i : best), 0);
  }, initial);
  const current = Math.max(0, Math.min(at ?? initial, points.length - 1));
  return (
    <Figure label={label} title={title} data={{
      head: [axes.x, ...lines.map((line) => (lines.length > 1 ? `${axes.y}: ${line.label}` : axes.y))],
      rows: points.map((point, i) => [exactly(point.x), ...lines.map((line) => exactly(line.points[i]!.y))]),
    }}>
      <div className="plot" ref={ref}>
        <p className="plot-words" aria-live="polite">{points[current] && wordsOf(current)}</p>
        {lines.length > 1 && (
          <p className="plot-legend">{lines.map((line, i) => (
            <span key={line.label} className={`series-${i + 1}`}><b aria-hidden="true" />{line.label}</span>
          ))}</p>
        )}
        <svg width={width} height={height} role="img" aria-label={`${label}. Arrow keys read the values.`} {...listeners}>
          <Levels {...{ highest, left, y }} right={width - right} format={formatY} />
          {[0, 0.25, 0.5, 0.75, 1].map((value) => (
            <text key={value} className="axis" x={x(value)} y={height - bottom + 15} textAnchor={value === 1 ? 'end' : 'middle'}>
              {formatX(value)}
            </text>
          ))}
          <text className="axis" x={x(0.5)} y={height - 6} textAnchor="middle">{axes.x}</text>
          {marks.map((mark, i) => (
            <g key={mark.label}>
              <line className="mark" x1={x(mark.x)} x2={x(mark.x)} y1={top} y2={height - bottom} />
              <text className="axis" x={x(mark.x) + (mark.x > 0.7 ? -4 : 4)} y={top + 10 + 14 * i}
                textAnchor={mark.x > 0.7 ? 'end' : 'start'}>
                {mark.label}
              </text>
            </g>
          ))}
          {lines.map((line, i) => (
            <g key={line.label} className={`series-${i + 1}`}>
              <polyline points={line.points.map((point) => `${x(point.x)},${y(point.y)}`).join(' ')} />
              {line.points[current] && <circle cx={x(line.points[current].x)} cy={y(line.points[current].y)} r="3.5" />}
            </g>
          ))}
          {at !== undefined && points[current] && (
            <line className="crosshair" x1={x(points[current].x)} x2={x(points[current].x)} y1={top} y2={height - bottom} />
          )}
        </svg>
      </div>
    </Figure>
  );
}
