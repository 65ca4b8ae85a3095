import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { sources } from '@/answers/sources';
import { itemsOf, type Question } from '@/answers/words';
import { useModels } from '@/api';
import { qualityCommands } from '@/commands/commands';
import { driftCommands } from '@/commands/quality';
import { SameCall } from '@/commands/SameCall';
import { type Prism, usePrismOfPage, versionsQuery } from '@/data/prisms';
import { type Measured, type Of, pinsQuery, qualityQuery, targetName, tooFew } from '@/data/quality';
import { useVersion } from '@/data/results';
import { Checkbox, type Column, count, ErrorNote, Pick, Select, shown, Skeleton, Table, Tabs, Toolbar } from '@/design';
import { kindOf } from '@/questions';
import { useActions } from '@/shell/actions';
import { Calibrations } from './Calibrations';
import { Confusion } from './Confusion';
import { Coverage } from './Coverage';
import { DriftPart } from './Drift';
import { fewest, leaning, leaningShort, rightOf, rightWords } from './figures';
import { LabelsNeeded } from './LabelsNeeded';
import { Measuring } from './Measuring';
import { ReliabilityPart } from './ReliabilityPart';
import type { Part, QualitySearch } from './search';
import { SeveralPart } from './Several';
import { ThresholdsPart } from './ThresholdsPart';
import { Versions } from './Versions';
import './quality.css';

/** How many labels a measure is of. */
function labelsOf(m: Measured): string {
  const examples = m.examples > 0 ? `; ${shown(m.examples)} are of the version’s examples` : '';
  return `${m.counted} of ${count(m.labels, 'label')} count${examples}`;
}

const route = getRouteApi('/frame/prisms/$prism/quality');

/** What the stored probabilities of a version are worth, measured by labels. */
export function Quality(): ReactNode {
  const { prism } = usePrismOfPage();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const versions = useQuery(versionsQuery(prism.slug));
  const models = useModels();
  const number = search.version ?? prism.latest_version;
  const old = useVersion(prism.slug, number === prism.latest_version ? undefined : number);
  const version = number === prism.latest_version ? prism.version : old.data;
  const questions = version?.questions;
  const chosen = search.model ?? version?.model;
  // Probabilities of another source are not the same thing, whatever the figures say.
  const measured = models.data?.find((m) => chosen == null ? m.default : m.name === chosen);
  // A version with one question has nothing to choose.
  const key = search.question ?? (questions?.length === 1 ? questions[0]!.key : undefined);
  const asked = questions?.find((q) => q.key === key);
  const part = asked && kindOf(asked).part;
  const option = part && search.option && part(asked, search.option) ? search.option : undefined;
  const question = option === undefined ? asked : part!(asked!, option);
  const pins = useQuery(pinsQuery(prism.slug, number));
  const pinned = Object.entries(pins.data?.questions ?? {}).some(([name, id]) =>
    id !== null && (key === undefined || name === targetName({ question: key, option })));
  const set = (change: Partial<QualitySearch>, replace = false) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace, resetScroll: false });
  const of: Of = {
    prism: prism.slug, version: number, question: key, option, model: search.model, calibrated: search.calibrated,
  };
  const neighbour = (by: number) => {
    const at = questions?.findIndex((q) => q.key === key) ?? -1;
    const next = questions?.[at + by];
    if (next) set({ question: next.key, option: undefined });
  };
  useActions([
    { id: 'quality next', group: 'Quality', label: 'Next question', keys: ']', run: () => neighbour(1) },
    { id: 'quality previous', group: 'Quality', label: 'Previous question', keys: '[', run: () => neighbour(-1) },
    ...(pinned ? [{
      id: 'quality calibrated', group: 'Quality',
      label: search.calibrated ? 'Measure the stored probabilities' : 'Measure the calibrated probabilities', keys: 'c',
      run: () => set({ calibrated: search.calibrated ? undefined : true }),
    }] : []),
  ]);
  return (
    <>
      <Toolbar label="What is measured">
        <Select label="Question" value={key ?? ''}
          onChange={({ target: { value } }) =>
            set({ question: value || undefined, option: undefined, tab: value ? search.tab : undefined })}
          options={[
            ...(questions?.length === 1 ? [] : [['', 'All questions'] as const]),
            ...(questions ?? []).map((q) => [q.key, q.text] as const),
            ...(key && questions && !asked ? [[key, `${key}, not in this version`] as const] : []),
          ]} />
        {part && (
          <Pick label="Option" value={option ?? ''} onChange={(next) => set({ option: next || undefined, tab: undefined })}
            options={[['', 'All options together'], ...itemsOf(asked).map((one): [string, string] => [one.key, one.label])]} />
        )}
        <Select label="Version" value={String(number)}
          onChange={(event) => set({ version: Number(event.target.value) === prism.latest_version
            ? undefined : Number(event.target.value), with: undefined })}
          options={(versions.data ?? []).map((v) =>
            [String(v.version), v.version === prism.latest_version ? `${v.version}, the latest` : String(v.version)] as const)}>
          {!versions.data && <option value={number}>{number}</option>}
        </Select>
        <Select label="Model" value={search.model ?? ''} onChange={(event) => set({ model: event.target.value || undefined })}
          options={[['', 'Any model'], ...namesOf(models.data?.map((m) => m.name), search.model)]} />
        {(pinned || search.calibrated) && (
          <Checkbox className="quality-calibrated" label="Calibrated" checked={search.calibrated ?? false}
            onChange={(event) => set({ calibrated: event.target.checked || undefined })} />
        )}
      </Toolbar>
      <p className="soft quality-source">
        {measured && <>Probabilities of <code>{measured.name}</code>: {sources[measured.probabilities]}</>}
      </p>
      <ErrorNote error={old.error} title="The version could not be loaded." onRetry={() => void old.refetch()} />
      {!version ? !old.error && <><Skeleton shape="chart" /><Skeleton shape="bars" lines={4} /></>
        : question ? (
          <OfQuestion prism={prism} question={question} of={{ ...of, question: question.key }}
            pinned={pins.isPending && pins.failureCount === 0 ? undefined
              : pins.data?.questions[targetName({ question: question.key, option })] ?? null} />
        )
        : <Overview of={of} prism={prism} questions={version.questions} />}
    </>
  );
}

