import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useRef } from 'react';
import { useCan } from '@/api';
import { type Prism, prismsQuery, weekQuery } from '@/data/prisms';
import {
  ButtonLink, type Column, count, Empty, ErrorNote, Input, Note, Num, Page, Select, Skeleton, Status, Table, Time, Toolbar,
  useTyped,
} from '@/design';
import { useActions } from '@/shell/actions';
import './prisms.css';

const route = getRouteApi('/frame/prisms');

interface Row {
  prism: Prism;
  /** Of the last 7 days; undefined while it loads. */
  week?: { results: number; failed: number };
}

const columns: Column<Row>[] = [
  {
    id: 'name', head: 'Name', sort: ({ prism }) => prism.name ?? prism.slug,
    cell: ({ prism }) => (
      <>
        <Link to="/prisms/$prism" params={{ prism: prism.slug }}>{prism.name ?? prism.slug}</Link>
        {prism.archived_at && <> <Status status="archived" /></>}
      </>
    ),
  },
  { id: 'slug', head: 'Slug', cell: ({ prism }) => <code>{prism.slug}</code>, sort: ({ prism }) => prism.slug, show: 'wide' },
  {
    id: 'version', head: 'Version', cell: ({ prism }) => <Num value={prism.latest_version} />,
    sort: ({ prism }) => prism.latest_version, align: 'end', width: '6rem', show: 'wide',
  },
  {
    id: 'questions', head: 'Questions', cell: ({ prism }) => <Num value={prism.version.questions.length} />,
    sort: ({ prism }) => prism.version.questions.length, align: 'end', width: '7rem', show: 'wide',
  },
  {
    id: 'results', head: 'Results, 7 days', cell: ({ week }) => week && <Num value={week.results} />,
    sort: ({ week }) => week?.results, align: 'end', width: '9rem',
  },
  {
    id: 'failed', head: 'Failed', cell: ({ week }) => week && <Num value={week.failed} />, sort: ({ week }) => week?.failed,
    align: 'end', width: '6rem',
  },
  {
    id: 'updated', head: 'Updated', cell: ({ prism }) => <Time at={prism.version.created_at} />,
    sort: ({ prism }) => prism.version.created_at, width: '9rem', show: 'wide',
  },
];

/** The prisms whose name or slug has each word of the text. */
export function found(prisms: Prism[], text: string): Prism[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return prisms.filter(({ name, slug }) => words.every((word) => `${name ?? ''} ${slug}`.toLowerCase().includes(word)));
}

export function List(): ReactNode {
  const { q = '', archived, sort } = route.useSearch();
  const navigate = route.useNavigate();
  const filter = useRef<HTMLInputElement>(null);
  const canEdit = useCan('edit');
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...prismsQuery(archived ?? 'false'), placeholderData: keepPreviousData,
  });
  const week = useQuery(weekQuery());
  const rows = found(data?.prisms ?? [], q).map((prism): Row => ({
    prism, week: week.data && (week.data.get(prism.slug) ?? { results: 0, failed: 0 }),
  }));
  const typed =
    useTyped(q ?? '', (text) => void navigate({ search: (old) => ({ ...old, q: text || undefined }), replace: true }));
  useActions([
    { id: 'filter prisms', group: 'Prisms', label: 'Filter prisms', keys: '/', run: () => filter.current?.focus() },
    ...(canEdit ? [{
      id: 'new prism', group: 'Prisms', label: 'New prism', keys: 'c', words: 'create make',
      run: () => void navigate({ to: '/prisms/new' }),
    }] : []),
  ]);
  const create = canEdit && <ButtonLink to="/prisms/new" variant="primary" icon="plus">New prism</ButtonLink>;
  return (
    <Page title="Prisms" actions={create}>
      <Toolbar label="Filters">
        <Input ref={filter} className="wide-input" type="search" label="Name or slug" {...typed} placeholder="Filter prisms" />
        <Select label="Archived" value={archived ?? 'false'}
          options={[['false', 'Not archived'], ['true', 'Archived'], ['all', 'All']]}
          onChange={(event) => void navigate({ search: (old) => ({
            ...old, archived: event.target.value === 'false' ? undefined : event.target.value as 'true' | 'all',
          }) })} />
      </Toolbar>
      <ErrorNote error={error} title="The prisms could not be loaded." onRetry={() => void refetch()} />
      <ErrorNote error={week.error} title="The results of the last 7 days could not be loaded."
        onRetry={() => void week.refetch()} />
      {data ? (
        <>
          <Table label="Prisms" columns={columns} rows={rows} rowKey={({ prism }) => prism.id} sort={sort}
            stale={isPlaceholderData}
            onSort={(next) => void navigate({ search: (old) => ({ ...old, sort: next }), replace: true })}
            onOpen={({ prism }) => void navigate({ to: '/prisms/$prism', params: { prism: prism.slug } })}
            empty={data.prisms.length === 0 && !archived ? (
              <Empty title="No prisms yet" command="prismctl prisms apply -f prism.yaml" action={create || undefined}>
                A prism is a set of questions that a model answers about each text that you send, with a probability for every
                answer.
                {canEdit ? ' Begin with an example.' : ' Your role may not make one: ask an owner or editor.'}
              </Empty>
            ) : (
              <Empty title={q ? 'No prism has this name' : 'No archived prisms'}
                action={
                  <ButtonLink to="/prisms" search={{}}>{q ? 'Show all prisms' : 'Show prisms that are not archived'}</ButtonLink>
                }>
                {q && !archived && 'Archived prisms are left out.'}
              </Empty>
            )} />
          {data.more && (
            <Note>The newest {count(data.prisms.length, 'prism')} are shown. <code>prismctl prisms list</code> lists all.</Note>
          )}
        </>
      ) : !error && <Skeleton shape="table" lines={8} />}
    </Page>
  );
}
