import { getRouteApi, Link } from '@tanstack/react-router';
import { moving } from '@/data/events';
import { usePrism, useVersion } from '@/data/results';
import { doneOf, type Run, useFile, useRun } from '@/data/runs';
import {
  Badge, Copy, count, ErrorNote, Facts, money, Note, Num, Page, Section, shown, Skeleton, Status, Time, wholePercent,
} from '@/design';
import { isNowhere, NotFound } from '@/shell/Failed';
import { compact } from '../results/search';
import { doneText, paceText, RunProgress } from './Figures';
import { NewestRows, Notice, Pace, RunAnswers } from './Live';
import { skippedOf } from './reading';
import { RunActions } from './RunActions';
import { RunStatus } from './RunLine';
import { RunRows } from './RunRows';
import type { RunSearch } from './search';
import '../results/results.css';
import './runs.css';

const route = getRouteApi('/frame/runs/$run');

/** One run: live progress, what can be done with it, and its rows. */
export function RunPage() {
  const { run: id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: run, error, refetch } = useRun(id);
  const { data: prism } = usePrism(run?.prism);
  const latest = run?.version === prism?.latest_version;
  const { data: older } = useVersion(latest ? undefined : run?.prism, run?.version);
  const questions = (latest ? prism?.version : older)?.questions ?? [];
  const set = (change: RunSearch, replace = false) =>
    void navigate({ search: (old) => compact({ ...old, ...change }), replace, resetScroll: false });
  if (isNowhere(error) && !run) return <NotFound />;
  if (!run) {
    return (
      <Page title="Run">
        <ErrorNote error={error} title="The run could not be read." onRetry={() => void refetch()} />
        {!error && <><Skeleton shape="stats" lines={5} /><Skeleton shape="bars" lines={6} /></>}
      </Page>
    );
  }
  return (
    <Page title={run.name ?? 'Run'} name={tabName(run)} actions={
      <RunActions run={run} only={search.only ?? 'all'} />
    } lead={
      <span className="row">
        <RunStatus run={run} />
        <span className="runs-of">
          <Link to="/results" search={{ prism: run.prism, run: id }}>Results</Link> of {run.prism} version {run.version}
        </span>
      </span>
    }>
      <ErrorNote error={error} title="The run could not be read again." onRetry={() => void refetch()} />
      {run.reason && <Note tone="warn"><strong>Paused by itself:</strong> {run.reason} Look into it, then resume the run.</Note>}
      <Progressing run={run} />
      {run.labels && (
        <p>
          {count(run.labels.stored, 'label')} of what was right {run.labels.stored === 1 ? 'is' : 'are'} stored
          {run.labels.invalid > 0 && `, and ${count(run.labels.invalid, 'cell')} had none that the question knows`}.{' '}
          <Link to="/prisms/$prism/quality" params={{ prism: run.prism }} search={{ version: run.version }}>Quality</Link>
        </p>
      )}
      {prism && (
        <div className={moving(run) ? 'chart-sides' : undefined}>
          <RunAnswers run={run} prism={prism} questions={questions} />
          {moving(run) && <div className="stack"><Pace run={run} /><NewestRows run={run} prism={prism} /></div>}
        </div>
      )}
      <details className="runs-about"><summary>About this run</summary><About run={run} /></details>
      <Section title="Rows"><RunRows run={run} search={search} set={set} /></Section>
    </Page>
  );
}

/** The name in the tab of the browser: while the run moves, how far it is comes first. */
const tabName = (run: Run) =>
  `${moving(run) ? `${wholePercent(doneOf(run) / Math.max(1, run.rows))} · ` : ''}${run.name ?? `Run ${run.id}`}`;

function Progressing({ run }: { run: Run }) {
  const { data: file } = useFile(run.file_id);
  const skipped = file ? skippedOf(file) : 0;
  const states: [string, number][] = [
    ['ok', run.ok], ['failed', run.failed], ['invalid', run.invalid], ['cancelled', run.cancelled], ['pending', run.pending],
  ];
  return (
    <div className="stack-2">
      <div className="runs-line num"><strong>{doneText(run)}</strong>{moving(run) && <span>{paceText(run)}</span>}</div>
      <RunProgress run={run} />
      <ul className="runs-states">
        {states.map(([status, n]) => (
          <li key={status} className={n === 0 ? 'none' : undefined}>
            <Status status={status} /> <strong className="num">{shown(n)}</strong>
          </li>
        ))}
        {skipped > 0 && (
          <li title="Empty rows of the file are no rows of the run.">
            <Badge icon="stop">skipped</Badge> <strong className="num">{shown(skipped)}</strong>
          </li>
        )}
        <li><Notice run={run} /></li>
      </ul>
    </div>
  );
}

function About({ run }: { run: Run }) {
  const { data: file } = useFile(run.file_id);
  const { usage } = run;
  return (
    <Facts items={[
      ['File', file ? `${file.name}, ${shown(file.rows ?? run.rows)} rows` : 'deleted or not read'],
      ['Tokens', <><Num value={usage.input_tokens} /> in, <Num value={usage.output_tokens} /> out</>],
      ['Cost', usage.cost === null
        ? '–' : <span className="num" title={String(usage.cost)}>{money(usage.cost, usage.currency)}</span>],
      ['Created', <Time at={run.created_at} />],
      ['Started', <Time at={run.started_at} />],
      ['Over', <Time at={run.finished_at} />],
      ['Run id', <span className="row"><span className="mono">{run.id}</span><Copy text={run.id} label="Copy id" /></span>],
      ['Command', <span className="row">
        <code>prismctl runs watch {run.id}</code>
        <Copy text={`prismctl runs watch ${run.id}`} label="Copy command" />
      </span>],
    ]} />
  );
}
