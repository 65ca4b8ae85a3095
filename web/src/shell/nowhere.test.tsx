import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PrismPage } from '@/pages/prisms/PrismPage';
import { ResultPage } from '@/pages/results/ResultPage';
import { RunPage } from '@/pages/runs/RunPage';
import { open, refusal, serve } from '@/test/server';
import { NotFound } from './Failed';

beforeEach(() => vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} }));
afterEach(() => { vi.unstubAllGlobals(); });

const root = createRootRoute({ component: Outlet });
const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Outlet });
const tree = root.addChildren([frame.addChildren([
  createRoute({ getParentRoute: () => frame, path: '/prisms/$prism', component: PrismPage }),
  createRoute({ getParentRoute: () => frame, path: '/results/$result', component: ResultPage }),
  createRoute({ getParentRoute: () => frame, path: '/runs/$run', component: RunPage }),
  createRoute({ getParentRoute: () => frame, path: '$', component: NotFound }),
])]);

const id = '0193a3f0-0000-7000-8000-000000000000';

// spec: console-not-found
it.each([
  ['an unknown prism', '/prisms/nothing', refusal(404, 'not_found', 'Prism not found')],
  ['an unknown result', `/results/${id}`, refusal(404, 'not_found', 'Result not found')],
  ['an unknown run', `/runs/${id}`, refusal(404, 'not_found', 'Run not found')],
  ['an id that no result has', '/results/nothing', refusal(
    400, 'validation_failed', 'Invalid request: result_id: Expected a UUID',
  )],
  ['an id that no run has', '/runs/nothing', refusal(400, 'validation_failed', 'Invalid request: run_id: Expected a UUID')],
  ['an unknown page', '/nothing/here', refusal(500, 'internal', 'Nothing is asked for.')],
])('%s is not found, with a way on', async (_, address, response) => {
  await serve('reader', () => response.clone());
  open(tree, address);
  expect(await screen.findByRole('heading', { name: 'Not found' })).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Go to Home' }).getAttribute('href')).toBe('/');
  expect(screen.queryByRole('alert')).toBeNull();
  expect(document.title).toBe('Not found · Prism');
});

// spec: console-not-found
it('a run that cannot be read now is no unknown one', async () => {
  await serve('reader', () => refusal(503, 'unavailable', 'The server is busy.'));
  open(tree, `/runs/${id}`);
  expect(await screen.findByText('The run could not be read.')).toBeTruthy();
  expect(screen.queryByRole('heading', { name: 'Not found' })).toBeNull();
});
