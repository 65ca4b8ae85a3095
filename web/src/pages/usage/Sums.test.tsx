import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { serve } from '@/test/server';
import { Sums } from './Sums';

afterEach(() => { cleanup(); vi.unstubAllGlobals(); });

it('a share of failures has a place only where something failed', async () => {
  await serve('reader', () => undefined);
  const cells = (...failed: number[]) => {
    const totals = failed.map((n) => ({
      name: null, results: 4, failed: n, inputTokens: 1, outputTokens: 1, costs: {},
    }));
    render(
      <QueryClientProvider client={new QueryClient()}>
        <Sums by="model" totals={totals} search={{}} sort={undefined} onSort={() => {}} stale={false} empty={null} />
      </QueryClientProvider>,
    );
    const found = screen.getAllByRole('row').slice(1).map((row) => row.querySelectorAll('td')[2]!);
    const said = found.map((cell) => [cell.textContent!.trim(), cell.querySelectorAll('.usage-part').length]);
    cleanup();
    return said;
  };
  expect(cells(0)).toEqual([['0', 0]]);
  expect(cells(1)).toEqual([['1 25%', 1]]);
});
