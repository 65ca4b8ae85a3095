import { useIsFetching, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useCan, usePrisms } from '@/api';
import { shellWord } from '@/commands/commands';
import { type Counts, isSearched, renew, resultOptions, useCounts, useNewer, usePrism, useResults } from '@/data/results';
import { Button, ButtonLink, count, Empty, ErrorNote, Panel, shown, Skeleton, Split } from '@/design';
import { useActions } from '@/shell/actions';
import { AssignMatching } from './AssignMany';
import { sortWords } from './chips';
import { Chosen } from './Chosen';
import { columnsOf } from './columns';
import { ColumnsMenu } from './ColumnsMenu';
import { DeleteMany } from './DeleteMany';
import { useWaiting } from './deleting';
import { DownloadChosen, DownloadResults } from './Downloads';
import { Filters } from './Filters';
import { ResultActions } from './ResultActions';
import { ResultView } from './ResultView';
import { RetryMany } from './RetryMany';
import { RunManyAgain } from './RunAgain';
import { beyondQueue, clear, filtered, listQuery, queueOf, type ResultsSearch } from './search';
import { useResultsSearch } from './useSearch';
import { ViewTabs } from './ViewTabs';
import { VirtualTable } from './VirtualTable';
import { choices, useWanted, wantedBy } from './wanted';

