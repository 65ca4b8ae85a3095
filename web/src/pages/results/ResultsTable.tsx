import { useIsFetching, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react';
import { useCan } from '@/api';
import { shellWord } from '@/commands/commands';
import { Button, ButtonLink, count, Dialog, Empty, ErrorNote, Panel, Skeleton, Split } from '@/design';
import { useActions } from '@/shell/actions';
import { Chosen } from './Chosen';
import { columnsOf } from './columns';
import { renew, resultOptions, useNewer, usePrism, useResults } from './data';
import { fileName, withQuery } from './download';
import { DownloadDialog, textFormats } from './DownloadDialog';
import { clear, Filters } from './Filters';
import { ResultActions } from './ResultActions';
import { ResultView } from './ResultView';
import { RetryMany } from './RetryMany';
import { beyondExport, exportQuery, filtered, hasWords, listQuery, type ResultsSearch } from './search';
import { useResultsSearch } from './useSearch';
import { VirtualTable } from './VirtualTable';

const searched = 1000; // rows that are searched for words before the reader is asked to go on

/** The results of the account, or of one prism, with their filters, the open one beside them, and what is done with many. */
export function ResultsTable({ prism: fixed }: { prism?: string }) {
  const [search, set] = useResultsSearch(fixed);
  const query = useMemo(() => listQuery(search), [search]);
  const client = useQueryClient();
  const list = useResults(query);
  const { data: prism } = usePrism(search.prism);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [hidden, setHidden] = useState<string[]>([]);
  const lens = hidden.filter((id) => id.startsWith('lens ')).map((id) => id.slice(5));
  const [dialog, setDialog] = useState<'download' | 'matching'>();
  const mayCall = useCan('call');
  const key = JSON.stringify(query);
  useEffect(() => setChosen(new Set()), [key]);

  const loaded = useMemo(() => list.data?.pages.flatMap((page) => page.data) ?? [], [list.data]);
  const words = useDeferredValue(search.words);
  const rows = useMemo(() => words === undefined ? loaded : loaded.filter((one) => hasWords(
    [one.ref, one.error, one.prism, ...Object.entries(one.answers ?? {}).flat()], words,
  )), [loaded, words]);
  const newer = useNewer(query, loaded[0]?.id);
  const columns = useMemo(() => columnsOf(prism, search.prism !== undefined), [prism, search.prism]);

  // Words are looked for in what was loaded; a search through everything goes on when the reader says so.
  const [allowed, setAllowed] = useState(searched);
  useEffect(() => setAllowed(searched), [key, words]);
  const { hasNextPage, isFetching, fetchNextPage, isError } = list;
  const mayMore = hasNextPage && !isFetching && !isError && (words === undefined || loaded.length < allowed);
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
      id: 'results-download', group: 'Results', label: 'Download results', words: 'export csv tsv jsonl', keys: 'd',
      run: () => setDialog('download'),
    },
    ...(mayCall ? [{
      id: 'results-retry', group: 'Results', label: 'Retry all failed results that match', run: () => setDialog('matching'),
    }] : []),
    ...(chosen.size
      ? [{ id: 'results-clear', group: 'Results', label: 'Clear the selection', run: () => setChosen(new Set()) }] : []),
  ]);
  const busy = useIsFetching({ queryKey: ['results', 'list', query] }) > 0;
  const first = list.isPending;
  const failed = list.error !== null && loaded.length === 0;
  const leave = () => {
    const next = rows[at + 1] ?? rows[at - 1];
    return open(next?.id, true);
  };

  const table = (
    <VirtualTable label="Results" columns={columns} rows={rows} rowKey={(row) => row.id} open={search.open}
      stale={list.isPlaceholderData}
      onOpen={(row) => open(row.id, search.open !== undefined)} chosen={chosen} onChoose={setChosen} onHidden={setHidden}
      more={mayMore ? more : undefined}
      tail={
        <Tail {...{ list, rows: rows.length, loaded: loaded.length, words, allowed }}
          onMore={() => setAllowed(loaded.length + searched)} />
      } />
  );
  return (
    <div className="stack">
      <Filters search={search} set={set} fixed={fixed !== undefined} />
      <div className="results-line">
        <span className="num" role="status">
          {first || failed ? '' : count(rows.length, 'result')
            + (words !== undefined ? ` of the ${count(loaded.length, 'loaded one')}` : hasNextPage ? ' loaded, more below' : '')}
        </span>
        {newer && <Button small icon="up" onClick={refresh}>Show newer results</Button>}
        {lens.length > 0 && (
          <span className="results-left" title={lens.join(', ')}>
            {count(lens.length, 'Lens column')} of {prism?.lens.columns.length} in the panel only
          </span>
        )}
        <span className="grow" />
        {(filtered(search) || (fixed === undefined && search.prism !== undefined)) && (
          <Button small variant="quiet" icon="close" onClick={() => set(clear)}>Clear the filters</Button>
        )}
        {mayCall && search.status === 'failed' && (
          <Button small icon="retry" onClick={() => setDialog('matching')}>Retry all that match</Button>
        )}
        <Button small icon="download" onClick={() => setDialog('download')}>Download</Button>
      </div>
      {first && !list.error && <Skeleton lines={12} />}
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
              <ResultActions id={search.open} onRetried={(id) => open(id)} onDeleted={leave} />
              <ResultView key={search.open} id={search.open} />
            </Panel>
          )}
        </Split>
      )}
      {chosen.size > 0 && (
        <Chosen results={loaded.filter(({ id }) => chosen.has(id))} onClear={() => setChosen(new Set())}
          onMatching={() => setDialog('matching')} />
      )}
      {dialog === 'matching' && <RetryMany search={search} onClose={() => setDialog(undefined)} />}
      {dialog === 'download' && <DownloadResults search={search} onClose={() => setDialog(undefined)} />}
    </div>
  );
}

