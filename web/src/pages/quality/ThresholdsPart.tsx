import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { api, ask, useCan } from '@/api';
import { Curve } from '@/charts';
import { thresholdCommands } from '@/commands/commands';
import { SameCall } from '@/commands/SameCall';
import { latestQuery } from '@/data/distribution';
import { type Prism, type Tagged, usePrismOfPage } from '@/data/prisms';
import { costedQuery, type Costs, type Of, type Threshold, type Thresholds } from '@/data/quality';
import type { LensColumn } from '@/definitions/model';
import {
  Button, count, Dialog, ErrorNote, Input, Note, onKeys, percent, Section, Select, shown, toast, typedNumber,
} from '@/design';
import { outcome, rounded } from './figures';
import { Measuring } from './Measuring';
import type { QualitySearch } from './search';
import { Track } from './Track';
import { binsOf, sumOf, wrongWords } from './zones';

const usual: Costs = { false_yes: 1, false_no: 1, unsure: 0.3 };
const costNames: [keyof Costs, string, string][] = [
  ['false_yes', 'A wrong yes costs', 'It should be no.'], ['false_no', 'A wrong no costs', 'It should be yes.'],
  ['unsure', 'An unsure costs', 'A person looks at it.'],
];

interface ThresholdsPartProps {
  prism: Prism;
  of: Of & { question: string };
  search: QualitySearch;
  set: (change: Partial<QualitySearch>) => void;
  pinned: string | null;
}

/**
 * Where yes begins and no ends, by what mistakes cost. The costs of any thresholds are computed here, from counts of the labels.
 */
export function ThresholdsPart({ prism, of, search, set, pinned }: ThresholdsPartProps) {
  const costs: Costs = {
    false_yes: search.false_yes ?? usual.false_yes, false_no: search.false_no ?? usual.false_no,
    unsure: search.unsure ?? usual.unsure,
  };
  const { data, error, refetch, isPlaceholderData } = useQuery(costedQuery(of, costs));
  return (
    <>
      <Section title="Where to say yes">
        <div className="quality-costs">
          {costNames.map(([name, label, hint]) => (
            <Cost key={`${name} ${costs[name]}`} label={label} hint={hint} value={costs[name]}
              onChange={(value) => set({ [name]: value })} />
          ))}
        </div>
        {pinned !== null && !search.calibrated && (
          <Note>
            Theory is for calibrated probabilities. A calibration is pinned, that is in use: tick Calibrated, and use a calibrated
            column of the Lens.
          </Note>
        )}
        <ErrorNote error={error} title="The thresholds could not be computed." onRetry={() => void refetch()} />
        {data ? <Chosen prism={prism} of={of} data={data} costs={costs} search={search} set={set} stale={isPlaceholderData} />
          : !error && <Measuring lines={8} />}
      </Section>
      <SameCall commands={thresholdCommands(location.origin, of, costs)} />
    </>
  );
}

interface CostProps {
  label: string;
  hint: string;
  value: number;
  onChange: (value: number) => void;
}

/** A cost is sent once it was left, or with Enter. */
function Cost({ label, hint, value, onChange }: CostProps) {
  const [typed, setTyped] = useState(String(value));
  const n = typedNumber(typed);
  const wrong = !(n >= 0 && n <= 1e9);
  const send = () => { if (!wrong && n !== value) onChange(n); };
  return (
    <Input label={label} hint={hint} inputMode="decimal" value={typed}
      error={wrong ? 'A number from 0 to 1,000,000,000.' : undefined} onChange={(event) => setTyped(event.target.value)}
      onBlur={send} onKeyDown={onKeys((event) => { if (event.key === 'Enter') send(); })} />
  );
}

const clamp = (value: number) => Math.round(Math.max(0, Math.min(1, value)) * 100) / 100;

/**
 * The answers whose zones are counted: those of the last 30 days, or else the labels, which alone are there of calibrated
 * probabilities and of one model.
 */
function useAnswers(of: Of & { question: string }, data: Thresholds) {
  const counted = data.calibration === null && of.model === undefined && of.option === undefined;
  const recent = useQuery({ ...latestQuery(of.prism, of.question, of.version), enabled: counted });
  const bins = counted && !recent.error ? sumOf(recent.data?.data ?? []) : undefined;
  return bins?.some(Boolean) || recent.isLoading
    ? { bins: bins ?? [], whose: 'of the last 30 days' }
    : { bins: binsOf(data.counts), whose: 'that have labels' };
}

interface ChosenProps {
  prism: Prism;
  of: Of & { question: string };
  data: Thresholds;
  costs: Costs;
  search: QualitySearch;
  set: (change: Partial<QualitySearch>) => void;
  stale: boolean;
}

