import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api, ask, type Schemas } from '@/api';
import { type Column, Empty, ErrorNote, Page, Skeleton, Status, Table, Time } from '@/design';

const route = getRouteApi('/frame/keys');

const columns: Column<Schemas['ApiKey']>[] = [
  { id: 'name', head: 'Name', cell: (key) => key.name, sort: (key) => key.name },
  { id: 'role', head: 'Role', cell: (key) => key.role, sort: (key) => key.role },
  { id: 'status', head: 'Status', cell: (key) => <Status status={key.revoked_at ? 'revoked' : 'active'} /> },
  { id: 'used', head: 'Last use', cell: (key) => <Time at={key.last_used_at} none="never" />, sort: (key) => key.last_used_at },
];

export function Keys() {
  const { sort } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ['keys'],
    queryFn: ({ signal }) => ask(api.GET('/v1/keys', { params: { query: { limit: 100 } }, signal })),
  });
  return (
    <Page title="Keys">
      <ErrorNote error={error} onRetry={() => void refetch()} />
      {data ? (
        <Table label="Keys" columns={columns} rows={data.data} rowKey={(key) => key.id} sort={sort} stale={isPlaceholderData}
          onSort={(next) => void navigate({ search: (old) => ({ ...old, sort: next }), replace: true })}
          empty={<Empty title="No keys yet">Keys let programs call the API.</Empty>} />
      ) : <Skeleton lines={6} />}
    </Page>
  );
}
