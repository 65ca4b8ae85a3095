import type { CSSProperties } from 'react';
import type { Question } from '@/answers/words';
import { count, percent, Section, shown } from '@/design';
import type { Figure, Measured } from './calls';
import { Interval } from './Interval';
import { fixed, share, valueLabel } from './figures';

/** What was answered for each label, as a heat map of a table, and how well each option is told from the others. */
export function Confusion({ measured, question }: { measured: Measured; question: Question }) {
  const { confusion, classes } = measured;
  if (!confusion) return null;
  const labels = confusion.values.map((value) => valueLabel(value, question));
  const sums = confusion.counts.map((row) => row.reduce((sum, n) => sum + n, 0));
  const worst = worstPair(confusion.counts);
  return (
    <>
      <Section title="Confusion">
        <p>
          {worst ? `The most frequent mistake: “${labels[worst.label]}” answered as “${labels[worst.answer]}”, `
            + `${shown(worst.n)} of ${count(sums[worst.label]!, 'label')} (${percent(worst.n / sums[worst.label]!)}).`
            : 'No answer was wrong.'}
        </p>
        <div className="quality-scroll" tabIndex={0} role="region"
          aria-label="Confusion: a row for each label, a column for each answer">
          <table className={labels.length > 8 ? 'table quality-confusion many' : 'table quality-confusion'}>
            <thead>
              <tr><td /><th scope="colgroup" colSpan={labels.length}>Answered</th></tr>
              <tr>
                <th scope="col">Label</th>
                {labels.map((label, i) => <th key={i} scope="col" className="end"><span>{label}</span></th>)}
              </tr>
            </thead>
            <tbody>
              {confusion.counts.map((row, i) => (
                <tr key={i}>
                  <th scope="row">{labels[i]} <span className="soft">{sums[i]}</span></th>
                  {row.map((n, j) => (
                    <td key={j} className={i === j ? 'end right' : 'end'}
                      style={{ '--share': sums[i] ? n / sums[i]! : 0 } as CSSProperties}
                      title={`${count(n, 'label')} ${labels[i]} answered ${labels[j]}`
                        + (sums[i] ? `, ${percent(n / sums[i]!)} of its labels` : '')}>
                      {n === 0 ? <span className="soft">0</span> : n}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p className="soft">Rows are labels, columns are answers; the diagonal is right. The colour is the share of the row.</p>
      </Section>
      <Section title="Options">
        {classes?.length ? (
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
                {classes.map((one) => (
                  <tr key={String(one.value)}>
                    <th scope="row">{valueLabel(one.value, question)}</th><td className="end wide">{one.n}</td>
                    <Cell of={one.precision} none="never answered" /><Cell of={one.recall} /><Cell of={one.f1} wide />
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ) : null}
        <p className="soft">
          Options with 5 labels or more, with 95% intervals. Precision: how often an answer was right. Recall: how often a label
          was found.
        </p>
      </Section>
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

/** The label and answer that are most often taken for each other, the first of several. */
export function worstPair(counts: number[][]): { label: number; answer: number; n: number } | undefined {
  let worst: { label: number; answer: number; n: number } | undefined;
  counts.forEach((row, label) => row.forEach((n, answer) => {
    if (label !== answer && n > (worst?.n ?? 0)) worst = { label, answer, n };
  }));
  return worst;
}
