import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { render, screen, waitFor } from '@testing-library/react';
import { expect, it } from 'vitest';
import { ApiError } from '@/api';
import { queries } from '@/api/query';
import { errorOf } from '@/api/errors';
import { RetryBar } from './Bars';

// spec: console-retries
it('calls are made while the browser says that there is no network', async () => {
  dispatchEvent(new Event('offline'));
  try {
    expect(await queries.fetchQuery({ queryKey: ['offline'], queryFn: () => 'answered' })).toBe('answered');
  } finally {
    dispatchEvent(new Event('online'));
    queries.clear();
  }
});

// spec: console-retries
it('a call that failed twice says why while it is made again, and no more once it is answered', async () => {
  let answer = (_: string) => {};
  let calls = 0;
  const busy = errorOf(new Response(null, { status: 503 }), undefined);
  function Page() {
    useQuery({ queryKey: ['busy'], queryFn: () => (++calls > 2 ? new Promise<string>((resolve) => { answer = resolve; }) : Promise.reject(busy)) });
    return <RetryBar />;
  }
  const client = new QueryClient({ defaultOptions: { queries: { retry: (_, error) => (error as ApiError).passing, retryDelay: 0 } } });
  render(<QueryClientProvider client={client}><Page /></QueryClientProvider>);
  expect(await screen.findByText('Prism is busy, or starts again. Trying again …')).toBeTruthy();
  answer('there');
  await waitFor(() => expect(screen.getByRole('status').textContent).toBe(''));
});
