import { getRouteApi } from '@tanstack/react-router';
import { labelOf, type Question } from '@/answers/words';
import type { Drift, DriftWindow } from '@/data/quality';
import { Badge, Note } from '@/design';
import { windowWords } from './windows';

const route = getRouteApi('/frame/prisms/$prism/quality');

interface Props {
  question: Question;
  drift: Drift['questions'];
}

/** The options that are watched of a question of which any number can be right, those that drift first. */
export function DriftOfOptions({ question, drift }: Props) {
  const found = drift.filter((one) => one.question === question.key && one.option !== undefined);
  const alarm = ({ hour, day }: (typeof found)[number]) => Number(hour.alarm || day.alarm);
  const sorted = [...found].sort((a, b) => alarm(b) - alarm(a));
  if (found.length === 0) return <Note>No option has been answered often enough to be watched.</Note>;
  return (
    <>
      <div className="quality-scroll" tabIndex={0} role="region" aria-label="Drift of each option">
        <table className="table">
          <thead>
            <tr><th scope="col">Option</th><th scope="col">The last hour</th><th scope="col">The last day</th></tr>
          </thead>
          <tbody>
            {sorted.map((one) => (
              <tr key={one.option}>
                <th scope="row">
                  <route.Link to="." resetScroll={false}
                      search={(before) => ({ ...before, option: one.option })}>
                    {labelOf(question, one.option!)}
                  </route.Link>
                </th>
                <td><Said of={one.hour} /></td><td><Said of={one.day} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="soft">
        Each option is watched by itself, as a question of yes or no: those that are answered most, up to 20. Open one for its
        hours and days.
      </p>
    </>
  );
}

const Said = ({ of }: { of: DriftWindow }) =>
  <Badge tone={of.alarm ? 'warn' : of.probability ? 'good' : 'neutral'}>{windowWords(of)}</Badge>;