interface TailProps {
  list: ReturnType<typeof useResults>;
  rows: number;
  loaded: number;
  words: string | undefined;
  allowed: number;
  onMore: () => void;
}

/** Below the last row: what is loading, what failed, or that this is all. */
function Tail({ list, rows, loaded, words, allowed, onMore }: TailProps) {
  if (list.isFetchNextPageError) return (
    <ErrorNote error={list.error} title="The next results could not be read." onRetry={() => void list.fetchNextPage()} />
  );
  if (list.isFetching && list.hasNextPage) return <span className="soft">Loading more …</span>;
  if (words !== undefined && list.hasNextPage && loaded >= allowed) {
    return (
      <div className="row">
        <span className="soft">
          {count(rows, 'row')} of the {count(loaded, 'result')} that were searched. The words are looked for in this page, not by
          the API.
        </span>
        <Button small onClick={onMore}>Search {count(searched, 'more result', 'more results')}</Button>
      </div>
    );
  }
  return list.hasNextPage ? null : <span className="soft">{rows > 20 ? 'These are all.' : ''}</span>;
}

function Nothing({ search, fixed }: { search: ResultsSearch; fixed: string | undefined }) {
  if (filtered(search) || (!fixed && search.prism)) {
    return <Empty title="No result matches">Change or clear the filters above.</Empty>;
  }
  const prism = fixed ?? 'PRISM';
  return (
    <Empty title="Results will be here" command={`prismctl call ${shellWord(prism)} --text "…"`}
      action={fixed
        ? <ButtonLink variant="primary" to="/prisms/$prism" params={{ prism }}>Try the prism</ButtonLink>
        : <ButtonLink variant="primary" to="/prisms">Choose a prism to try</ButtonLink>}>
      Each call of a prism leaves a result: the answers with every probability, what was sent, and what it took.
    </Empty>
  );
}

function DownloadResults({ search, onClose }: { search: ResultsSearch; onClose: () => void }) {
  const { prism } = search;
  if (prism === undefined) {
    return search.run === undefined
      ? <DownloadNone onClose={onClose}>
        A download is of one prism, since its columns are those of the Lens. Choose a prism in the filters first.
      </DownloadNone>
      : <DownloadNone onClose={onClose}>
        The rows of a run with their answers are downloaded from
        the <Link to="/runs/$run" params={{ run: search.run }}>page of the run</Link>.
      </DownloadNone>;
  }
  const query = exportQuery(search) as Record<string, string | undefined>;
  const beyond = beyondExport(search);
  const flags = Object.entries(query)
    .map(([name, value]) => ` --${name === 'key_id' ? 'key-id' : name} ${shellWord(String(value))}`)
    .join('');
  return (
    <DownloadDialog title={`Download results of ${prism}`} formats={textFormats} onClose={onClose}
      path={(format, style) => withQuery(`/v1/prisms/${encodeURIComponent(prism)}/results`, { ...query, format, ...style })}
      name={(format) => fileName([prism, 'results'], format, new Date())}
      command={(format) =>
        `prismctl results export ${shellWord(prism)}${flags} --file ${fileName([prism, 'results'], format, new Date())}`}>
      <p>{Object.keys(query).length ? `Every result of ${prism} with these filters: ${Object.keys(query).join(', ')}.`
        : `Every result of ${prism}.`} Oldest first.</p>
      {beyond.length > 0 && (
        <p><strong>A download has no filter for {beyond.join(', ')}:</strong> results that these hide are in it.</p>
      )}
    </DownloadDialog>
  );
}

function DownloadNone({ children, onClose }: { children: React.ReactNode; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Download results" actions={<Button onClick={onClose}>Close</Button>}>
      <p>{children}</p>
    </Dialog>
  );
}
