import { Link } from '@tanstack/react-router';
import { type CSSProperties, type ReactNode, useMemo, useState } from 'react';
import type { Question } from '@/answers/words';
import type { Figure, Measured, Of } from '@/data/quality';
import { Button, count, percent, Pick, Section, shown } from '@/design';
import { labelText } from '@/questions';
import { confusedWith, type Counts, folded, mostConfused, worstPair } from './confused';
import { fixed, share } from './figures';
import { Interval } from './Interval';

const room = 20; // options of a table that is read at once
const most = 60; // options of the largest table that is drawn

/** What was answered for each label, as a heat map of a table, and how well each option is told from the others. */
export function Confusion({ of, measured, question }: { of: Of; measured: Measured; question: Question }) {
  const { confusion, classes } = measured;
  const labels = useMemo(() => confusion?.values.map((value) => labelText(value, question)) ?? [], [confusion, question]);
  if (!confusion) return null;
  return (
    <>
      <Mistakes counts={confusion.counts} labels={labels} opened={(label, answer, words) => (
        <Mistaken of={of} question={question} label={label.values.map((at) => confusion.values[at]!)} others={label.others}
          answer={confusion.values[answer]!}>
          {words}
        </Mistaken>
      )} />
      <Section title="Options">
        {classes?.length ? <Classes classes={classes} question={question} /> : null}
        <p className="soft">
          Options with 5 labels or more, with 95% intervals. Precision: how often an answer was right. Recall: how often a label
          was found.
        </p>
      </Section>
    </>
  );
}

interface MistakenProps {
  of: Of;
  question: Question;
  label: ClassValue[];
  /** The label is any but those. */
  others: boolean;
  answer: ClassValue;
  children: ReactNode;
}

type ClassValue = string | boolean;

const inWhere = (value: ClassValue) => (typeof value === 'string' ? value : value ? 'yes' : 'no');

/** Leads to the results with a label that were answered as something else. */
function Mistaken({ of, question: { key }, label, others, answer, children }: MistakenProps) {
  const where = of.option === undefined
    ? [`${key}:is:${inWhere(answer)}`, `${key}@label:${others ? 'not' : 'is'}:${label.map(inWhere).join(',')}`]
    : [`${key}:${answer ? 'is' : 'not'}:${of.option}`, `${key}@label:${label[0] ? 'is' : 'not'}:${of.option}`];
  return (
    <Link to="/prisms/$prism/results" params={{ prism: of.prism }} search={{
      version: of.version, ...(of.model !== undefined && { model: of.model }), view: 'all', where,
    }}>
      {children}
    </Link>
  );
}

/** The places of labels: those of `values`, or all others. */
interface Row {
  values: number[];
  others: boolean;
}

/** What a number of mistakes is drawn as, by the row of labels and the place of what was answered. */
type Opened = (label: Row, answer: number, words: string) => ReactNode;

/** The table of mistakes: of many options the 20 that are mistaken most, or one and those that it is mistaken for. */
function Mistakes({ counts, labels, opened }: { counts: Counts; labels: string[]; opened: Opened }) {
  const [around, setAround] = useState('');
  const [all, setAll] = useState(false);
  const options = useMemo(() => [
    ['', `The ${room} most confused`], ...labels.map((label, i) => [String(i), `${label} and what it is taken for`]),
  ] as [string, string][], [labels]);
  const sums = useMemo(() => counts.map((row) => row.reduce((sum, n) => sum + n, 0)), [counts]);
  const worst = useMemo(() => worstPair(counts), [counts]);
  const many = labels.length > room;
  const places = useMemo(() => {
    if (!many || all) return [...labels.keys()];
    return around === '' ? mostConfused(counts, room) : confusedWith(counts, Number(around), room);
  }, [many, all, around, counts, labels]);
  return (
    <Section title="Confusion">
      <p>
        {worst ? `The most frequent mistake: “${labels[worst.label]}” answered as “${labels[worst.answer]}”, `
          + `${shown(worst.n)} of ${count(sums[worst.label]!, 'label')} (${percent(worst.n / sums[worst.label]!)}).`
          : 'No answer was wrong.'}
      </p>
      {many && (
        <div className="row quality-around">
          <Pick label="Show" value={around} options={options} disabled={all} onChange={setAround} />
          {labels.length <= most && (
            <Button aria-pressed={all} onClick={() => setAll(!all)}>All {count(labels.length, 'option')}</Button>
          )}
        </div>
      )}
      <Table counts={counts} labels={labels} places={places} opened={opened} />
      <p className="soft">
        Rows are labels, columns are answers; the diagonal is right. The colour is the share of the row. A mistake opens the
        results with that label and that answer, also those whose label counts for no measure.
        {places.length < labels.length
          && ` The other ${shown(labels.length - places.length)} options are folded into one row and one column.`}
      </p>
    </Section>
  );
}

