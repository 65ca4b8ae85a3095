import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { api, ask, askAll, type Schemas } from '@/api';
import { AreaChart } from '@/charts';
import { byDay, dayAfter, today, whole } from '@/data/usage';
import {
  type Column, count, duration, ErrorNote, exactly, money, percent, Progress, Section, shown, Skeleton, Status, Table, Time,
  type Tone,
} from '@/design';
import { Cards } from '../overview/Cards';
import { Stat, Stats } from '../overview/Stats';

type Result = Schemas['Result'];
type Run = Schemas['Run'];

const ended = ['finished', 'cancelled'];

/** What happened lately: the last 30 days, active runs and the newest failures. */
export function Overview({ newest }: { newest: Result[] }) {
  const query = { from: dayAfter(today(), -29), to: dayAfter(today(), 1) };
  const usage = useQuery({
    queryKey: ['usage', query, 'day'],
    queryFn: ({ signal }) => ask(api.GET('/v1/usage', { params: { query }, signal })),
    refetchInterval: 60_000,
  });
  return (
    <>
      <Cards />
      <ErrorNote error={usage.error} onRetry={() => void usage.refetch()} />
      {usage.data ? <Days usage={usage.data} newest={newest} /> : !usage.error && (
        <>
          <Skeleton shape="stats" lines={5} />
          <div className="home-charts"><Skeleton shape="chart" /><Skeleton shape="chart" /><Skeleton shape="chart" /></div>
        </>
      )}
      <div className="home-lists">
        <ActiveRuns />
        <Failures />
      </div>
    </>
  );
}

function Days({ usage, newest }: { usage: Schemas['Usage']; newest: Result[] }) {
  const list = byDay(usage.data, usage.from, usage.to);
  const sum = whole(usage.data);
  const times = list.map((total) => total.name!);
  const took = newest.map((result) => result.took_ms).sort((a, b) => a - b);
  const middle = took[Math.floor((took.length - 1) / 2)] ?? 0;
  const slow = took[Math.ceil(took.length * 0.95) - 1] ?? 0;
  const costs = Object.entries(sum.costs);
  return (
    <>
      <Stats>
        <Stat name="Results, 30 days" title={exactly(sum.results)}><Link to="/usage">{shown(sum.results)}</Link></Stat>
        <Stat name="Failed" title={exactly(sum.failed)}>
          {shown(sum.failed)} <small className="soft">{sum.results ? percent(sum.failed / sum.results) : ''}</small>
        </Stat>
        <Stat name={`Time, newest ${took.length}`} title={`Half took up to ${middle} ms, 95 of 100 up to ${slow} ms`}>
          {duration(middle)} <small className="soft">p95 {duration(slow)}</small>
        </Stat>
        {costs.length > 0 && (
          <Stat name="Cost, 30 days" title={costs.map(([currency, cost]) => `${exactly(cost)} ${currency}`).join(', ')}>
            {costs.map(([currency, cost]) => money(cost, currency)).join(' + ')}
          </Stat>
        )}
      </Stats>
      <div className="home-charts">
        <AreaChart title="Calls by day" label={`Calls by day, ${count(sum.results, 'result')} in 30 days`} times={times}
          series={[{ label: 'Results', values: list.map((t) => t.results) }]} />
        <AreaChart title="Failures by day" label={`Failures by day, ${shown(sum.failed)} in 30 days`} times={times}
          series={[{ label: 'Failed', values: list.map((t) => t.failed), bad: true }]} />
        <Times newest={newest} />
      </div>
    </>
  );
}

/** How long the newest results took, oldest first. */
function Times({ newest }: { newest: Result[] }) {
  // Rows of a run have ids of when they were leased, in no order of when they were answered.
  const oldestFirst = [...newest].sort((a, b) => a.created_at.localeCompare(b.created_at));
  return (
    <AreaChart title={`Time of the newest ${newest.length}`} label="How long the newest results took" format={duration}
      axis={duration}
      times={oldestFirst.map((result) => result.created_at.slice(0, 19).replace('T', ' '))}
      series={[{ label: 'Time', values: oldestFirst.map((result) => result.took_ms) }]} />
  );
}

function ActiveRuns() {
  const { data, error, refetch } = useQuery({
    queryKey: ['runs', 'newest'],
    queryFn: ({ signal }) =>
      askAll((cursor) => ask(api.GET('/v1/runs', { params: { query: { limit: 50, cursor } }, signal })), 50),
    refetchInterval: 5_000,
  });
  const active = data?.filter((run) => !ended.includes(run.status)) ?? [];
  return (
    <Section title="Active runs" actions={<Link to="/runs">All runs</Link>}>
      <ErrorNote error={error} onRetry={() => void refetch()} />
      {!data && !error && <Skeleton />}
      {data && active.length === 0 && <p className="soft">No run is active. A run answers each row of a file.</p>}
      <ul className="home-runs">{active.map((run) => <li key={run.id}><RunLine run={run} /></li>)}</ul>
    </Section>
  );
}

function RunLine({ run }: { run: Run }) {
  const parts: { value: number; tone: Tone; label: string }[] = [
    { value: run.ok, tone: 'good', label: 'ok' }, { value: run.failed, tone: 'bad', label: 'failed' },
    { value: run.invalid, tone: 'warn', label: 'invalid' },
  ];
  return (
    <>
      <div className="row">
        <Link to="/runs/$run" params={{ run: run.id }} className="grow clip">
          {run.name ?? `${run.prism}, ${count(run.rows, 'row')}`}
        </Link>
        <Status status={run.status} />
      </div>
      <Progress label={run.name ?? run.prism} max={run.rows} parts={parts} />
      <p className="soft num">
        {shown(run.rows - run.pending)} of {count(run.rows, 'row')}
        {run.eta_seconds !== null && run.status === 'running' && `, about ${duration(run.eta_seconds * 1000)} left`}
      </p>
    </>
  );
}

const columns: Column<Result>[] = [
  { id: 'at', head: 'Time', cell: (result) => <Time at={result.created_at} />, width: '8rem' },
  {
    id: 'prism', head: 'Prism',
    cell: (result) => <Link to="/prisms/$prism" params={{ prism: result.prism }}>{result.prism}</Link>, width: '9rem',
    show: 'wide',
  },
  { id: 'error', head: 'Error', cell: (result) => result.error },
  {
    id: 'took', head: 'Took', cell: (result) => <span title={`${result.took_ms} ms`}>{duration(result.took_ms)}</span>,
    align: 'end', show: 'wide', width: '5rem',
  },
];

function Failures() {
  const navigate = useNavigate();
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ['results', 'failed', 'newest'],
    queryFn: ({ signal }) => ask(api.GET('/v1/results', { params: { query: { status: 'failed', limit: 8 } }, signal })),
    refetchInterval: 15_000,
  });
  return (
    <Section title="Newest failures" actions={<Link to="/results" search={{ status: 'failed' }}>All failures</Link>}>
      <ErrorNote error={error} onRetry={() => void refetch()} />
      {data ? (
        <Table label="Newest failures" columns={columns} rows={data.data as Result[]} rowKey={(result) => result.id}
          stale={isPlaceholderData}
          onOpen={(result) => void navigate({ to: '/results/$result', params: { result: result.id } })}
          empty={<p className="soft">No result failed.</p>} />
      ) : !error && <Skeleton shape="table" />}
    </Section>
  );
}
