import { getRouteApi, Link } from '@tanstack/react-router';
import { Copy, ErrorNote, Facts, money, Note, Num, Page, Section, shown, Skeleton, Status, Time } from '@/design';
import { isNowhere, NotFound } from '@/shell/Failed';
import { compact } from '../results/search';
import '../results/results.css';
import { type Run, useFile, useRun } from './data';
import { moving } from './events';
import { doneText, paceText, RunProgress } from './Figures';
import { RunActions } from './RunActions';
import { RunRows } from './RunRows';
import './runs.css';
import type { RunSearch } from './search';

const route = getRouteApi('/frame/runs/$run');

/** One run: live progress, what can be done with it, and its rows. */
export function RunPage() {
  const { run: id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: run, error, refetch } = useRun(id);
  const set = (change: RunSearch, replace = false) =>
    void navigate({ search: (old) => compact({ ...old, ...change }), replace, resetScroll: false });
  if (isNowhere(error) && !run) return <NotFound />;
  if (!run) {
    return (
      <Page title="Run">
        <ErrorNote error={error} title="The run could not be read." onRetry={() => void refetch()} />
        {!error && <Skeleton lines={8} />}
      </Page>
    );
  }
  return (
    <Page title={run.name ?? 'Run'} name={run.name ?? `Run ${id}`} actions={
      <RunActions run={run} only={search.only ?? 'all'} />
    } lead={
      <span className="row">
        <Status status={run.status} />
        <span className="runs-of">
          <Link to="/results" search={{ run: id }}>Results</Link> of {run.prism} version {run.version}
        </span>
      </span>
    }>
      <ErrorNote error={error} title="The run could not be read again." onRetry={() => void refetch()} />
      {run.reason && <Note tone="warn"><strong>Paused by itself:</strong> {run.reason} Look into it, then resume the run.</Note>}
      <Progressing run={run} />
      <details className="runs-about"><summary>About this run</summary><About run={run} /></details>
      <Section title="Rows"><RunRows run={run} search={search} set={set} /></Section>
    </Page>
  );
}

function Progressing({ run }: { run: Run }) {
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
