import { useId } from 'react';
import { shown, short } from '@/design/numbers';
import { niceMax } from './Area';
import { Levels, Times, useCrosshair } from './axes';
import { Figure } from './Figure';
import { useWidth } from './width';
import './charts.css';

/** What is counted at each time: an option in its hue, or an answer without one, of which `strength` is how dark it is. */
export interface Layer {
  key: string;
  label: string;
  values: number[];
  hue?: number | undefined;
  lacking?: boolean | undefined;
  strength?: number | undefined;
}

const height = 220;
const [top, right, bottom, left] = [20, 8, 22, 44]; // room for the axes and the names of marks, in pixels

interface Props {
  label: string;
  title?: string;
  /** Days of UTC, one after the other. */
  days: string[];
  /** From below to the top. */
  layers: Layer[];
  /** Days that have a name. */
  marks?: { day: string; label: string }[];
}

/** Counts by day as areas that stand on each other, with a crosshair for pointer and arrow keys. */
export function Stacked({ label, title, days, layers, marks = [] }: Props) {
  const [width, ref] = useWidth();
  const tops = stack(layers, days.length);
  const highest = niceMax(Math.max(0, ...(tops.at(-1) ?? [])));
  const x = (i: number) => (days.length < 2 ? left : left + ((width - left - right) * i) / (days.length - 1));
  const y = (value: number) => height - bottom - ((height - top - bottom) * value) / highest;
  const { at: current, listeners } = useCrosshair(days.length,
    (pixels) => Math.round(((pixels - left) / (width - left - right)) * (days.length - 1)));
  return (
    <Figure label={label} title={title} data={{
      head: ['UTC', ...layers.map((layer) => layer.label)],
      rows: days.map((day, i) => [day, ...layers.map(({ values }) => values[i]!)]),
    }}>
      <div className="area stacked" ref={ref}>
        <p className="area-legend" aria-live="polite">
          {layers.map((layer) => (
            <span key={layer.key}>
              <Swatch layer={layer} />{layer.label}{' '}
              <strong className="num">{current === undefined ? '' : shown(layer.values[current]!)}</strong>
            </span>
          ))}
          <span className="soft num">{current === undefined ? 'by day, UTC' : `${days[current]} UTC`}</span>
        </p>
        <svg width={width} height={height} role="img" aria-label={`${label}. Arrow keys read the values.`} {...listeners}>
          <Levels {...{ highest, left, y }} right={width - right} format={short} />
          <Times {...{ width, x }} times={days} y={height - 6} />
          <Areas layers={layers} tops={tops} x={days.length < 2 ? (i) => (i ? width - right : left) : x} y={y} />
          {marks.map((mark) => {
            const place = x(days.indexOf(mark.day));
            return days.includes(mark.day) && (
              <g key={mark.label}>
                <line className="mark" x1={place} x2={place} y1={top - 4} y2={height - bottom} />
                <text className="axis" x={place} y={top - 8} textAnchor={place > width - 80 ? 'end' : 'middle'}>
                  {mark.label}
                </text>
              </g>
            );
          })}
          {current !== undefined && <line className="crosshair" x1={x(current)} x2={x(current)} y1={top} y2={height - bottom} />}
        </svg>
      </div>
    </Figure>
  );
}

const small = { width: 240, height: 56 };

/** The same without axes, for a place among words that say what it shows. */
export function SmallStacked({ label, layers, days }: { label: string; layers: Layer[]; days: number }) {
  const tops = stack(layers, days);
  const highest = Math.max(1, ...(tops.at(-1) ?? []));
  return (
    <svg className="stacked small" viewBox={`0 0 ${small.width} ${small.height}`} preserveAspectRatio="none" role="img"
      aria-label={label}>
      <Areas layers={layers} tops={tops} x={(i) => (i * small.width) / Math.max(1, days - 1)}
        y={(value) => small.height * (1 - value / highest)} />
    </svg>
  );
}

/** How high each layer ends at each time, with those below it. */
export function stack(layers: Layer[], times: number): number[][] {
  const sums = Array<number>(times).fill(0);
  return layers.map(({ values }) => values.map((value, i) => (sums[i]! += value)));
}

interface AreasProps {
  layers: Layer[];
  tops: number[][];
  x: (at: number) => number;
  y: (value: number) => number;
}

/** A single time is drawn as wide as many. */
function Areas({ layers, tops, x, y }: AreasProps) {
  const id = useId();
  const line = (values: number[]) =>
    (values.length === 1 ? [values[0]!, values[0]!] : values).map((value, i) => `${x(i)},${y(value)}`);
  return (
    <>
      <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <line className="hatch" x1="1" x2="1" y2="5" />
      </pattern>
      {layers.map((layer, n) => {
        const under = tops[n - 1] ?? layer.values.map(() => 0);
        return (
          <polygon key={layer.key} data-hue={layer.hue} fillOpacity={layer.strength}
            style={layer.lacking ? { fill: `url(#${id})` } : undefined}
            points={[...line(tops[n]!), ...line(under).reverse()].join(' ')} />
        );
      })}
    </>
  );
}

/** The sample of a layer, as it is drawn in the picture. */
export function Swatch({ layer: { hue, lacking, strength } }: { layer: Pick<Layer, 'hue' | 'lacking' | 'strength'> }) {
  return (
    <span className="swatch" aria-hidden="true" data-hue={hue} data-lacking={lacking || undefined}
      style={{ opacity: strength }} />
  );
}

/** Shares of a whole side by side, as wide as they are; what is missing to 1 is the track. */
export function ShareBar({ label, parts }: { label: string; parts: (Omit<Layer, 'values'> & { share: number })[] }) {
  return (
    <span className="share-bar" role="img" aria-label={label}>
      {parts.map((part) => part.share > 0 && (
        <span key={part.key} title={part.label} data-hue={part.hue} data-lacking={part.lacking || undefined}
          style={{ flexGrow: part.share, opacity: part.strength }} />
      ))}
      <span className="rest" style={{ flexGrow: Math.max(0, 1 - parts.reduce((sum, { share }) => sum + share, 0)) }} />
    </span>
  );
}
