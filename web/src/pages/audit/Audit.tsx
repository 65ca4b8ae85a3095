import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect } from 'react';
import { api, ask, type Schemas, useCan, useKeys } from '@/api';
import { dayAfter, today } from '@/data/usage';
import {
  Button, Code, type Column, Copy, Empty, ErrorNote, exactTime, Facts, Input, Note, Page, Panel, Select, Skeleton, Split, Table,
  Time, Toolbar,
} from '@/design';
import { neighbours } from '../neighbours';
import type { AuditSearch } from './search';
import { detailOf, folded, type Repeated, saying } from './words';
import './audit.css';

type Entry = Schemas['AuditEntry'];

const route = getRouteApi('/frame/audit');

const [leastRows, mostPages] = [12, 10];

const columns: Column<Repeated<Entry>>[] = [
  { id: 'at', head: 'Time', cell: ({ entry }) => <Time at={entry.at} />, width: '9rem' },
  {
    id: 'actor', head: 'Who', width: '14rem', show: 'wide',
    cell: ({ entry }) => (
      <>{entry.actor.name} {entry.actor.name !== entry.actor.kind && <span className="soft">{entry.actor.kind}</span>}</>
    ),
  },
  {
    id: 'action', head: 'Change', cell: ({ entry, times }) => (
      <span className="audit-change">
        <span className="audit-who">{entry.actor.name}: </span>
        {saying(entry.action)} <strong>{entry.object.name || entry.object.id}</strong>{times > 1 && `, ${times} times`}
      </span>
    ),
  },
  { id: 'detail', head: 'Detail', cell: ({ entry }) => <span className="soft">{detailOf(entry.detail)}</span>, show: 'wide' },
];

export function Audit() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const owns = useCan('own');
  const query = {
    limit: 50,
    actor: search.actor,
    from: search.from && `${search.from}T00:00:00.000Z`,
    to: search.to && `${dayAfter(search.to, 1)}T00:00:00.000Z`,
  };
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage, isPlaceholderData } = useInfiniteQuery({
    queryKey: ['audit', query],
    enabled: owns,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => ask(api.GET('/v1/audit', { params: { query: { ...query, cursor: pageParam } }, signal })),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  const entries = data?.pages.flatMap((page) => page.data);
  const rows = folded(entries ?? []);
  // A page of entries may fold into a single row: more are read until there is something to look at.
  const bare = rows.length < leastRows && hasNextPage && !isFetchingNextPage && !error && data!.pages.length < mostPages;
  useEffect(() => { if (bare) void fetchNextPage(); }, [bare, fetchNextPage]);
  if (!owns) return <Page title="Audit"><Note>Owners read the audit.</Note></Page>;

  const set = (change: Partial<AuditSearch>) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true });
  const open = entries?.find((entry) => entry.id === search.open);
  const { previous, next } = neighbours(rows, columns, undefined, ({ entry }) => entry.id, search.open);
  const filtered = search.from || search.to || search.actor;
  return (
    <Page title="Audit" lead="Who changed what, newest first. Entries are never changed or removed.">
      <Filters search={search} set={set} />
      <ErrorNote error={error} onRetry={() => void refetch()} />
      {entries ? (
        <Split>
          <div className="stack">
            <Table label="Changes" columns={columns} rows={rows} rowKey={({ entry }) => entry.id} open={search.open}
              onOpen={({ entry }) => set({ open: entry.id })} stale={isPlaceholderData}
              empty={
                <Empty title={filtered ? 'Nothing matches these filters' : 'No changes yet'}
                  action={filtered && (
                    <Button onClick={() => set({ from: undefined, to: undefined, actor: undefined })}>Clear filters</Button>
                  )}>
                  Each change of a key, a prism, a member, a run or the limits of this account has an entry.
                </Empty>
              } />
            {hasNextPage && (
              <div><Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>Show older changes</Button></div>
            )}
          </div>
          {open && (
            <Panel title={`${saying(open.action)} ${open.object.name}`} onClose={() => set({ open: undefined })}
              onPrevious={previous ? () => set({ open: previous }) : undefined}
              onNext={next ? () => set({ open: next }) : undefined}>
              <EntryFacts entry={open} onlyActor={(actor) => set({ actor })} />
            </Panel>
          )}
        </Split>
      ) : !error && <Skeleton shape="table" lines={8} />}
    </Page>
  );
}

function Filters({ search, set }: { search: AuditSearch; set: (change: Partial<AuditSearch>) => void }) {
  const keys = useKeys();
  const actors: [string, string][] = [
    ['', 'Everybody'], ['operator', 'Operators'], ['retention', 'Retention'], ['webhooks', 'Webhooks'],
    ...(keys.data ?? []).map((key): [string, string] => [key.id, `Key ${key.name}`]),
  ];
  if (search.actor && !actors.some(([id]) => id === search.actor)) actors.push([search.actor, search.actor]);
  return (
    <Toolbar label="Filters">
      <Select label="Who" value={search.actor ?? ''} options={actors}
        onChange={(event) => set({ actor: event.target.value || undefined })} />
      <Input label="From" type="date" value={search.from ?? ''} max={search.to ?? today()}
        onChange={(event) => set({ from: event.target.value || undefined })} />
      <Input label="To" type="date" value={search.to ?? ''} min={search.from} max={today()}
        onChange={(event) => set({ to: event.target.value || undefined })} />
    </Toolbar>
  );
}

function EntryFacts({ entry, onlyActor }: { entry: Entry; onlyActor: (id: string) => void }) {
  const actor = entry.actor.id ?? entry.actor.kind;
  return (
    <>
      <Facts items={[
        ['Time', <span className="audit-time">{exactTime(entry.at)}</span>],
        ['Who', <span className="row">
          {entry.actor.name} <span className="soft">{entry.actor.kind}</span>{' '}
          <Button small variant="quiet" icon="filter" onClick={() => onlyActor(actor)}>Only this</Button>
        </span>],
        ['Action', <code>{entry.action}</code>],
        ['Object', <>{entry.object.kind} {entry.object.name}</>],
        ['Object id', <span className="row">
          <code>{entry.object.id}</code>
          <Copy text={entry.object.id} label="Copy id of the object" />
        </span>],
      ]} />
      <Code text={JSON.stringify(entry, null, 2)} label="Copy JSON" wrap />
    </>
  );
}