/** `82% right, 79 to 85` */
function Right({ of: { figure, words } }: { of: NonNullable<ReturnType<typeof rightOf>> }) {
  const [value, ...interval] = rightWords(figure, words).split(', ');
  return <><strong>{value}</strong>, {interval}</>;
}

const namesOf = (names: string[] | undefined, chosen: string | undefined): [string, string][] =>
  [...new Set([...(names ?? []), ...(chosen === undefined ? [] : [chosen])])].map((name) => [name, name]);

/** Every question with its main figures. */
function Overview({ of, prism, questions }: { of: Of; prism: Prism; questions: Question[] }) {
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(qualityQuery(of));
  const few = tooFew(error);
  const call = <SameCall commands={qualityCommands(location.origin, of)} />;
  if (few) return (
    <>
      <LabelsNeeded prism={prism.slug} version={of.version} question={questions[0]!.key} {...few} what="measures" />
      {call}
    </>
  );
  const columns: Column<Measured>[] = [
    {
      id: 'question', head: 'Question',
      cell: (m) => <span className="quality-question">{questions.find((q) => q.key === m.question)?.text ?? m.question}</span>,
    },
    {
      id: 'right', head: 'Right', width: '14rem',
      cell: (m) => {
        const right = rightOf(m);
        return right ? <span title={String(right.figure.value)}><Right of={right} /></span>
          : <span className="soft">needs {fewest} labels</span>;
      },
    },
    {
      id: 'sure', head: 'As sure as right?', width: '16rem', show: 'wide',
      cell: (m) => m.bins ? <span title={leaning(m.bins, m.type)}>{leaningShort(m.bins, m.type)}</span>
        : <span className="soft">{m.tags ? 'each option by itself' : 'needs 100 labels'}</span>,
    },
    {
      id: 'counted', head: 'Labels',
      cell: (m) => <span title={labelsOf(m)}>{shown(m.counted)}</span>, align: 'end',
      width: '5rem',
    },
  ];
  return (
    <>
      <ErrorNote error={error} title="The measures could not be loaded." onRetry={() => void refetch()} />
      {data ? (
        <>
          <Table label="Questions" columns={columns} rowKey={(m) => m.question}
            rows={data.questions.filter((m) => m.option === undefined)}
            onOpen={(m) => void navigate({ search: (before) => ({ ...before, question: m.question }) })} />
          <p className="soft">How often answers are right, with the 95% interval. Choose a question to see its mistakes.</p>
          {call}
        </>
      ) : !error && <Measuring lines={questions.length + 1} />}
    </>
  );
}

