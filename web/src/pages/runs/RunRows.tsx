import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo } from 'react';
import { LensRow } from '@/answers/Answers';
import type { Shaped } from '@/answers/words';
import { Button, Empty, ErrorNote, Note, Panel, Select, shown, Skeleton, Split, Status, Toolbar } from '@/design';
import { statusColumn } from '../results/columns';
import { usePrism } from '../results/data';
import { LongText } from '../results/LongText';
import { VirtualTable } from '../results/VirtualTable';
import type { FitColumn } from '../results/fit';
import type { Run } from './data';
import { type Row, readRows } from './rows';
import { type Only, onlys, type RunSearch } from './search';

const atOnce = 200; // rows that are read in one go

interface Props {
  run: Run;
  search: RunSearch;
  set: (change: RunSearch, replace?: boolean) => void;
}

/** The rows of a run with what became of each, in the order of the file. */
export function RunRows({ run, search, set }: Props) {
  const { data: prism } = usePrism(run.prism);
  const only = search.only ?? 'all';
  const list = useInfiniteQuery({
    queryKey: ['runs', 'rows', run.id, only],
    queryFn: ({ pageParam, signal }) => readRows(run.id, only, pageParam, atOnce, signal),
    initialPageParam: 0,
    getNextPageParam: (page) => (page.length < atOnce ? undefined : page.at(-1)!.row),
    staleTime: Infinity,
    placeholderData: undefined,
  });
  const rows = useMemo(() => list.data?.pages.flat() ?? [], [list.data]);
  const columns = useMemo(() => columnsOf(rows[0]), [rows]);
  const { hasNextPage, isFetching, isError, fetchNextPage, refetch } = list;
  const more = useCallback(() => void fetchNextPage({ cancelRefetch: false }), [fetchNextPage]);
  // What the table shows is of the time when it was read: once more when the run is over.
  const { status } = run;
  useEffect(() => { if (status === 'finished' || status === 'cancelled') void refetch(); }, [status, refetch]);
  const at = rows.findIndex(({ row }) => row === search.row);
  const open = rows[at];
  const step = (by: number) => {
    const next = rows[at + by];
    return at < 0 || !next ? undefined : () => set({ row: next.row }, true);
  };
  const counts: Record<Only, number> = {
    all: run.rows, ok: run.ok, failed: run.failed, invalid: run.invalid, pending: run.pending,
  };
  return (
    <>
      <Toolbar label="Rows">
        <Select label="Rows" value={only}
          options={onlys.map((one) => [one, `${one === 'all' ? 'All' : one} (${shown(counts[one])})`] as const)}
          onChange={(event) =>
            set({ only: event.target.value === 'all' ? undefined : (event.target.value as Only), row: undefined })} />
        <Button icon="retry" onClick={() => void refetch()}>Read again</Button>
      </Toolbar>
      <ErrorNote error={list.isFetchNextPageError ? undefined : list.error} title="The rows could not be read."
        onRetry={() => void refetch()} />
      {list.isPending ? !list.error && <Skeleton lines={8} /> : rows.length === 0 ? (
        <Empty title={only === 'all' ? 'This run has no rows' : `No row is ${only}`} />
      ) : (
        <Split>
          <div>
            <VirtualTable label="Rows of the run" columns={columns} rows={rows} rowKey={(row) => String(row.row)}
              open={search.row === undefined ? undefined : String(search.row)}
              onOpen={(row) => set({ row: row.row }, search.row !== undefined)}
              more={hasNextPage && !isFetching && !isError ? more : undefined}
              tail={list.isFetchNextPageError ? <ErrorNote error={list.error} onRetry={() => void fetchNextPage()} />
                : hasNextPage ? <span className="soft">Loading more …</span> : null} />
          </div>
          {open && (
            <Panel title={`Row ${shown(open.row)}`} onClose={() => set({ row: undefined })} onPrevious={step(-1)}
              onNext={step(1)}>
              <div className="row">
                <Status status={open.status} />
                {open.result && <Link to="/results/$result" params={{ result: open.result }}>Open its result</Link>}
              </div>
              {open.error && <Note tone={open.status === 'invalid' ? 'warn' : 'bad'}>{open.error}</Note>}
              {open.result && (
                <section className="results-part">
                  <h2>Lens row</h2>
                  <LensRow answers={Object.fromEntries(open.answers) as Record<string, Shaped>} columns={prism?.lens.columns}
                    questions={prism?.version.questions} />
                </section>
              )}
              <section className="results-part">
                <h2>Cells of the file</h2>
                {open.cells.map(([name, value]) => <div key={name}><h3>{name}</h3><LongText text={cell(value)} /></div>)}
              </section>
            </Panel>
          )}
        </Split>
      )}
    </>
  );
}

const cell = (value: unknown) => (value == null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value));

function columnsOf(row: Row | undefined): FitColumn<Row>[] {
  return [
    {
      id: 'row', head: 'Row', cell: (one) => <span className="num">{shown(one.row)}</span>, width: 72, narrow: 56, align: 'end',
      rank: 0,
    },
    { ...statusColumn, width: 104 },
    {
      id: 'message', head: 'Answer or message', cell: (one) => one.error || answersText(one),
      title: (one) => one.error || answersText(one), width: 160, narrow: 120, grow: 3, rank: 0,
    },
    ...(row?.cells ?? []).map(([name], index): FitColumn<Row> => ({
      id: `cell ${index}`, head: <span title={name}>{name}</span>, cell: (one) => cell(one.cells[index]?.[1]),
      title: (one) => cell(one.cells[index]?.[1]).slice(0, 1000), width: 140, grow: 1, rank: 1 + index,
    })),
  ];
}

const answersText = (row: Row) =>
  row.answers.filter(([, value]) => typeof value === 'string' && value !== '').map(([, value]) => value).join(' · ') || '–';
