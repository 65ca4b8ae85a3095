import { createRootRoute, createRoute } from '@tanstack/react-router';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Listed } from '@/data/results';
import { type Call, open, refusal, serve } from '@/test/server';
import { Chosen } from './Chosen';
import { RunManyAgain } from './RunAgain';

afterEach(() => { cleanup(); vi.unstubAllGlobals(); });

const dry = {
  rows: 2, rows_checked: 2, invalid: [], invalid_total: 0, invalid_labels: [], invalid_labels_total: 0, tokens: 1200,
  model_calls: 4, seconds: null, cost: '0.0021', currency: 'USD',
};
const ofPrism = (id: string, prism = 'tickets') => ({ id, prism, status: 'ok' }) as Listed;

/** Shows a page, and answers its calls: dry runs as said. */
async function shown(page: () => React.ReactNode, plan: (call: Call) => Response = () => Response.json(dry)) {
  const calls = await serve('caller', (call) => {
    if (call.path.endsWith('/versions')) return Response.json({ data: [{ version: 3 }, { version: 2 }, { version: 1 }] });
    if (call.path !== '/v1/prisms/tickets/runs') return undefined;
    return (call.body as { dry_run?: boolean }).dry_run ? plan(call) : Response.json({ id: 'run-1', status: 'running' });
  });
  const root = createRootRoute();
  const router = open(root.addChildren([
    createRoute({ getParentRoute: () => root, path: '/results', component: page }),
    createRoute({ getParentRoute: () => root, path: '/runs/$run', component: () => <p>the page of the run</p> }),
  ]), '/results');
  return { router, bodies: () => calls.filter(({ path }) => path.endsWith('/runs')).map(({ body }) => body) };
}

const select = (results: Listed[], onMatching = vi.fn(), all = false) => () => (
  <Chosen results={results} all={all} total="12" labels onAll={undefined} onClear={() => {}} onMatching={onMatching}
    onDownload={() => {}} />
);

// spec: console-selection
describe('running results again', () => {
  it('asks for the version, says what it takes, and goes to the page of the run', async () => {
    const { router, bodies } = await shown(select([ofPrism('a'), ofPrism('b')]));
    fireEvent.click(await screen.findByRole('button', { name: 'Run again' }));
    const version = await screen.findByLabelText<HTMLSelectElement>('Version');
    expect([...version.options].map(({ label }) => label)).toEqual(['3, the latest', '2', '1']);
    await screen.findByText('1,200');
    fireEvent.change(version, { target: { value: '1' } });
    const start = screen.getByRole<HTMLButtonElement>('button', { name: 'Run 2 results again' });
    await waitFor(() => expect(start.disabled).toBe(false));
    fireEvent.click(start);
    await screen.findByText('the page of the run');
    expect(router.state.location.pathname).toBe('/runs/run-1');
    const from_results = { ids: ['a', 'b'] };
    expect(bodies()).toEqual([
      { from_results, version: 3, dry_run: true }, { from_results, version: 1, dry_run: true },
      { from_results, version: 1, name: 'Again with version 1', idempotency_key: expect.any(String) as string },
    ]);
  });

  it('takes all that match, with their filters', async () => {
    const { bodies } = await shown(() => (
      <RunManyAgain onClose={() => {}} search={{
        prism: 'tickets', status: 'ok', version: 2, model: 'small', q: 'late', where: ['topic:is:billing'], sort: '-mood',
      }} />
    ));
    await screen.findByRole('heading', { name: 'Run 2 results of tickets again?' });
    expect(bodies()).toEqual([{ version: 3, dry_run: true, from_results: {
      status: 'ok', version: 2, q: 'late', where: ['topic:is:billing', '@model:is:small'],
    } }]);
    expect(screen.getByText(/^prismctl/).textContent).toBe('prismctl runs create --from-results --prism tickets --status ok '
      + "--of-version 2 --q late --where topic:is:billing --where @model:is:small --version 3 --watch");
  });

  it('is of one prism, and of filters that a run has', async () => {
    await shown(() => <>
      {select([ofPrism('a'), ofPrism('b', 'mails')])()}
      <RunManyAgain onClose={() => {}} search={{}} />
      <RunManyAgain onClose={() => {}} search={{ prism: 'tickets', ref: 'x', run: 'y' }} />
    </>);
    fireEvent.click(await screen.findByRole('button', { name: 'Run again' }));
    expect(screen.getByText('A run is of one prism. Select results of one.')).toBeTruthy();
    expect(screen.getByText(/Choose a prism in the filters first/)).toBeTruthy();
    expect(screen.getByText(/^Clear these filters first \(ref, run\)/)).toBeTruthy();
  });

  it('says in words why a version cannot answer them', async () => {
    const reasons = {
      3: 'Missing fields: subject', 2: 'Invalid request: from_results: more than 10,000 results match',
    } as Record<number, string>;
    await shown(() => <RunManyAgain onClose={() => {}} search={{ prism: 'tickets' }} />, ({ body }) =>
      refusal(400, 'validation_failed', reasons[(body as { version: number }).version]!));
    expect(await screen.findByText(/^Version 3 needs fields that not all of these results have: subject\./)).toBeTruthy();
    fireEvent.change(screen.getByLabelText('Version'), { target: { value: '2' } });
    expect(await screen.findByText(/^More than 10,000 results match/)).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Start the run' }).disabled).toBe(true);
  });

  it('is offered for all that match too', async () => {
    const onMatching = vi.fn();
    await shown(select([ofPrism('a')], onMatching, true));
    fireEvent.click(await screen.findByRole('button', { name: 'Run again' }));
    expect(onMatching.mock.calls).toEqual([['again']]);
  });
});