/** The results of the account, or of one prism, with their filters, the open one beside them, and what is done with many. */
export function ResultsTable({ prism: fixed }: { prism?: string }) {
  const [search, set] = useResultsSearch(fixed);
  const query = useMemo(() => listQuery(search), [search]);
  const client = useQueryClient();
  const list = useResults(query);
  const { data: prism } = usePrism(search.prism);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const prisms = usePrisms().data;
  const { text: wanted } = useWanted();
  const [dialog, setDialog] = useState<'download' | 'chosen' | 'matching' | 'assign' | 'again' | 'delete'>();
  const [all, setAll] = useState(false);
  const navigate = useNavigate();
  const choose = (ids: ReadonlySet<string>) => { setChosen(ids); setAll(false); };
  const total = useCounts(query, '@status', chosen.size > 0).data;
  const mayCall = useCan('call');
  const key = JSON.stringify(query);
  useEffect(() => choose(new Set()), [key]);

  const waiting = useWaiting();
  const rows = useMemo(
    () => list.data?.pages.flatMap((page) => page.data).filter(({ id }) => !waiting.has(id)) ?? [], [list.data, waiting],
  );
  const newer = useNewer(query, list.data?.pages[0]?.data[0]?.id);
  const columns = useMemo(() => columnsOf(
    prism, prisms ?? [], wantedBy(choices(wanted)), query.sort,
  ), [prism, prisms, wanted, query.sort]);
  const { hasNextPage, isFetching, fetchNextPage, isError } = list;
  const mayMore = hasNextPage && !isFetching && !isError;
  const more = useCallback(() => void fetchNextPage({ cancelRefetch: false }), [fetchNextPage]);

  const at = rows.findIndex((row) => row.id === search.open);
  const open = useCallback((id: string | undefined, replace = false) => set({ open: id }, replace), [set]);
  const step = (by: number) => {
    const row = at < 0 ? undefined : rows[at + by];
    return row && (() => open(row.id, true));
  };
  // The neighbours of the open result are read before they are asked for.
  useEffect(() => {
    for (const row of at < 0 ? [] : [rows[at + 1], rows[at - 1]]) if (row) void client.prefetchQuery(resultOptions(row.id));
  }, [at, rows, client]);
  const refresh = () => { scrollTo({ top: 0 }); void renew(client, query); };
  useActions([
    { id: 'results-refresh', group: 'Results', label: 'Show the newest results', keys: 'r', run: refresh },
    {
      id: 'results-download', group: 'Results', label: 'Download results', keys: 'd',
      words: 'export xlsx excel csv tsv jsonl parquet', run: () => setDialog('download'),
    },
    ...(mayCall ? [{
      id: 'results-retry', group: 'Results', label: 'Retry all failed results that match', run: () => setDialog('matching'),
    }] : []),
    ...(chosen.size
      ? [{ id: 'results-clear', group: 'Results', label: 'Clear the selection', run: () => choose(new Set()) }] : []),
  ]);
  const busy = useIsFetching({ queryKey: ['results', 'list', query] }) > 0;
  const first = list.isPending;
  const failed = list.error !== null && rows.length === 0;
  const leave = () => {
    const next = rows[at + 1] ?? rows[at - 1];
    return open(next?.id, true);
  };

  const label = () => {
    if (search.prism === undefined) return undefined;
    return navigate({ to: '/prisms/$prism/label', params: { prism: search.prism }, search: queueOf(search) });
  };

  const table = (
    <VirtualTable label="Results" columns={columns} rows={rows} rowKey={(row) => row.id} open={search.open} rowHeight={52}
      stale={list.isPlaceholderData} sort={query.sort ?? (query.run ? undefined : '-@created')}
      onSort={isSearched(prism) ? (sort) => set({ sort: sort === '-@created' ? undefined : sort }) : undefined}
      onOpen={(row) => open(row.id, search.open !== undefined)} chosen={chosen} onChoose={choose}
      more={mayMore ? more : undefined} tail={<Tail list={list} rows={rows.length} />} />
  );
  return (
    <div className="stack">
      <ViewTabs search={search} set={set} fixed={fixed} searched={isSearched(prism)} />
      <Filters search={search} set={set} fixed={fixed !== undefined} />
      <div className="results-line">
        <Matches {...{ search, query, list }} rows={rows.length} />
        {newer && <Button small icon="up" onClick={refresh}>Show newer results</Button>}
        <span className="grow" />
        {(filtered(search) || (fixed === undefined && search.prism !== undefined)) && (
          <Button small variant="quiet" icon="close" onClick={() => set(clear)}>Clear the filters</Button>
        )}
        {mayCall && search.status === 'failed' && (
          <Button small icon="retry" onClick={() => setDialog('matching')}>Retry all that match</Button>
        )}
        <ColumnsMenu prism={prism} />
        <Button small icon="download" onClick={() => setDialog('download')}>Download</Button>
      </div>
      {first && !list.error && <Skeleton shape="results" lines={12} />}
      <ErrorNote error={list.isFetchNextPageError ? undefined : list.error} title="The results could not be read."
        onRetry={() => void list.refetch()} />
      {!first && rows.length === 0 && !hasNextPage && !busy && !list.error ? (
        <Nothing search={search} fixed={fixed} />
      ) : !first && !failed && (
        <Split>
          <div>{table}</div>
          {search.open !== undefined && (
            <Panel title={<Link to="/results/$result" params={{ result: search.open }}>{rows[at]?.ref ?? 'Result'}</Link>}
              onClose={() => open(undefined)} onPrevious={step(-1)} onNext={step(1)}>
              <ResultView key={search.open} id={search.open}
                actions={<ResultActions id={search.open} onRetried={(id) => open(id)} onDeleted={leave} />} />
            </Panel>
          )}
        </Split>
      )}
      {chosen.size > 0 && (
        <Chosen results={rows.filter(({ id }) => chosen.has(id))} onClear={() => choose(new Set())} all={all}
          labels={search.prism !== undefined && beyondQueue(search).length === 0}
          total={total?.exact ? shown(total.total) : undefined} onDownload={() => setDialog('chosen')}
          onAll={hasNextPage || chosen.size < rows.length ? () => setAll(true) : undefined}
          onMatching={(what) => {
            if (what === 'label') void label();
            else setDialog(what === 'retry' ? 'matching' : what);
          }} />
      )}
      {dialog === 'matching' && <RetryMany search={search} onClose={() => setDialog(undefined)} />}
      {dialog === 'assign' && (
        <AssignMatching search={search} onClose={() => setDialog(undefined)} onDone={() => choose(new Set())} />
      )}
      {dialog === 'again' && <RunManyAgain search={search} onClose={() => setDialog(undefined)} />}
      {dialog === 'delete' && (
        <DeleteMany search={search} onClose={() => setDialog(undefined)} onDone={() => choose(new Set())} />
      )}
      {dialog === 'chosen' && (
        <DownloadChosen results={rows.filter(({ id }) => chosen.has(id))} sort={query.sort}
          onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'download' && <DownloadResults search={search} onClose={() => setDialog(undefined)} />}
    </div>
  );
}

interface MatchesProps {
  search: ResultsSearch;
  query: ReturnType<typeof listQuery>;
  list: ReturnType<typeof useResults>;
  rows: number;
}

/** How many results match, of how many, and their order: `128 of 5,744 results, by Angry, most first`. */
function Matches({ search, query, list, rows }: MatchesProps) {
  const counted = useCounts(query, '@status');
  const some = filtered(search);
  const all = useCounts({ prism: query.prism }, '@status', some).data;
  const n = counted.isPlaceholderData ? undefined : counted.data;
  const { data: prism } = usePrism(query.prism);
  const order = sortWords(query.sort, prism?.version.questions);
  const { indexed_from, indexed_until, sorted_newest } = list.data?.pages[0] ?? {};
  const atLeast = ({ exact }: Counts, words: string) => (exact ? words : `more than ${words}`);
  return (
    <>
      <span className="num" role="status">
        {n ? some && all ? `${atLeast(n, shown(n.total))} of ${atLeast(all, count(all.total, 'result'))}`
          : atLeast(n, count(n.total, 'result'))
          : list.isPending || list.error ? '' : `${count(rows, 'result')}${list.hasNextPage ? ' loaded, more below' : ''}`}
        {order && ` ${order}`}
      </span>
      {sorted_newest !== undefined && <span>Sorted: the newest {shown(sorted_newest)}</span>}
      {(indexed_from ?? indexed_until) !== undefined && (
        <span>Some are not searched yet: {indexed_from ? 'older ones are still being indexed' : 'the newest'}</span>
      )}
    </>
  );
}

/** Below the last row: what is loading, what failed, or that this is all. */
function Tail({ list, rows }: { list: ReturnType<typeof useResults>; rows: number }) {
  if (list.isFetchNextPageError) return (
    <ErrorNote error={list.error} title="The next results could not be read." onRetry={() => void list.fetchNextPage()} />
  );
  if (list.isFetching && list.hasNextPage) return <span className="soft">Loading more …</span>;
  return list.hasNextPage ? null : <span className="soft">{rows > 20 ? 'These are all.' : ''}</span>;
}

function Nothing({ search, fixed }: { search: ResultsSearch; fixed: string | undefined }) {
  if (filtered(search) || (!fixed && search.prism)) {
    return <Empty title="No result matches">Change or clear the filters above.</Empty>;
  }
  const prism = fixed ?? 'PRISM';
  return (
    <Empty title="Results will be here" drawing="results" command={`prismctl call ${shellWord(prism)} --text "…"`}
      action={fixed
        ? <ButtonLink variant="primary" to="/prisms/$prism/try" params={{ prism }}>Try the prism</ButtonLink>
        : <ButtonLink variant="primary" to="/prisms">Choose a prism to try</ButtonLink>}>
      Each call of a prism leaves a result: the answers with every probability, what was sent, and what it took.
    </Empty>
  );
}