function Chosen({ prism, of, data, costs, search, set, stale }: ChosenProps) {
  const columns = prism.lens.columns.filter((c) => c.question === of.question && c.show === 'answer');
  // A column of several options has one threshold for all of them.
  const yes = columns[0]?.yes_at ?? (of.option === undefined ? 0.6 : 0.5);
  const stored = { yes: clamp(yes), no: clamp(of.option === undefined ? columns[0]?.no_at ?? 0.4 : yes) };
  const given = { yes: search.yes_at ?? stored.yes, no: search.no_at ?? stored.no };
  // A slider that moves shows its costs at once; the address takes its place when it is let go.
  const [moved, setMoved] = useState(given);
  useEffect(() => setMoved({ yes: given.yes, no: given.no }), [given.yes, given.no]);
  const move = (yes: number, no: number) => setMoved({ yes, no });
  const keep = () => { if (moved.yes !== given.yes || moved.no !== given.no) set({ yes_at: moved.yes, no_at: moved.no }); };
  const take = ({ yes_at, no_at }: Threshold) => set({ yes_at: clamp(yes_at), no_at: clamp(Math.min(yes_at, no_at)) });
  const mine = outcome(data.counts, costs, moved.yes, moved.no);
  const line = (label: string, of_: (at: number) => Threshold) =>
    ({ label, points: data.counts.map(({ at }) => ({ x: at, y: of_(at).mean })) });
  const answers = useAnswers(of, data);
  return (
    <>
        <Track {...answers} yes={moved.yes} no={moved.no} onMove={move} onKeep={keep}
          wrong={{ yes: wrongWords(mine.false_yes, mine.yes), no: wrongWords(mine.false_no, mine.no) }} />
        <p role="status">
          These cost {rounded(mine.mean)} an
          answer: {count(mine.false_yes, 'wrong yes', 'wrong yeses')}, {count(mine.false_no, 'wrong no', 'wrong noes')}
          {' '}and {shown(mine.unsure)} unsure of {count(data.counted, 'label')}.
        </p>
        <div className="quality-scroll" tabIndex={0} role="region" aria-label="Thresholds and what they cost">
          <table className="table" aria-busy={stale || undefined}>
            <thead>
              <tr>
                <th scope="col">Thresholds</th>
                {heads.map((head) => (
                  <th key={head} scope="col" className={counted.includes(head) ? 'end wide' : 'end'}>{head}</th>
                ))}
                <th scope="col"><span className="unseen">Take them</span></th>
              </tr>
            </thead>
            <tbody>
              <Row name="As they are set" of={mine} />
              <Row name="By theory" of={data.theory} action={
                <Button small variant="quiet" onClick={() => take(data.theory)}>
                  Take<span className="unseen"> those by theory</span>
                </Button>
              } />
              <Row name="Least cost on the labels" of={data.empirical} action={
                <Button small variant="quiet" onClick={() => take(data.empirical)}>
                  Take<span className="unseen"> those of least cost</span>
                </Button>
              } />
            </tbody>
          </table>
        </div>
        <p className="soft">
          Theory is right if probabilities are calibrated. Those of least cost were chosen on these labels, so they look better
          than they will be on new answers.
        </p>
        <Curve label="Cost of an answer, by threshold" axes={{ x: 'Threshold', y: 'Cost of an answer' }}
          initial={Math.round(moved.yes * 100)} formatX={percent} formatY={rounded}
          lines={[
            line('Yes from, with this “no up to”', (at) => outcome(data.counts, costs, Math.max(at, moved.no), moved.no)),
            line('No up to, with this “yes from”', (at) => outcome(data.counts, costs, moved.yes, Math.min(at, moved.yes))),
          ]}
          marks={moved.yes === moved.no ? [{ x: moved.yes, label: 'yes from, no up to' }]
            : [{ x: moved.no, label: 'no up to' }, { x: moved.yes, label: 'yes from' }]}
          wordsOf={(i) => {
            const at = data.counts[i]!.at;
            const yes = outcome(data.counts, costs, Math.max(at, moved.no), moved.no).mean;
            const no = outcome(data.counts, costs, moved.yes, Math.min(at, moved.yes)).mean;
            return `At ${percent(at)}: yes from there costs ${rounded(yes)} an answer, no up to there ${rounded(no)}.`;
          }} />
        {of.option === undefined
          ? <SetInLens of={of} calibrated={data.calibration !== null} yes={moved.yes} no={moved.no} />
          : (
            <p className="soft">
              A column of the Lens has one threshold for all options of a question. Use these where you read the probability of
              this option: in a column that shows it, or in a filter of results.
            </p>
          )}
    </>
  );
}

