import type { ReactNode } from 'react';

/** What pages draw, before there is anything to draw. The sketches say nothing that the words beside them do not. */
const drawings = {
  /** Answers by day. */
  stacked: (
    <>
      <path className="axis" d="M0 95.5H240" />
      <path className="shape" data-hue="1" d="M0 78 40 70 80 74 120 60 160 64 200 50 240 46V95H0z" />
      <path className="shape" data-hue="2"
        d="M0 56 40 52 80 50 120 42 160 40 200 30 240 28V46L200 50 160 64 120 60 80 74 40 70 0 78z" />
      <path className="trace" d="M0 56 40 52 80 50 120 42 160 40 200 30 240 28" />
    </>
  ),
  /** Texts, each with its answer. */
  results: (
    <>
      {[8, 40, 72].map((y, i) => (
        <g key={y}>
          <rect className="words" x="0" y={y} width={128 - 18 * i} height="6" rx="3" />
          <rect className="words" x="0" y={y + 11} width={84 + 12 * i} height="6" rx="3" />
          <rect className="shape" data-hue={i + 1} x="164" y={y} width="52" height="6" rx="3" />
          <rect className="words" x="164" y={y + 11} width="76" height="4" rx="2" />
          <rect className="shape" data-hue={i + 1} x="164" y={y + 11} width={62 - 14 * i} height="4" rx="2" />
          <path className="axis" d={`M0 ${y + 23.5}H240`} />
        </g>
      ))}
    </>
  ),
  /** The rows of a file, and how far they are. */
  run: (
    <>
      {[0, 1, 2, 3].map((i) => (
        <g key={i}>
          <rect className="words" x="0" y={6 + 20 * i} width={150 - 22 * i} height="6" rx="3" />
          {i < 3 && <rect className="shape" data-hue={i + 1} x="188" y={6 + 20 * i} width="52" height="6" rx="3" />}
          <path className="axis" d={`M0 ${19.5 + 20 * i}H240`} />
        </g>
      ))}
      <rect className="words" x="0" y="86" width="240" height="6" rx="3" />
      <rect className="shape" data-hue="1" x="0" y="86" width="168" height="6" rx="3" />
    </>
  ),
  /** Said probabilities, and how often they were right. */
  reliability: (
    <>
      <path className="axis" d="M60.5 0V95.5H180" />
      <path className="trace" d="M60 95 180 5" />
      {[[78, 80], [102, 70], [126, 44], [150, 32], [170, 8]].map(([x, y]) => (
        <g key={x}><path className="axis" d={`M${x} ${y! - 10}V${y! + 10}`} /><circle className="dot" cx={x} cy={y} r="4" /></g>
      ))}
    </>
  ),
  /** How far answers are from those of before. */
  drift: (
    <>
      <path className="axis" d="M0 95.5H240" />
      <path className="shape" d="M0 60H240V95H0z" />
      <path className="trace" d="M0 60H240" />
      <path className="trace" d="M0 84 34 78 68 82 102 74 136 70 170 52 204 40 240 24" />
    </>
  ),
  /** Sums by day. */
  days: (
    <>
      <path className="axis" d="M0 95.5H240" />
      {[30, 44, 38, 58, 52, 70, 64, 80].map((height, i) => (
        <rect key={i} className="shape" data-hue="1" x={4 + 30 * i} y={95 - height} width="20" height={height} rx="2" />
      ))}
    </>
  ),
} satisfies Record<string, ReactNode>;

export type DrawingName = keyof typeof drawings;

/** A sketch of the picture to come. */
export function Drawing({ name }: { name: DrawingName }) {
  return <svg className="drawing" viewBox="0 0 240 96" aria-hidden="true">{drawings[name]}</svg>;
}
