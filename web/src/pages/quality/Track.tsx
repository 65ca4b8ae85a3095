import { Figure } from '@/charts';
import { onKeys, percent, shown } from '@/design';
import { type Zone, zoneOf, type Zones, zonesOf } from './zones';

interface Props {
  /** How many answers have a probability of yes of 0%, 1%, … 100%, and whose they are. */
  bins: number[];
  whose: string;
  yes: number;
  no: number;
  /** What labels say of the answers of a zone. */
  wrong: Record<'yes' | 'no', string>;
  onMove: (yes: number, no: number) => void;
  /** A thumb was let go. */
  onKeep: () => void;
}

/** One track with a thumb for each threshold, over the answers by their probability of yes, in three zones with their counts. */
export function Track({ bins, whose, yes, no, wrong, onMove, onKeep }: Props) {
  const zones = zonesOf(bins, yes, no);
  const tallest = Math.max(1, ...bins);
  return (
    <div className="zones">
      <Figure label={`Answers by their probability of yes, ${whose}`} title={`Answers ${whose}`} data={{
        head: ['Probability of yes', 'Answers'], rows: bins.map((n, i) => [`${i}%`, shown(n)]),
      }}>
        <svg className="zones-bars" viewBox="0 0 101 100" preserveAspectRatio="none" role="img"
          aria-label={`Answers by their probability of yes, ${whose}: ${wordsOf(zones)}.`}>
          {bins.map((n, i) => n > 0 && (
            <rect key={i} className={zoneOf(i, yes, no)} x={i + 0.06} width={0.88} y={100 - height(n, tallest)}
              height={height(n, tallest)} />
          ))}
        </svg>
      </Figure>
      <div className="zones-track" onPointerUp={onKeep} onKeyUp={onKeys(onKeep)} onBlur={onKeep}>
        <span className="zones-line" style={{ left: percent(no), right: percent(1 - Math.max(no, yes)) }} />
        <Thumb label="No up to" value={no} onChange={(at) => onMove(Math.max(at, yes), at)} />
        <Thumb label="Yes from" value={yes} onChange={(at) => onMove(at, Math.min(at, no))} />
      </div>
      <dl className="zones-words">
        {([
          ['no', `No, up to ${percent(no)}`, wrong.no], ['unsure', 'To a person', 'between the two'],
          ['yes', `Yes, from ${percent(yes)}`, wrong.yes],
        ] as [Zone, string, string][]).map(([zone, name, more]) => (
          <div key={zone} className={zone}>
            <dt>{name}</dt><dd><strong className="num">{shown(zones[zone])}</strong> <span className="soft">{more}</span></dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

const wordsOf = ({ no, unsure, yes }: Zones) => `${shown(no)} no, ${shown(unsure)} to a person, ${shown(yes)} yes`;

const height = (n: number, tallest: number) => Math.max(1, (n / tallest) * 100);

function Thumb({ label, value, onChange }: { label: string; value: number; onChange: (value: number) => void }) {
  return (
    <input type="range" min={0} max={1} step={0.01} value={value} aria-label={label} aria-valuetext={percent(value)}
      onChange={(event) => onChange(Math.round(Number(event.target.value) * 100) / 100)} />
  );
}
