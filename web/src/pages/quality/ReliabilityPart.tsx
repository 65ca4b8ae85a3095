import { useQuery } from '@tanstack/react-query';
import { Reliability } from '@/charts';
import { count, Note } from '@/design';
import { type Figures, type Measured, type Of, qualityQuery, thresholdsQuery } from './calls';
import { binWords, figure, fixed, interval, leaning, measures, sharesOfCounts, sharesOfCoverage } from './figures';
import { LabelsNeeded } from './LabelsNeeded';

interface ReliabilityPartProps {
  prism: string;
  of: Of & { question: string };
  measured: Measured;
  pinned: string | null;
}

/** The reliability diagram and all measures; with calibrated probabilities, before and after. */
export function ReliabilityPart({ prism, of, measured, pinned }: ReliabilityPartProps) {
  const calibrated = measured.calibration !== null;
  const before = useQuery({ ...qualityQuery({ ...of, calibrated: undefined }), enabled: calibrated });
  const stored = calibrated ? before.data?.questions[0] : undefined;
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
        {measured.bins ? (
          <div className={calibrated ? 'quality-pair' : undefined}>
            {stored?.bins && <Diagram of={{ ...of, calibrated: undefined }} measured={stored} title="Stored" />}
            <Diagram of={of} measured={measured} title={calibrated ? 'Calibrated' : 'Reliability'} />
          </div>
        ) : <LabelsNeeded prism={prism} version={of.version} question={of.question} have={measured.counted} need={100}
          what="points of a reliability diagram" />}
        <Measures measured={measured} stored={stored} pinned={pinned} />
      </div>
    </>
  );
}

const axesOf = (type: Measured['type']) => (type === 'yes_no'
  ? { x: 'Probability of yes', y: 'Share that is yes' } : { x: 'Probability of the answer', y: 'Share that is right' });

function Diagram({ of, measured, title }: { of: Of & { question: string }; measured: Measured; title: string }) {
  const yesNo = measured.type === 'yes_no';
  // The counts at each hundredth have nothing to do with the costs.
  const counted = useQuery({ ...thresholdsQuery(of, { false_yes: 1, false_no: 1, unsure: 0.5 }), enabled: yesNo });
  const shares = yesNo ? (counted.data ? sharesOfCounts(counted.data.counts) : []) : sharesOfCoverage(measured.coverage ?? []);
  return (
    <div>
      <Reliability label={`${title} of ${measured.question}`} title={title} bins={measured.bins ?? []} shares={shares}
        axes={axesOf(measured.type)} wordsOf={(bin) => binWords(bin, measured.type)} />
      <p className="soft">{leaning(measured.bins ?? [])}</p>
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
  const shares = type === 'yes_no' ? [] : sharesOfCoverage(figures.coverage ?? []);
  return (
    <Reliability label={label} title={title} bins={figures.bins ?? []} shares={shares} axes={axesOf(type)}
      wordsOf={(bin) => binWords(bin, type)} />
  );
}

function Measures({ measured, stored, pinned }: { measured: Measured; stored: Measured | undefined; pinned: string | null }) {
  return (
    <section className="stack-2" aria-label="Measures">
      <h2>Measures</h2>
      <table className="table quality-measures">
        <thead>
          <tr>
            <th scope="col">Measure</th>
            {stored && <th scope="col" className="end">Stored</th>}
            <th scope="col" className="end">{stored ? 'Calibrated' : 'Value'}</th>
            <th scope="col" className="end">95% interval</th>
          </tr>
        </thead>
        <tbody>
          {measures.map(([key, name, meaning, better]) => {
            const value = measured[key];
            const old = stored?.[key];
            return value && (
              <tr key={key} title={`${meaning}. ${better === 'more' ? 'Higher' : 'Lower'} is better.`}>
                <th scope="row">{name} <span className="soft quality-meaning">{meaning}</span></th>
                {stored && <td className="end" title={old ? String(old.value) : undefined}>{old ? fixed(old.value) : '–'}</td>}
                <td className="end" title={String(value.value)}><strong>{fixed(value.value)}</strong></td>
                <td className="end" aria-label={figure(value)}>{interval(value)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p className="soft">Of {count(measured.counted, 'label')} that count{measured.labels > measured.counted
        && `, of ${measured.labels} that were looked at`}.{pinned === null ? ' No calibration is pinned.' : ''}</p>
    </section>
  );
}
