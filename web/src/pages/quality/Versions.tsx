import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { itemsOf, type Question } from '@/answers/words';
import { compareCommands } from '@/commands/commands';
import { SameCall } from '@/commands/SameCall';
import { type Prism, versionsQuery } from '@/data/prisms';
import { compareQuery, type Comparison, type Of, tooFew } from '@/data/quality';
import { Badge, count, ErrorNote, Note, Section, Select, shown } from '@/design';
import { AnswerLabels } from './AnswerLabels';
import { measures, measuresOfSeveral, rounded, share, verdictWords, writtenAs } from './figures';
import { Interval } from './Interval';
import { Measuring } from './Measuring';
import { PlainDiagram } from './ReliabilityPart';

interface VersionsProps {
  prism: Prism;
  of: Of & { question: string };
  question: Question;
  against: number | undefined;
  onChoose: (version: number) => void;
}

/** Whether a question of another version is the one that is compared, and has its option. */
const hasTarget = (q: Question, { option }: Of, { key, type }: Pick<Question, 'key' | 'type'>) => q.key === key
  && (option === undefined ? q.type === type : itemsOf(q).some((one) => one.key === option));

/** The version beside another one, on the inputs that both answered. */
export function Versions({ prism, of, question, against, onChoose }: VersionsProps) {
  const versions = useQuery(versionsQuery(prism.slug));
  const others = (versions.data ?? []).filter((v) =>
    v.version !== of.version && v.questions.some((q) => hasTarget(q, of, question)));
  // Without a choice, the version before, else the newest other one.
  const other = against ?? (others.find((v) => v.version < of.version) ?? others[0])?.version;
  const [a, b] = other === undefined ? [0, 0] : [Math.min(other, of.version), Math.max(other, of.version)];
  const { data, error, refetch } = useQuery({ ...compareQuery(prism.slug, a, b, of), enabled: other !== undefined });
  const few = tooFew(error);
  return (
    <>
      <Section title="Versions side by side">
        <ErrorNote error={versions.error} title="The versions could not be loaded." onRetry={() => void versions.refetch()} />
        {versions.data && other === undefined && (
          <Note>No other version asks this question, so there is nothing to compare.</Note>
        )}
        {other !== undefined && (
          <Select className="version-select" label={`Compare version ${of.version} with`} value={String(other)}
            onChange={(event) => onChoose(Number(event.target.value))}
            options={[...new Set([...others.map((v) => v.version), other])].map((v) => [String(v), `Version ${v}`] as const)} />
        )}
        {few && (
          <>
            <p>
              Compared are inputs that both versions answered, and whose results have labels: {few.have} of the {few.need} that it
              takes. A run has one version answer what is labelled of the other.
            </p>
            <div className="row">
              <AnswerLabels prism={prism.slug} labelled={of.version} by={other!} />
              <AnswerLabels prism={prism.slug} labelled={other!} by={of.version} />
            </div>
            <p className="soft">
              Or by <code>POST /v1/prisms/{prism.slug}/runs</code> with <code>from_labels_of</code>. Without labels,{' '}
              <Link to="/prisms/$prism/label" params={{ prism: prism.slug }}
                search={{ question: question.key, version: of.version }}>
                label results of version {of.version}
              </Link> first.
            </p>
          </>
        )}
        {!few && <ErrorNote error={error} title="The versions could not be compared." onRetry={() => void refetch()} />}
        {data ? <SideBySide data={data} /> : other !== undefined && !error && <Measuring lines={8} />}
      </Section>
      {other !== undefined && <SameCall commands={compareCommands(location.origin, prism.slug, a, b, of)} />}
    </>
  );
}

const tones = { better: ['good', 'good'], worse: ['bad', 'bad'] } as const;

function SideBySide({ data }: { data: Comparison }) {
  const { a, b, mcnemar, left_out } = data;
  const [tone, icon] = tones[data.verdict as keyof typeof tones] ?? ['neutral', 'info'];
  const left = left_out.other_option + left_out.other_label + left_out.examples;
  return (
    <>
        <p className="quality-verdict">
          <Badge tone={tone} icon={icon}>{verdictWords(data)}</Badge>
        </p>
        <p>
          {count(mcnemar.only_b, 'answer')} only version {b.version} had {a.tags && 'wholly '}right,
          {' '}{count(mcnemar.only_a, 'answer')} only version {a.version}
          {' '}(McNemar’s exact test: p {mcnemar.p < 0.001 ? '< 0.001' : `= ${rounded(mcnemar.p)}`}).
          {' '}Compared on {count(data.counted, 'labelled input')}{a.tags && ', by the options that both versions have'}.
          {left > 0 && ` Left out: ${shown(left_out.other_option)} whose label one version does not have, `
            + `${shown(left_out.other_label)} labelled differently in the two versions, `
            + `${shown(left_out.examples)} that are examples of one of them.`}
        </p>
        <div className="quality-scroll" tabIndex={0} role="region" aria-label="Measures of both versions">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Measure</th>
                <th scope="col" className="end">Version {a.version}</th>
                <th scope="col" className="end">Version {b.version}</th>
                <th scope="col" className="end">Difference</th><th scope="col" className="wide">Says</th>
              </tr>
            </thead>
            <tbody>
              {rowsOf(data).map(({ name, meaning, better, x, y, by, written }) => x && y && (
                <tr key={name} title={meaning}>
                  <th scope="row">{name}</th>
                  <td className="end quality-plain"><Interval of={x} written={written} /></td>
                  <td className="end quality-plain"><Interval of={y} written={written} /></td>
                  <td className="end">{by ? <Interval of={by} text={signed(by.value, written)} written={written} /> : '–'}</td>
                  <td className="wide">{by ? sign(by, better) : ''}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {a.bins && b.bins && (
          <div className="quality-pair">
            {[a, b].map((one) => (
              <PlainDiagram key={one.version} label={`Reliability of version ${one.version}`} title={`Version ${one.version}`}
                type={data.type} figures={one} />
            ))}
          </div>
        )}
    </>
  );
}

/** The measures of both versions and their differences: of a question, or of several options together. */
function rowsOf({ a, b, differences }: Comparison) {
  const several = measuresOfSeveral.map(([name, meaning, better, of]) => ({
    name, meaning, better, written: share,
    x: a.tags && of(a.tags), y: b.tags && of(b.tags), by: differences.tags && of(differences.tags),
  }));
  const { tags, ...plain } = differences;
  return tags ? several : measures.map(([key, name, meaning, better]) => ({
    name, meaning, better, written: writtenAs(key), x: a[key], y: b[key],
    by: key in plain ? plain[key as keyof typeof plain] : undefined,
  }));
}

const signed = (value: number, written: (value: number) => string) => (value > 0 ? `+${written(value)}` : written(value));

/** What an interval of a difference says. */
function sign({ low, high }: { low: number; high: number }, better: 'more' | 'less'): string {
  if (low <= 0 && high >= 0) return 'no difference seen';
  return (low > 0) === (better === 'more') ? 'better' : 'worse';
}
