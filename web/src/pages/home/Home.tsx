import { useQuery } from '@tanstack/react-query';
import { api, ask, type Schemas } from '@/api';
import { ErrorNote, Page, Skeleton } from '@/design';
import { FirstSteps } from './FirstSteps';
import { Overview } from './Overview';
import './home.css';

/** The first steps until there is a result, then what happened lately. */
export function Home() {
  const { data, error, refetch } = useQuery({
    queryKey: ['results', 'newest'],
    queryFn: ({ signal }) => ask(api.GET('/v1/results', { params: { query: { limit: 100 } }, signal })),
    refetchInterval: 15_000,
  });
  return (
    <Page title="Home">
      {!data && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data ? (data.data.length ? <Overview newest={data.data as Schemas['Result'][]} /> : <FirstSteps />) : !error && (
        <Skeleton lines={10} />
      )}
    </Page>
  );
}
