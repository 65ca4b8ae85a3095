import { exactly, short, shown } from '@/design/numbers';
import { isTime, Levels, Times, useCrosshair } from './axes';
import { Figure } from './Figure';
import { useWidth } from './width';
import './charts.css';

export interface Series {
  label: string;
  /** One for each time; null leaves a gap. */
  values: (number | null)[];
  /** A line alone, for a bound that the others are compared with. */
  bare?: boolean;
  /** Counts failures, which are red wherever they are drawn. */
  bad?: boolean;
}

const height = 140;
const [top, bottom, left] = [8, 22, 52]; // room for the axes, in pixels

interface AreaChartProps {
  label: string;
  title?: string;
  times: string[];
  series: Series[];
  format?: (value: number) => string;
  axis?: (value: number) => string;
}

/**
 * At most 4 series over time as areas, with a crosshair for pointer and arrow keys. `times` are days or times in UTC, equally far
 * apart.
 */
export function AreaChart({ label, title, times, series, format = shown, axis = short }: AreaChartProps) {
  const [width, ref] = useWidth();
  const highest = niceMax(Math.max(0, ...series.flatMap((s) => s.values.map((v) => v ?? 0))));
  const right = width - 8;
  const x = (i: number) => times.length < 2 ? (left + right) / 2 : left + ((right - left) * i) / (times.length - 1);
  const y = (value: number) => height - bottom - ((height - top - bottom) * value) / highest;
  const { at: current, listeners } = useCrosshair(times.length,
    (pixels) => Math.round(((pixels - left) / (right - left)) * (times.length - 1)));
  return (
    <Figure label={label} title={title}
      data={{
        head: ['UTC', ...series.map((s) => s.label)], rows: times.map((t, i) => [t, ...series.map((s) => numberOf(s.values[i]))]),
      }}>
      <div className="area" ref={ref}>
        <p className="area-legend" aria-live="polite">
          {series.map((s, i) => (
            <span key={s.label} className={classOf(s, i)}>
              <b aria-hidden="true" />{s.label}{' '}
              <strong className="num">
                {current === undefined ? '' : s.values[current] == null ? '–' : format(s.values[current])}
              </strong>
            </span>
          ))}
          <span className="soft num">{current !== undefined && `${times[current]}${isTime(times[current]!) ? ' UTC' : ''}`}</span>
        </p>
        <svg width={width} height={height} role="img" aria-label={`${label}. Arrow keys read the values.`} {...listeners}>
          <Levels {...{ highest, left, right, y }} format={axis} />
          <Times {...{ times, width, x }} y={height - 6} />
          {series.map((s, i) => (
            <g key={s.label} className={classOf(s, i)}>
              {runs(s.values).map(([from, to]) => {
                const line = Array.from({ length: to - from }, (_, k) => `${x(from + k)},${y(s.values[from + k]!)}`);
                return (
                  <g key={from}>
                    {to - from > 1 && !s.bare && <polygon points={`${x(from)},${y(0)} ${line.join(' ')} ${x(to - 1)},${y(0)}`} />}
                    {to - from > 1
                      ? <polyline points={line.join(' ')} /> : <circle cx={x(from)} cy={y(s.values[from]!)} r="2.5" />}
                  </g>
                );
              })}
              {current !== undefined && s.values[current] != null && <circle cx={x(current)} cy={y(s.values[current])} r="3.5" />}
            </g>
          ))}
          {current !== undefined && <line className="crosshair" x1={x(current)} x2={x(current)} y1={top} y2={height - bottom} />}
        </svg>
      </div>
    </Figure>
  );
}

const classOf = ({ bad }: Series, at: number) => (bad ? 'series-bad' : `series-${at + 1}`);
const numberOf = (value: number | null | undefined) => (value == null ? null : exactly(value));

/** A line without axes, for a cell of a table. */
export function Sparkline({ label, values }: { label: string; values: number[] }) {
  const highest = Math.max(...values, 1);
  const step = values.length > 1 ? 96 / (values.length - 1) : 0;
  const points = values.map((value, i) => `${2 + i * step},${18 - (value / highest) * 16}`).join(' ');
  return <svg className="sparkline" width="100" height="20" role="img" aria-label={label}><polyline points={points} /></svg>;
}

/** The next of 1, 2, 4, 5, 10, 20 … that is not below the highest value. */
export function niceMax(highest: number): number {
  if (highest <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(highest));
  return (([1, 2, 4, 5, 10].find((step) => step * power >= highest) ?? 10) * power);
}

/** The stretches of values without a gap, as [from, to). */
export function runs(values: (number | null)[]): [number, number][] {
  const found: [number, number][] = [];
  values.forEach((value, i) => {
    if (value === null) return;
    const current = found.at(-1);
    if (current && current[1] === i) current[1] = i + 1;
    else found.push([i, i + 1]);
  });
  return found;
}