const counted = ['Yes', 'No', 'Unsure', 'Wrong yes', 'Wrong no', 'Cost'];
const heads = ['No up to', 'Yes from', ...counted, 'An answer'];

function Row({ name, of, action }: { name: string; of: Threshold; action?: ReactNode }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="end" title={String(of.no_at)}>{percent(of.no_at)}</td>
      <td className="end" title={String(of.yes_at)}>{percent(of.yes_at)}</td>
      {[of.yes, of.no, of.unsure, of.false_yes, of.false_no, of.total].map((n, i) => (
        <td key={i} className="end wide" title={String(n)}>{shown(n)}</td>
      ))}
      <td className="end" title={String(of.mean)}><strong>{rounded(of.mean)}</strong></td>
      <td>{action}</td>
    </tr>
  );
}

/** A column without the members that are null. */
const plainly = (column: LensColumn): LensColumn =>
  Object.fromEntries(Object.entries(column).filter(([, value]) => value != null)) as LensColumn;

/** Writes the thresholds to a column of the Lens, after it was named. */
function SetInLens({ of, calibrated, yes, no }: { of: Of & { question: string }; calibrated: boolean; yes: number; no: number }) {
  const { prism, etag } = usePrismOfPage();
  const canEdit = useCan('edit') && prism.archived_at === null;
  const client = useQueryClient();
  const columns = prism.lens.columns.filter((c) => c.question === of.question && c.show === 'answer');
  const [name, setName] = useState<string>();
  const [asking, setAsking] = useState(false);
  const column =
    columns.find((c) => c.name === name) ?? columns.find((c) => (c.calibrated ?? false) === calibrated) ?? columns[0];
  const put = ({ tag, next }: { tag: string; next: LensColumn[] }) =>
    ask(api.PUT(
      '/v1/prisms/{prism}/lens',
      { params: { path: { prism: prism.slug }, header: { 'If-Match': tag } }, body: { columns: next } },
    ));
  const reread = async () => {
    await client.invalidateQueries({ queryKey: ['prism', prism.slug] });
    for (const queryKey of [['prisms'], ['results']]) void client.invalidateQueries({ queryKey });
  };
  const undo = useMutation({ mutationFn: put, onSuccess: async () => { await reread(); toast('The Lens is as it was.'); } });
  const save = useMutation({
    mutationFn: put,
    onSuccess: async () => {
      const before = prism.lens.columns.map(plainly);
      setAsking(false);
      await reread();
      toast(`Thresholds of ${column?.name} set.`, () =>
        undo.mutate({ tag: client.getQueryData<Tagged>(['prism', prism.slug])?.etag ?? '', next: before }));
    },
  });
  if (!canEdit) return null;
  if (!column) return (
    <p className="soft">The Lens has no column that shows the answer of this question, so there is nothing to set.</p>
  );
  const next = prism.lens.columns.map((c) => plainly(c === column ? { ...c, yes_at: yes, no_at: no } : c));
  const other = (column.calibrated ?? false) !== calibrated;
  return (
    <div className="row">
      {columns.length > 1 && (
        <Select label="Column" hideLabel value={column.name} onChange={(event) => setName(event.target.value)}
          options={columns.map((c) => [c.name, c.name] as const)} />
      )}
      <Button onClick={() => setAsking(true)}>Set in the Lens</Button>
      <span className="soft">
        Column <code>{column.name}</code> of what calls and downloads show (the Lens) has no up
        to {percent(column.no_at ?? 0.4)}, yes from {percent(column.yes_at ?? 0.6)}.
      </span>
      <ErrorNote error={undo.error} title="The Lens was not set back." />
      <Dialog open={asking} onClose={() => setAsking(false)} title={`Set thresholds of column ${column.name}?`}
        onSubmit={() => save.mutate({ tag: etag, next })}
        actions={
          <>
            <Button onClick={() => setAsking(false)}>Cancel</Button>
            <Button type="submit" variant="primary" busy={save.isPending}>Set thresholds</Button>
          </>
        }>
        <div className="stack">
          <p>
            Column <code>{column.name}</code> of the Lens of {prism.slug} will show yes from {percent(yes)} and no up
            to {percent(no)}, also of old results. Before: yes from {percent(column.yes_at ?? 0.6)}, no up
            to {percent(column.no_at ?? 0.4)}.
          </p>
          {other && <Note tone="warn">{calibrated
            ? 'These thresholds are for calibrated probabilities, and this column shows stored ones.'
            : 'These thresholds are for stored probabilities, and this column shows calibrated ones.'}</Note>}
          <ErrorNote error={save.error} title="The Lens was not changed." />
        </div>
      </Dialog>
    </div>
  );
}
