import { createRootRoute, createRoute } from '@tanstack/react-router';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import { open } from '@/test/server';
import { put } from './conditions';
import { useResultsSearch } from './useSearch';

function Two() {
  const [, set] = useResultsSearch();
  return (
    <button onClick={() => {
      void set((now) => ({ where: put(now.where, 'topic', 'from', '0.8') }), true);
      void set((now) => ({ where: put(now.where, 'topic', 'is', 'billing') }), true);
    }}>Both</button>
  );
}

afterEach(cleanup);

// spec: console-results-page
it('keeps a filter that is not drawn yet when the next one is set', async () => {
  const root = createRootRoute();
  const results = createRoute({ getParentRoute: () => root, path: '/results', component: Two });
  const router = open(root.addChildren([results]), '/results?where=%5B%22mood:to:0.4%22%5D');
  fireEvent.click(await screen.findByRole('button', { name: 'Both' }));
  await waitFor(() => expect(router.state.location.search).toEqual(
    { where: ['mood:to:0.4', 'topic:from:0.8', 'topic:is:billing'] },
  ));
});
