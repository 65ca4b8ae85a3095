import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo } from 'react';
import { LensChip, LensRow } from '@/answers/Answers';
import { type Shaped, titleOf } from '@/answers/words';
import type { Schemas } from '@/api';
import { usePrism } from '@/data/results';
import type { Run } from '@/data/runs';
import { Button, Empty, ErrorNote, Note, Panel, Select, shown, Skeleton, Split, Status, Toolbar } from '@/design';
import { statusColumn, Text } from '../results/columns';
import type { FitColumn } from '../results/fit';
import { LongText } from '../results/LongText';
import { VirtualTable } from '../results/VirtualTable';
import { readRows, type Row, textOf } from './rows';
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
  const columns = useMemo(() => columnsOf(rows.slice(0, 50), prism), [rows, prism]);
  const { hasNextPage, isFetching, isError, fetchNextPage, refetch } = list;
  const more = useCallback(() => void fetchNextPage({ cancelRefetch: false }), [fetchNextPage]);
  // What the table shows is of the time when it was read: once more when the run is over.
  const { status } = run;
  useEffect(() => { if (status === 'finished' || status === 'cancelled') void refetch(); }, [status, refetch]);
  const at = rows.findIndex(({ row }) => row === search.row);
  const open = rows[at];
  const text = useMemo(() => textOf(rows.slice(0, 50)), [rows]);
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
        <Button icon="retry" onClick={() => void refetch()}>Refresh</Button>
      </Toolbar>
      <ErrorNote error={list.isFetchNextPageError ? undefined : list.error} title="The rows could not be read."
        onRetry={() => void refetch()} />
      {list.isPending ? !list.error && <Skeleton shape="table" lines={8} /> : rows.length === 0 ? (
        <Empty title={only === 'all' ? 'This run has no rows' : `No row is ${only}`} />
      ) : (
        <Split>
          <div>
            <VirtualTable label="Rows of the run" columns={columns} rows={rows} rowHeight={52} rowKey={(row) => String(row.row)}
              open={search.row === undefined ? undefined : String(search.row)}
              onOpen={(row) => set({ row: row.row }, search.row !== undefined)}
              more={hasNextPage && !isFetching && !isError ? more : undefined}
              tail={list.isFetchNextPageError ? <ErrorNote error={list.error} onRetry={() => void fetchNextPage()} />
                : hasNextPage ? <span className="soft">Loading more …</span> : null} />
          </div>
          {open && (
            <Panel title={`Row ${shown(open.row)}`} onClose={() => set({ row: undefined })} onPrevious={step(-1)}
              onNext={step(1)}>
              {text !== undefined && (
                <blockquote className="results-quote"><LongText text={cell(open.cells[text]?.[1])} /></blockquote>
              )}
              <div className="row">
                <Status status={open.status} />
                {open.result && <Link to="/results/$result" params={{ result: open.result }}>Open its result</Link>}
              </div>
              {open.error && <Note tone={open.status === 'invalid' ? 'warn' : 'bad'}>{open.error}</Note>}
              {open.result && (
                <section className="results-part">
                  <h2>Answers</h2>
                  <LensRow answers={Object.fromEntries(open.answers) as Record<string, Shaped>} columns={prism?.lens.columns}
                    questions={prism?.version.questions} />
                </section>
              )}
              <section className="results-part">
                <h2>Cells of the file</h2>
                {open.cells.map(([name, value], index) => index === text ? null : (
                  <div key={name}><h3>{name}</h3><LongText text={cell(value)} /></div>
                ))}
              </section>
            </Panel>
          )}
        </Split>
      )}
    </>
  );
}

const cell = (value: unknown) => (value == null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value));

/** The text of the file first, then what became of the row, its answers, and the other cells. */
function columnsOf(rows: Row[], prism: Schemas['Prism'] | undefined): FitColumn<Row>[] {
  const text = textOf(rows);
  const of = (index: number): FitColumn<Row> => ({
    id: `cell ${index}`, head: <span title={rows[0]!.cells[index]![0]}>{rows[0]!.cells[index]![0]}</span>,
    cell: (one) => index === text ? <Text text={cell(one.cells[index]?.[1])} /> : cell(one.cells[index]?.[1]),
    title: (one) => cell(one.cells[index]?.[1]).slice(0, 1000), width: index === text ? 200 : 120, narrow: 130,
    grow: index === text ? 5 : 1, rank: index === text ? 0 : 3 + index,
  });
  const lens = prism?.lens.columns ?? [];
  const asked = (rows.find(({ answers }) => answers.length)?.answers ?? []).map(([name]) => name)
    .filter((name) => lens.find((column) => column.name === name)?.show === 'answer');
  return [
    {
      id: 'row', head: 'Row', cell: (one) => <span className="num">{shown(one.row)}</span>, width: 64, narrow: 48, align: 'end',
      rank: 0,
    },
    ...(text === undefined ? [] : [of(text)]),
    { ...statusColumn, width: 96 },
    ...asked.map((name, index): FitColumn<Row> => ({
      id: `answer ${name}`, head: <span title={name}>{titleOf(name)}</span>,
      cell: (one) => one.error
        ? index === 0 && <span className="results-failed">{one.error}</span>
        : <LensChip name={name} answers={Object.fromEntries(one.answers) as Record<string, Shaped>} columns={lens}
          questions={prism?.version.questions} />,
      title: (one) => one.error || undefined, width: 128, narrow: 100, grow: 1, rank: index === 0 ? 0 : 1 + index / 100,
    })),
    ...(asked.length ? [] : [{
      id: 'message', head: 'Message', cell: (one: Row) => one.error || '–', title: (one: Row) => one.error || undefined,
      width: 140, grow: 2, rank: 0,
    }]),
    ...(rows[0]?.cells ?? []).flatMap((_, index) => (index === text ? [] : [of(index)])),
  ];
}
