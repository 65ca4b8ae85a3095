import { type CSSProperties, useState } from 'react';
import { Button } from '@/design/Button';
import { Icon } from '@/design/icons';
import { count, exactly, percent, shown } from '@/design/numbers';
import { Figure } from './Figure';
import { strengthOf } from './ramp';
import './charts.css';

export interface Part {
  key: string;
  label: string;
  /** From 0 to 1. */
  p: number;
  /** The number of the option's hue. */
  hue?: number | undefined;
  /** Whether a label says that it is right; undefined without a label. */
  right?: boolean | undefined;
}

interface ProbabilitiesProps {
  label: string;
  options: Part[];
  chosen?: string | null | undefined;
  /** In place of one chosen option, any number of them: those with a probability from this on. */
  from?: number | undefined;
  lacking?: number | null | undefined;
  plain?: boolean;
}

const little = 0.01; // under it, options are folded where there are several
const places = 8; // bars of options that are drawn at first
const long = 26; // more bars than these scroll in their place

/**
 * Options as bars, in the order of the definition or, of more than 26, the most probable first: the 8 most probable ones, of few
 * only those from 1% up, and the chosen ones. The others are folded where there are several. `chosen` is the key of the answer;
 * `lacking` the probability of insufficient information. With `from`, the most probable ones are first, and a tick stands there.
 */
export function Probabilities({ label, options, chosen, from, lacking, plain }: ProbabilitiesProps) {
  const many = options.length > long || (from !== undefined && options.length > places);
  const isChosen = ({ key, p }: Part) => (from === undefined ? key === chosen : p >= from);
  const [sorted, setSorted] = useState(many || from !== undefined);
  const [all, setAll] = useState(false);
  const lackingChosen = chosen != null && !options.some(({ key }) => key === chosen);
  const shownOptions = sorted ? [...options].sort((a, b) => b.p - a.p) : options;
  const first = new Set([...options].sort((a, b) => b.p - a.p).filter(({ p }) => many || p >= little).slice(0, places));
  const folded = plain ? [] : options.filter((option) => !first.has(option) && !option.right
    && !(isChosen(option) && from === undefined));
  const drawn = all || folded.length < 2 ? shownOptions : shownOptions.filter((option) => !folded.includes(option));
  const few = !many && folded.every(({ p }) => p < little);
  return (
    <Figure label={label} plain={plain ?? false} data={{ head: ['Option', 'Probability'], rows: rowsOf(shownOptions, lacking) }}>
      <ul {...(drawn.length > long ? { className: 'bars long', tabIndex: 0, 'aria-label': `All options: ${label}` }
        : { className: 'bars' })}>
        {drawn.map((option) => <Bar key={option.key} part={option} kind={isChosen(option) ? 'chosen' : 'other'} from={from} />)}
        {lacking != null && (
          <Bar part={{ key: '', label: 'Insufficient information', p: lacking }}
            kind={lackingChosen ? 'lacking chosen' : 'lacking'} />
        )}
      </ul>
      {from !== undefined && (
        <p className="soft">Options from {percent(from)} on are the answer.</p>
      )}
      {(folded.length > 1 || (options.length > 6 && !plain)) && (
        <div className="bars-more">
          {folded.length > 1 && (
            <Button variant="quiet" small aria-expanded={all} onClick={() => setAll(!all)}>
              {all ? few ? 'Fold those under 1%' : `Only the ${places} most probable`
                : few ? `${count(folded.length, 'option')} under 1%` : `${count(folded.length, 'more option')}`}
            </Button>
          )}
          {options.length > 6 && !plain && (
            <Button variant="quiet" small aria-pressed={sorted} onClick={() => setSorted(!sorted)}>
              {sorted ? 'In the order of the definition' : 'Highest first'}
            </Button>
          )}
        </div>
      )}
    </Figure>
  );
}

const rowsOf = (parts: Part[], lacking: number | null | undefined): [string, string][] => [
  ...parts.map(({ label, p }): [string, string] => [label, exactly(p)]),
  ...(lacking == null ? [] : [['Insufficient information', exactly(lacking)] as [string, string]]),
];

interface BarProps {
  part: Part;
  kind: 'chosen' | 'other' | 'lacking' | 'lacking chosen';
  from?: number | undefined;
}

