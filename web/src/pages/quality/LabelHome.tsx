import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { useCan, usePrisms } from '@/api';
import { useCounts } from '@/data/results';
import { type Column, count, Empty, ErrorNote, Note, Page, Skeleton, Table } from '@/design';

type Named = NonNullable<ReturnType<typeof usePrisms>['data']>[number];

const columns: Column<Named>[] = [
  { id: 'prism', head: 'Prism', cell: (prism) => prism.name ?? prism.slug },
  { id: 'slug', head: 'Name in calls', cell: (prism) => <code>{prism.slug}</code>, width: '12rem', show: 'wide' },
];

/** How many texts of a prism wait for the reader. */
function Assigned({ prism }: { prism: string }): ReactNode {
  const { data } = useCounts({ prism, status: 'ok', assignee: 'me', where: ['@labelled:is:no'] }, '@version');
  return data && data.total > 0 ? <strong className="num">{count(data.total, 'text')}</strong> : null;
}

const mostCounted = 20; // prisms whose texts are counted, each by a call
const withAssigned: Column<Named>[] = [
  columns[0]!, { id: 'assigned', head: 'Assigned to you', cell: ({ slug }) => <Assigned prism={slug} />, width: '10rem' },
  columns[1]!,
];

/** Where labellers land: the prisms whose results are labelled; a single one is opened at once. */
export function LabelHome(): ReactNode {
  const canLabel = useCan('label');
  const navigate = useNavigate();
  const { data, error, refetch } = usePrisms('false');
  const only = canLabel && data?.length === 1 ? data[0]!.slug : undefined;
  useEffect(() => {
    if (only !== undefined) void navigate({ to: '/prisms/$prism/label', params: { prism: only }, replace: true });
  }, [only, navigate]);
  return (
    <Page title="Label" lead="Say what was right. From that, Prism tells how often answers are right, and how sure they may be.">
      {!canLabel && <Note>Your role may not label results. Owners, editors and labellers may.</Note>}
      <ErrorNote error={error} title="The prisms could not be loaded." onRetry={() => void refetch()} />
      {data?.length === 0 && <Empty title="No prisms yet">Once an editor has made one, its results are labelled here.</Empty>}
      {data && data.length > 0 && only === undefined && (
        <Table label="Prisms" columns={data.length > mostCounted ? columns : withAssigned} rows={data}
          rowKey={(prism) => prism.id}
          onOpen={(prism) => void navigate({ to: '/prisms/$prism/label', params: { prism: prism.slug } })} />
      )}
      {((!data && !error) || only !== undefined) && <Skeleton shape="table" lines={6} />}
    </Page>
  );
}
