import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { onKeys } from '@/design/keys';
import { exactly, percent } from '@/design/numbers';
import { Figure } from './Figure';
import { useWidth } from './width';
import './charts.css';

/** Answers of similar probability: `mean` of it, and the share that was so, with its 95% interval. All from 0 to 1. */
export interface Bin {
  n: number;
  mean: number;
  rate: number;
  low: number;
  high: number;
}

const [top, right, bottom, left] = [24, 12, 26, 44]; // room for the axes, in pixels
const histogramHeight = 56;
const widest = 400;

interface Props {
  label: string;
  title?: string;
  bins: Bin[];
  /** Others that stand beside them, and the names of both. */
  beside?: { bins: Bin[]; name: string; other: string } | undefined;
  /** How many answers have which probability, in equal steps from 0 to 1. */
  shares: number[];
  axes: { x: string; y: string };
  /** The probabilities are of yes, so that an answer below a half is a no. */
  ofYes?: boolean;
  wordsOf: (bin: Bin) => string;
}

/**
 * The reliability diagram: a point for each bin with its interval, larger for more answers, the diagonal on which probabilities
 * mean what they say, the sides of it on which they are too sure and too hesitant, and below how many answers have which
 * probability. `wordsOf` says a bin in words.
 */
export function Reliability({ label, title, bins, beside, shares, axes, ofYes, wordsOf }: Props) {
  const [available, ref] = useWidth();
  const [at, setAt] = useState<number>();
  const width = Math.min(available, widest);
  const size = width - left - right;
  const x = (p: number) => left + p * size;
  const y = (p: number) => top + (1 - p) * size;
  const most = Math.max(1, ...[...bins, ...beside?.bins ?? []].map((bin) => bin.n));
  const corners = (...points: [number, number][]) => points.map((point) => `${x(point[0])},${y(point[1])}`).join(' ');
  const current = bins[at ?? farthest(bins)];
  const base = top + size + bottom + histogramHeight;
  const tallest = Math.max(...shares, 1e-9);
  const step = size / Math.max(1, shares.length);
  const nearest = (event: PointerEvent<SVGSVGElement>) => {
    const p = (event.clientX - event.currentTarget.getBoundingClientRect().left - left) / size;
    setAt(bins.reduce((best, bin, i) => (Math.abs(bin.mean - p) < Math.abs(bins[best]!.mean - p) ? i : best), 0));
  };
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setAt((now) => Math.max(0, Math.min(bins.length - 1, (now ?? (by > 0 ? -1 : bins.length)) + by)));
  };
  return (
    <Figure label={label} title={title} data={{
      head: ['Mean probability', 'Was so', 'Low', 'High', 'Labels'],
      rows: [...rowsOf(bins), ...rowsOf(beside?.bins ?? [], `, ${beside?.other.toLowerCase()}`)],
    }}>
      <div className="plot" ref={ref}>
        <p className="plot-words" aria-live="polite">{current && wordsOf(current)}</p>
        {beside && (
          <p className="plot-legend bin-legend"><span><b aria-hidden="true" />{beside.name}</span>
            <span className="before"><b aria-hidden="true" />{beside.other}</span></p>
        )}
        <svg width={width} height={base + 22} role="img" tabIndex={0}
          aria-label={`${label}. ${bins.map(wordsOf).join(' ')} Arrow keys read the points.`}
          onPointerMove={nearest} onPointerLeave={() => setAt(undefined)} onBlur={() => setAt(undefined)}
          onKeyDown={onKeys(onKey)}>
          {ofYes ? (
            <>
              <polygon className="sure" points={corners([0, 0], [0, 1], [0.5, 1], [0.5, 0.5])} />
              <polygon className="sure" points={corners([1, 1], [1, 0], [0.5, 0], [0.5, 0.5])} />
              <polygon className="hesitant" points={corners([0, 0], [0.5, 0], [0.5, 0.5])} />
              <polygon className="hesitant" points={corners([1, 1], [0.5, 1], [0.5, 0.5])} />
            </>
          ) : (
            <>
              <polygon className="sure" points={corners([0, 0], [1, 0], [1, 1])} />
              <polygon className="hesitant" points={corners([0, 0], [0, 1], [1, 1])} />
            </>
          )}
          {[0, 0.25, 0.5, 0.75, 1].map((p) => (
            <g key={p}>
              <line className="grid" x1={x(0)} x2={x(1)} y1={y(p)} y2={y(p)} />
              <text className="axis" x={left - 6} y={y(p) + 4} textAnchor="end">{percent(p)}</text>
              <text className="axis" x={x(p)} y={top + size + 15} textAnchor={p === 1 ? 'end' : 'middle'}>{percent(p)}</text>
            </g>
          ))}
          <line className="diagonal" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} />
          <text className="axis" x={4} y={12}>{axes.y}</text>
          {ofYes && <text className="axis" x={x(1) - 6} y={y(0.04)} textAnchor="end">too sure of yes</text>}
          <text className="axis" x={x(0) + 6} y={y(1) + 16}>{ofYes ? 'too sure of no' : 'too hesitant'}</text>
          <text className="axis" x={ofYes ? x(0.49) : x(1) - 6} y={y(0.04)} textAnchor="end">
            {ofYes ? 'too hesitant' : 'too sure'}
          </text>
          {beside?.bins.map((bin, i) => (
            <circle key={i} className="before" cx={x(bin.mean)} cy={y(bin.rate)} r={radius(bin.n, most)} />
          ))}
          {bins.map((bin, i) => (
            <g key={i} className={bin === current ? 'bin current' : 'bin'}>
              <line x1={x(bin.mean)} x2={x(bin.mean)} y1={y(bin.low)} y2={y(bin.high)} />
              <circle cx={x(bin.mean)} cy={y(bin.rate)} r={radius(bin.n, most)} />
            </g>
          ))}
          {shares.map((share, i) => (
            <rect key={i} className="share" x={left + i * step + 0.5} width={Math.max(1, step - 1)}
              y={base - (share / tallest) * histogramHeight} height={(share / tallest) * histogramHeight}>
              <title>
                {`${percent(share)} of answers from ${percent(i / shares.length)} to ${percent((i + 1) / shares.length)}`}
              </title>
            </rect>
          ))}
          <line className="grid" x1={x(0)} x2={x(1)} y1={base} y2={base} />
          <text className="axis" x={(x(0) + x(1)) / 2} y={base + 16} textAnchor="middle">{axes.x}</text>
        </svg>
      </div>
    </Figure>
  );
}

const rowsOf = (bins: Bin[], name = '') => bins.map((bin) =>
  [exactly(bin.mean) + name, exactly(bin.rate), exactly(bin.low), exactly(bin.high), exactly(bin.n)]);

/** The area of a point grows with its labels, from 3 to 7 px. */
export function radius(n: number, most: number): number {
  return 3 + 4 * Math.sqrt(n / most);
}

/** The bin that is farthest from the diagonal. */
export function farthest(bins: Bin[]): number {
  return bins.reduce(
    (best, bin, i) => (Math.abs(bin.rate - bin.mean) > Math.abs(bins[best]!.rate - bins[best]!.mean) ? i : best), 0,
  );
}