function Bar({ part, kind, from }: BarProps) {
  return (
    <li className={kind} data-hue={part.hue} title={exactly(part.p)}>
      <span className="bar-label">
        {part.label}{kind.endsWith('chosen') && <span className="unseen"> (chosen)</span>}
        {part.right && <span className="bar-right" title="The label says that it is right"> <Icon name="check" /> right</span>}
      </span>
      <span className="bar-track" aria-hidden="true">
        <span style={{ width: `${part.p * 100}%` }} />
        {from !== undefined && <i style={{ left: `${from * 100}%` }} />}
      </span>
      <span className="bar-value num">{percent(part.p)}</span>
    </li>
  );
}

interface ScaleProps {
  label: string;
  levels: (Part & { value: number })[];
  chosen?: string | null | undefined;
  average?: number | null | undefined;
  lacking?: number | null | undefined;
  plain?: boolean;
}

/**
 * The levels of a scale as columns in their order, each as high as its probability, with the average as a mark. `average` counts
 * levels from the first one's value.
 */
export function Scale({ label, levels, chosen, average, lacking, plain }: ScaleProps) {
  const [first, last] = [levels[0]?.value ?? 0, levels.at(-1)?.value ?? 0];
  // The middle of the first column stands at half a column's width.
  const mark = average == null || first === last
    ? undefined : ((average - first) / (last - first)) * (1 - 1 / levels.length) + 0.5 / levels.length;
  return (
    <Figure label={label} plain={plain ?? false} data={{ head: ['Level', 'Probability'], rows: rowsOf(levels, lacking) }}>
      <div className="scale">
        <ol className="columns">
          {levels.map((level, i) => (
            <li key={level.key} className={level.key === chosen ? 'chosen' : 'other'}
              title={`${level.label}: ${exactly(level.p)}`}>
              <span className="column-top">
                <span className="bar-value num">{percent(level.p)}</span>
                <span className="column-room" aria-hidden="true">
                  <span className="column"
                    style={{ height: `${level.p * 100}%`, '--strength': strengthOf(i, levels.length) } as CSSProperties} />
                </span>
              </span>
              <span className="bar-label">{level.label}</span>
            </li>
          ))}
        </ol>
        {mark !== undefined && <span className="scale-mark" aria-hidden="true" style={{ left: `${mark * 100}%` }} />}
      </div>
      {average != null && <p className="soft num" title={exactly(average)}>Average {shown(average)}</p>}
      {lacking != null && (
        <ul className="bars"><Bar part={{ key: '', label: 'Insufficient information', p: lacking }} kind="lacking" /></ul>
      )}
    </Figure>
  );
}

interface YesNoProps {
  label: string;
  p: number;
  no?: number | undefined;
  yes?: number | undefined;
  answer?: string | null | undefined;
  lacking?: number | null | undefined;
  plain?: boolean;
}

/** One bar from no to yes. The thresholds, from 0 to 1, stand as ticks: up to `no` the answer is no, from `yes` it is yes. */
export function YesNo({ label, p, no, yes, answer, lacking, plain }: YesNoProps) {
  return (
    <Figure label={label} plain={plain ?? false}
      data={{ head: ['', 'Probability'], rows: rowsOf([{ key: 'yes', label: 'Yes', p }], lacking) }}>
      <div className="yesno" title={exactly(p)}>
        <span>No</span>
        <span className="bar-track" aria-hidden="true">
          <span style={{ width: `${p * 100}%` }} />
          {no !== undefined && <i style={{ left: `${no * 100}%` }} />}
          {yes !== undefined && <i style={{ left: `${yes * 100}%` }} />}
        </span>
        <span>Yes</span>
        <strong className="num">{percent(p)}{answer && <span className="soft"> {answer}</span>}</strong>
      </div>
      {(no !== undefined || yes !== undefined) && (
        <p className="unseen">
          Thresholds: {no !== undefined && `no up to ${percent(no)}`} {yes !== undefined && `yes from ${percent(yes)}`}
        </p>
      )}
      {lacking != null && (
        <ul className="bars"><Bar part={{ key: '', label: 'Insufficient information', p: lacking }} kind="lacking" /></ul>
      )}
    </Figure>
  );
}
