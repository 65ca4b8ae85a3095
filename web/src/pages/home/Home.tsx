import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ask, type Schemas } from '@/api';
import { ErrorNote, Page, Skeleton } from '@/design';
import { FirstScreen } from './FirstScreen';
import { Overview } from './Overview';
import './home.css';

/** The first screen until there is a result of one's own, then what happened lately. */
export function Home() {
  const { data, error, refetch } = useQuery({
    queryKey: ['results', 'newest'],
    queryFn: ({ signal }) => ask(api.GET('/v1/results', { params: { query: { limit: 100 } }, signal })),
    refetchInterval: 15_000,
  });
  const [first, setFirst] = useState<boolean>(); // its own answers do not take the first screen away
  if (data && first === undefined) setFirst(data.data.length === 0);
  if (first) return <FirstScreen />;
  return (
    <Page title="Home">
      {!data && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data ? <Overview newest={data.data as Schemas['Result'][]} /> : !error && (
        <>
          <Skeleton shape="stats" lines={5} />
          <div className="home-charts"><Skeleton shape="chart" /><Skeleton shape="chart" /><Skeleton shape="chart" /></div>
        </>
      )}
    </Page>
  );
}
