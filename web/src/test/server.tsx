import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRouter, type AnyRoute, RouterProvider } from '@tanstack/react-router';
import { render } from '@testing-library/react';
import { vi } from 'vitest';
import { session } from '@/api';

/** A call that a page made. */
export interface Call {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
  match: string | null;
}

/** An error in the API's form. */
export const refusal = (status: number, code: string, message: string) => Response.json({ error: { code, message } }, { status });

/** Signs a member in and answers its calls; undefined fails the test. Returns the calls, which grow. */
export async function serve(role: string, answer: (call: Call) => Response | undefined): Promise<Call[]> {
  const account = { id: `a ${Math.random()}`, name: 'demo', member: { id: 'm', name: 'Ada', role } };
  const calls: Call[] = [];
  vi.stubGlobal('fetch', async (input: string | Request) => {
    if (!(input instanceof Request)) {
      return Response.json(input === '/console/session' ? { accounts: [account] }
        : { key: 'k', expires_at: new Date(Date.now() + 900_000).toISOString(), account, member: account.member });
    }
    const url = new URL(input.url);
    const body: unknown = input.method === 'GET' ? undefined : await input.json().catch(() => undefined);
    const call = {
      method: input.method, path: url.pathname, query: url.searchParams, body, match: input.headers.get('If-Match'),
    };
    calls.push(call);
    const response = answer(call);
    if (!response) throw new Error(`${call.method} ${call.path} is not answered`);
    return response;
  });
  await session.load();
  return calls;
}

/** Shows the page of an address below a tree of routes. */
export function open(routeTree: AnyRoute, address: string, more: object = {}) {
  const router = createRouter({ routeTree, history: createMemoryHistory({ initialEntries: [address] }), ...more });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(<QueryClientProvider client={client}><RouterProvider router={router as never} /></QueryClientProvider>);
  return router;
}