interface TableProps {
  counts: Counts;
  labels: string[];
  places: number[];
  opened: Opened;
}

function Table({ counts, labels, places, opened }: TableProps) {
  const others = labels.length - places.length;
  const { counts: table, right } = useMemo(() => folded(counts, places), [counts, places]);
  const names = places.map((place) => labels[place]!);
  if (others > 0) names.push(count(others, 'other'));
  const rows = others > 0 ? table : table.slice(0, -1).map((row) => row.slice(0, -1));
  return (
    <div className="quality-scroll" tabIndex={0} role="region"
      aria-label="Confusion: a row for each label, a column for each answer">
      <table className={names.length > 8 ? 'table quality-confusion many' : 'table quality-confusion'}>
        <thead>
          <tr><td /><th scope="colgroup" colSpan={names.length}>Answered</th></tr>
          <tr>
            <th scope="col">Label</th>
            {names.map((name, i) => <th key={i} scope="col" className="end"><span>{name}</span></th>)}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => {
            const sum = row.reduce((total, n) => total + n, 0);
            return (
              <tr key={i}>
                <th scope="row">{names[i]} <span className="soft">{shown(sum)}</span></th>
                {row.map((n, j) => {
                  // Among the others, being answered as another one of them is no diagonal.
                  const fold = i === j && i === places.length;
                  return (
                    <td key={j} className={i === j && !fold ? 'end right' : 'end'}
                      style={{ '--share': sum && !fold ? n / sum : 0 } as CSSProperties}
                      title={`${count(n, 'label')} ${names[i]} answered ${names[j]}`
                        + (fold ? `, ${shown(right)} of them right` : sum ? `, ${percent(n / sum)} of its labels` : '')}>
                      {n === 0 ? <span className="soft">0</span>
                        : i === j || j === places.length ? shown(n) 
                          : opened({ values: i === places.length ? places : [places[i]!], others: i === places.length },
                            places[j]!, shown(n))}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

type Class = NonNullable<Measured['classes']>[number];

/** How well each option is told: of many those that are told worst first, and the others folded. */
function Classes({ classes, question }: { classes: Class[]; question: Question }) {
  const [all, setAll] = useState(false);
  const worst = useMemo(() => [...classes].sort((a, b) => (a.f1?.value ?? -1) - (b.f1?.value ?? -1)), [classes]);
  const many = classes.length > room;
  return (
    <>
      <div className="quality-scroll" tabIndex={0} role="region" aria-label="Precision and recall of each option">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Option</th><th scope="col" className="end wide">Labels</th>
              <th scope="col" className="end">Precision</th>
              <th scope="col" className="end">Recall</th>
              <th scope="col" className="end wide">F1</th>
            </tr>
          </thead>
          <tbody>
            {(!many ? classes : all ? worst : worst.slice(0, room)).map((one) => (
              <tr key={String(one.value)}>
                <th scope="row">{labelText(one.value, question)}</th><td className="end wide">{one.n}</td>
                <Cell of={one.precision} none="never answered" /><Cell of={one.recall} /><Cell of={one.f1} wide />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {many && (
        <div className="row">
          <Button small variant="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? `Only the ${room} of the lowest F1` : `${count(classes.length - room, 'more option')}, told better`}
          </Button>
        </div>
      )}
    </>
  );
}

function Cell({ of, none = '–', wide }: { of: Figure | null; none?: string; wide?: boolean }) {
  return (
    <td className={wide ? 'end wide' : 'end'} title={of ? String(of.value) : undefined}>
      {of ? <Interval of={of} written={wide ? fixed : share} /> : <span className="soft">{none}</span>}
    </td>
  );
}