const names: [Part | undefined, string][] = [
  [undefined, 'Reliability'], ['confusion', 'Confusion'], ['coverage', 'Coverage'], ['thresholds', 'Thresholds'],
  ['versions', 'Versions'], ['calibration', 'Calibration'], ['drift', 'Drift'],
];

interface OfQuestionProps {
  prism: Prism;
  question: Question;
  of: Of & { question: string };
  /** Undefined while it is not known. */
  pinned: string | null | undefined;
}

function OfQuestion({ prism, question, of, pinned: known }: OfQuestionProps) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(qualityQuery(of));
  const several = kindOf(question).several !== undefined; // and not one of the options
  const tabs = names.filter(([part]) =>
    part === undefined || !kindOf(question).without.includes(part));
  const tab = tabs.some(([part]) => part === search.tab) ? search.tab : undefined;
  useActions(tabs.map(([part, label]) => ({
    id: `quality ${label}`, group: 'Quality', label, run: () => void navigate({ search: (before) => ({ ...before, tab: part }) }),
  })));
  // A calibration has a legend and points of its own, for which the picture would move.
  const measured = known === undefined ? undefined : data?.questions[0];
  const right = measured && rightOf(measured);
  const pinned = known ?? null;
  const few = tooFew(error);
  const set = (change: Partial<QualitySearch>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const needsMeasures = tab !== 'versions' && tab !== 'calibration' && tab !== 'drift';
  return (
    <>
      <div className="quality-head">
        <h2>{question.text}</h2>
        <p className="quality-right">
          {right && <><Right of={right} /> <span className="soft">of {count(measured!.counted, 'label')} that count</span></>}
        </p>
      </div>
      <Tabs label="Parts of the quality" tabs={tabs.map(([part, label]) => ({
        label: several && part === undefined ? 'Options' : label, to: '/prisms/$prism/quality', params: { prism: prism.slug },
        search: { ...search, tab: part },
        current: part === tab, resetScroll: false,
      }))} />
      {needsMeasures && few && (
        <LabelsNeeded prism={prism.slug} version={of.version} question={question.key} {...few} what="measures" />
      )}
      {needsMeasures && !few && (
        <ErrorNote error={error} title="The measures could not be loaded." onRetry={() => void refetch()} />
      )}
      {needsMeasures && !measured && !error && <Measuring lines={10} />}
      {measured && tab === undefined && several && (
        <SeveralPart question={question} measured={data!.questions} />
      )}
      {measured && tab === undefined && !several && (
        <ReliabilityPart prism={prism.slug} of={of} measured={measured} pinned={pinned} />
      )}
      {measured && tab === 'confusion' && <Confusion of={of} measured={measured} question={question} />}
      {measured && tab === 'coverage' && <Coverage measured={measured} />}
      {measured && tab === 'thresholds' && <ThresholdsPart prism={prism} of={of} search={search} set={set} pinned={pinned} />}
      {needsMeasures && tab !== 'thresholds' && (measured || error) && (
        <SameCall commands={qualityCommands(location.origin, of)} />
      )}
      {tab === 'versions' && (
        <Versions prism={prism} of={of} question={question} against={search.with} onChoose={(to) => set({ with: to })} />
      )}
      {tab === 'drift' && <DriftPart prism={prism} version={of.version} question={question} option={of.option}
        days={search.span === 'days'} />}
      {tab === 'drift' && <SameCall commands={driftCommands(location.origin, prism.slug, of.version)} />}
      {tab === 'calibration' && <Calibrations prism={prism} of={of} type={question.type} pinned={pinned} />}
    </>
  );
}
