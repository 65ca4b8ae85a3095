import { useQuery } from '@tanstack/react-query';
import { Reliability } from '@/charts';
import { type Figures, type Measured, type Of, qualityQuery, thresholdsQuery } from '@/data/quality';
import { count, Note } from '@/design';
import { kindOf } from '@/questions';
import { binWords, figure, interval, leaning, measures, sharesOfCounts, sharesOfCoverage, writtenAs } from './figures';
import { LabelsNeeded } from './LabelsNeeded';

interface ReliabilityPartProps {
  prism: string;
  of: Of & { question: string };
  measured: Measured;
  pinned: string | null;
}

/** The reliability diagram and the measures by name. Where a calibration is pinned, the others stand beside these. */
export function ReliabilityPart({ prism, of, measured, pinned }: ReliabilityPartProps) {
  const calibrated = measured.calibration !== null;
  const beside = useQuery({ ...qualityQuery({ ...of, calibrated: calibrated ? undefined : true }), enabled: pinned !== null });
  const other = pinned === null ? undefined : beside.data?.questions[0];
  return (
    <>
      {of.calibrated && !calibrated && (
        <Note tone="warn">No calibration is pinned to this question, so these are the stored probabilities.</Note>
      )}
      {calibrated && (
        <Note>
          On the labels that a calibration was fitted to, it looks better than it is. The gain on other labels is in Calibration.
        </Note>
      )}
      <div className="quality-sides">
        {measured.bins ? <Diagram of={of} measured={measured} other={other} both={pinned !== null} />
          : <LabelsNeeded prism={prism} version={of.version} question={of.question} have={measured.counted} need={100}
            what="points of a reliability diagram" />}
        <Measures measured={measured} other={other} pinned={pinned} />
      </div>
    </>
  );
}

const axesOf = (type: Measured['type']) => (kindOf({ type }).ofYes
  ? { x: 'Probability of yes', y: 'Share that is yes' } : { x: 'Probability of the answer', y: 'Share that is right' });

const nameOf = (calibrated: boolean) => (calibrated ? 'Calibrated' : 'Stored');

function Diagram({ of, measured, other, both }: {
  of: Of & { question: string }; measured: Measured; other: Measured | undefined; both: boolean;
}) {
  const { ofYes } = kindOf(measured);
  const calibrated = measured.calibration !== null;
  // The counts at each hundredth have nothing to do with the costs.
  const counted = useQuery({ ...thresholdsQuery(of, { false_yes: 1, false_no: 1, unsure: 0.5 }), enabled: ofYes });
  const shares = ofYes ? (counted.data ? sharesOfCounts(counted.data.counts) : []) : sharesOfCoverage(measured.coverage ?? []);
  return (
    <div>
      <Reliability label={`Reliability of ${measured.question}`} title="Is it as sure as it is right?" bins={measured.bins ?? []}
        beside={both ? { bins: other?.bins ?? [], name: nameOf(calibrated), other: nameOf(!calibrated) } : undefined}
        shares={shares} axes={axesOf(measured.type)} ofYes={ofYes} wordsOf={(bin) => binWords(bin, measured.type)} />
      <p className="soft">{leaning(measured.bins ?? [], measured.type)}</p>
    </div>
  );
}

interface PlainDiagramProps {
  label: string;
  title: string;
  type: Measured['type'];
  figures: Figures;
}

/** A reliability diagram of figures without the histogram's counts, as of a comparison. */
export function PlainDiagram({ label, title, type, figures }: PlainDiagramProps) {
  const { ofYes } = kindOf({ type });
  const shares = ofYes ? [] : sharesOfCoverage(figures.coverage ?? []);
  return (
    <Reliability label={label} title={title} bins={figures.bins ?? []} shares={shares} axes={axesOf(type)}
      ofYes={ofYes} wordsOf={(bin) => binWords(bin, type)} />
  );
}

function Measures({ measured, other, pinned }: { measured: Measured; other: Measured | undefined; pinned: string | null }) {
  const calibrated = measured.calibration !== null;
  return (
    <details className="more">
      <summary>More measures</summary>
      <table className="table quality-measures">
        <thead>
          <tr>
            <th scope="col">Measure</th>
            {other && <th scope="col" className="end">{nameOf(!calibrated)}</th>}
            <th scope="col" className="end">{other ? nameOf(calibrated) : 'Value'}</th>
            <th scope="col" className="end">95% interval</th>
          </tr>
        </thead>
        <tbody>
          {measures.map(([key, name, meaning, better]) => {
            const value = measured[key];
            const beside = other?.[key];
            const written = writtenAs(key);
            return value && (
              <tr key={key}>
                <th scope="row">
                  {name}{' '}
                    <span className="soft quality-meaning">{meaning} {better === 'more' ? 'Higher' : 'Lower'} is better.</span>
                </th>
                {other && (
                  <td className="end" title={beside ? String(beside.value) : undefined}>
                    {beside ? written(beside.value) : '–'}
                  </td>
                )}
                <td className="end" title={String(value.value)}><strong>{written(value.value)}</strong></td>
                <td className="end" aria-label={figure(value, written)}>{interval(value, written)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p className="soft">
        Intervals are those of 95%. {count(measured.labels, 'label')} were looked at, and {measured.counted} of them
        count.{pinned === null ? ' No calibration is pinned.' : ''}
      </p>
    </details>
  );
}
