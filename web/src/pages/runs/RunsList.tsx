import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCan, usePrisms } from '@/api';
import { shellWord } from '@/commands/commands';
import { doneOf, type Run, type RunFilter, useRuns } from '@/data/runs';
import { Button, ButtonLink, type Column, Empty, ErrorNote, Select, shown, Skeleton, Table, Time, Toolbar } from '@/design';
import { useActions } from '@/shell/actions';
import { compact } from '../results/search';
import { leftText, rateText, RunProgress } from './Figures';
import { RunStatus } from './RunLine';
import { runsSearch, statuses } from './search';
import './runs.css';

/** The runs of the account, or of one prism, live. */
export function RunsList({ prism: fixed }: { prism?: string }) {
  const all = useSearch({ strict: false }) as Record<string, unknown>;
  const search = { ...runsSearch(all), ...(fixed !== undefined && { prism: fixed }) };
  const navigate = useNavigate();
  const list = useRuns(search);
  const prisms = usePrisms().data ?? [];
  const may = useCan('call');
  const set = (change: RunFilter) =>
    void navigate({ to: '.', search: (old) => compact({ ...old, ...change }), resetScroll: false });
  const start = () => void navigate({ to: '/runs/new', search: compact({ prism: search.prism }) });
  useActions(may ? [{ id: 'run-new', group: 'Runs', label: 'New run', words: 'file upload csv', keys: 'n', run: start }] : []);
  const runs = list.data?.pages.flatMap((page) => page.data) ?? [];
  const bare = search.status === undefined && (fixed !== undefined || search.prism === undefined);
  return (
    <div className="stack">
      <Toolbar label="Filters">
        {fixed === undefined && (
          <Select label="Prism" value={search.prism ?? ''} onChange={(event) => set({ prism: event.target.value || undefined })}>
            <option value="">All prisms</option>
            {search.prism !== undefined && !prisms.some(({ slug }) => slug === search.prism) && (
              <option value={search.prism}>{search.prism}</option>
            )}
            {prisms.map(({ slug }) => <option key={slug} value={slug}>{slug}</option>)}
          </Select>
        )}
        <Select label="State" value={search.status ?? ''}
          onChange={(event) => set({ status: (event.target.value || undefined) as RunFilter['status'] })}>
          <option value="">Every state</option>
          {statuses.map((status) => <option key={status} value={status}>{status}</option>)}
        </Select>
        {fixed !== undefined && may && <ButtonLink to="/runs/new" search={{ prism: fixed }} icon="plus">New run</ButtonLink>}
      </Toolbar>
      <ErrorNote error={list.error} title="The runs could not be read." onRetry={() => void list.refetch()} />
      {list.isPending ? !list.error && <Skeleton shape="table" lines={8} /> : (
        <Table label="Runs" columns={columns(fixed !== undefined)} rows={runs} rowKey={(run) => run.id}
          stale={list.isPlaceholderData}
          onOpen={(run) => void navigate({ to: '/runs/$run', params: { run: run.id } })}
          empty={bare ? (
            <Empty title="Runs will be here" drawing="run"
              command={`prismctl runs create -f FILE.csv --prism ${shellWord(fixed ?? 'PRISM')} --watch`}
              action={may && (
                <ButtonLink variant="primary" icon="plus" to="/runs/new" search={compact({ prism: fixed })}>New run</ButtonLink>
              )}>
              A run sends every row of a file through a prism, and gives the file back with the answers beside each row.
            </Empty>
          ) : <Empty title="No run matches">Change the filters above.</Empty>} />
      )}
      {list.hasNextPage && (
        <div><Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>Show more runs</Button></div>
      )}
    </div>
  );
}

const columns = (ofOne: boolean): Column<Run>[] => [
  { id: 'name', head: 'Run', cell: (run) => run.name ?? <code title={run.id}>{run.id.slice(-12)}</code> },
  ...(ofOne ? [] : [{
    id: 'prism', head: 'Prism', cell: (run: Run) => <>{run.prism} <span className="soft">v{run.version}</span></>,
    show: 'wide' as const, width: '7rem',
  }]),
  {
    id: 'state', head: 'State',
    cell: (run) => <span className="runs-state" title={run.reason ?? undefined}><RunStatus run={run} /></span>, width: '11rem',
  },
  { id: 'progress', head: 'Progress', cell: (run) => <RunProgress run={run} />, width: '5rem' },
  {
    id: 'done', head: 'Done', align: 'end',
    cell: (run) => <span className="num">{shown(doneOf(run))} <span className="soft">of {shown(run.rows)}</span></span>,
    show: 'wide',
  },
  {
    id: 'failed', head: 'Failed', align: 'end', cell: (run) => run.failed ? shown(run.failed) : <span className="soft">0</span>,
    show: 'wide',
  },
  { id: 'rate', head: 'Pace', align: 'end', cell: rateText, show: 'wide', width: '4rem' },
  { id: 'left', head: 'Left', align: 'end', cell: leftText, show: 'wide', width: '6rem' },
  { id: 'created', head: 'Created', cell: (run) => <Time at={run.created_at} />, show: 'wide', width: '7rem' },
];
