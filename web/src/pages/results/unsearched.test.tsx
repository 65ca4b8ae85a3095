import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRootRoute } from '@tanstack/react-router';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { usePrism } from '@/data/results';
import { choiceOf } from '@/test/options';
import { type Call, open, refusal, serve } from '@/test/server';
import { AddFilter } from './FilterForms';
import type { ResultsSearch } from './search';
import { ViewTabs } from './ViewTabs';

afterEach(() => { cleanup(); vi.unstubAllGlobals(); });

const none = { data: [], next_cursor: null };
let now: ResultsSearch;

/** Shows what can be filtered by, of a prism whose counts are refused. */
async function show(searchable: boolean): Promise<Call[]> {
  const calls = await serve('reader', ({ path }) => {
    switch (path) {
      case '/v1/results/counts': return refusal(409, 'conflict', 'This prism is not searchable.');
      case '/v1/models': return Response.json({ data: [{ name: 'fast' }, { name: 'large' }] });
      case '/v1/prisms/bank':
        return Response.json({ slug: 'bank', searchable, latest_version: 3, version: { questions: [choiceOf(2)] } });
      default: return Response.json(none);
    }
  });
  function Page() {
    const [search, setSearch] = useState<ResultsSearch>({ prism: 'bank' });
    const { data: prism } = usePrism('bank');
    now = search;
    return prism ? <AddFilter fixed prism={prism} search={search} close={() => {}} set={async (change) =>
      setSearch((old) => ({ ...old, ...(typeof change === 'function' ? change(old) : change) }))} /> : null;
  }
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(<QueryClientProvider client={client}><Page /></QueryClientProvider>);
  await screen.findByRole('list', { name: 'Filters' });
  return calls;
}

const values = async (about: string, n: number) => {
  fireEvent.click(screen.getByRole('button', { name: about }));
  await waitFor(() => expect(screen.getAllByRole('checkbox')).toHaveLength(n));
  const said = screen.getAllByRole('checkbox').map((box) => box.nextElementSibling!.textContent!.trim());
  fireEvent.click(screen.getAllByRole('checkbox')[0]!);
  fireEvent.click(screen.getByRole('button', { name: 'All filters' }));
  return said;
};

// spec: console-results-page
describe('the filters of a prism that is left out of searches', () => {
  it('are those of its list, with values that are not counted', async () => {
    const calls = await show(false);
    expect(screen.getAllByRole('listitem').map((item) => item.textContent)).toEqual(
      ['Status', 'Time', 'Version', 'Model', 'Key', 'Assigned', 'Run', 'Reference'],
    );
    expect(screen.queryByLabelText('Words in the text')).toBeNull();
    expect(screen.getByText(/its texts and answers are not searched/)).toBeTruthy();
    expect(await values('Status', 2)).toEqual(['ok', 'failed']);
    expect(await values('Version', 3)).toEqual(['1', '2', '3']);
    expect(await values('Model', 2)).toEqual(['fast', 'large']);
    expect(now).toEqual({ prism: 'bank', status: 'ok', version: 1, model: 'fast' });
    expect(calls.filter(({ path }) => path === '/v1/results/counts')).toEqual([]);
  });

  it('have their values too where it was left out only now', async () => {
    await show(true);
    expect(screen.getByLabelText('Words in the text')).toBeTruthy();
    expect(await values('Status', 2)).toEqual(['ok', 'failed']);
  });

  it('have no tab of what has no label', async () => {
    await serve('reader', () => Response.json(none));
    const tabs = async (searched: boolean) => {
      open(createRootRoute({
        component: () => <ViewTabs search={{}} set={async () => {}} fixed="bank" searched={searched} />,
      }), '/');
      await screen.findByRole('link', { name: 'All' });
      const names = screen.getAllByRole('link').map((link) => link.textContent);
      cleanup();
      return names;
    };
    expect(await tabs(true)).toEqual(['All', 'Mine', 'Unreviewed', 'Failed']);
    expect(await tabs(false)).toEqual(['All', 'Mine', 'Failed']);
  });
});
