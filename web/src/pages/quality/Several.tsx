import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { labelOf, type Question } from '@/answers/words';
import type { Figure, Measured } from '@/data/quality';
import { Button, count, Note, Section } from '@/design';
import { fewest, share } from './figures';
import { Interval } from './Interval';

const route = getRouteApi('/frame/prisms/$prism/quality');

const room = 20; // options of a table that is read at once

interface Props {
  question: Question;
  /** The measures of the question as a whole, and those of each option. */
  measured: Measured[];
}

/** How well any number of options is answered: all of them together, and each by itself. */
export function SeveralPart({ question, measured }: Props) {
  const { tags } = measured.find(({ option }) => option === undefined) ?? {};
  if (!tags) return <Note>Measures need {fewest} labels that count.</Note>;
  return (
    <>
      <Section title="All options together">
        <ul className="quality-words">
          <li>
            <strong>Exact match</strong> <Interval of={tags.exact_match} written={share} />{' '}
            <span className="soft">How often an answer has every right option, and no other one.</span>
          </li>
          <li>
            <strong>Hamming loss</strong> <Interval of={tags.hamming_loss} written={share} />{' '}
            <span className="soft">
              Of all options of all answers, how many are wrong: answered and not right, or right and not answered. Lower is
              better.
            </span>
          </li>
        </ul>
        <div className="quality-scroll" tabIndex={0} role="region" aria-label="Precision and recall of all options together">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Measure</th>
                <th scope="col" className="end">Micro</th><th scope="col" className="end">Macro</th>
              </tr>
            </thead>
            <tbody>
              {retrieved.map(([key, name, meaning]) => (
                <tr key={key}>
                  <th scope="row">{name} <span className="soft quality-meaning">{meaning}</span></th>
                  <Cell of={tags.micro[key]} /><Cell of={tags.macro[key]} />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p className="soft">
          Micro counts every answered and every right option alike, so frequent options weigh more. Macro is the mean over the
          options, so a rare one weighs as much as a frequent one. With 95% intervals.
        </p>
      </Section>
      <Options question={question} measured={measured.filter(({ option }) => option !== undefined)} />
    </>
  );
}

const retrieved = [
  ['precision', 'Precision', 'Of the options that were answered, how many are right.'],
  ['recall', 'Recall', 'Of the options that are right, how many were answered.'],
  ['f1', 'F1', 'Precision and recall in one number: 100% if both are.'],
] as const;

/** The figures of an option's being right. */
const yesOf = ({ classes }: Measured) => classes?.find(({ value }) => value === true);

/** How well each option is told: of many those that are told worst first, and the others folded. */
function Options({ question, measured }: Props) {
  const [all, setAll] = useState(false);
  const worst = useMemo(() => [...measured].sort((a, b) => (yesOf(a)?.f1.value ?? 2) - (yesOf(b)?.f1.value ?? 2)), [measured]);
  const many = measured.length > room;
  return (
    <Section title="Each option by itself">
      <div className="quality-scroll" tabIndex={0} role="region" aria-label="Precision and recall of each option">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Option</th><th scope="col" className="end wide">Right in</th>
              <th scope="col" className="end">Precision</th><th scope="col" className="end">Recall</th>
              <th scope="col" className="end wide">F1</th>
            </tr>
          </thead>
          <tbody>
            {(!many ? measured : all ? worst : worst.slice(0, room)).map((one) => {
              const yes = yesOf(one);
              return (
                <tr key={one.option}>
                  <th scope="row">
                    <route.Link to="." resetScroll={false}
                      search={(before) => ({ ...before, option: one.option, tab: undefined })}>
                      {labelOf(question, one.option!)}
                    </route.Link>
                  </th>
                  <td className="end wide">{yes ? yes.n : <span className="soft">fewer than 5</span>}</td>
                  <Cell of={yes?.precision ?? null} /><Cell of={yes?.recall ?? null} /><Cell of={yes?.f1 ?? null} wide />
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {many && (
        <div className="row">
          <Button small variant="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? `Only the ${room} of the lowest F1` : `${count(measured.length - room, 'more option')}, told better`}
          </Button>
        </div>
      )}
      <p className="soft">
        An option by itself is a question of yes or no: open one for how sure it is, its thresholds, its calibration and other
        versions. An option has figures from 5 labels on that say it is right.
      </p>
    </Section>
  );
}

function Cell({ of, wide }: { of: Figure | null; wide?: boolean }) {
  return (
    <td className={wide ? 'end wide' : 'end'} title={of ? String(of.value) : undefined}>
      {of ? <Interval of={of} written={share} /> : <span className="soft">–</span>}
    </td>
  );
}
