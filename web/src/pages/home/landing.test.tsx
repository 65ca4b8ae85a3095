import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { open, serve } from '@/test/server';
import { homeRoutes } from './routes';

afterEach(() => { cleanup(); vi.unstubAllGlobals(); });

/** The page that somebody with a role sees first, by the rule of the real route. */
async function landing(role: string): Promise<string> {
  await serve(role, () => undefined);
  const root = createRootRoute({ component: Outlet });
  const router = open(root.addChildren([
    createRoute({
      getParentRoute: () => root, path: '/', component: () => <p>here</p>,
      beforeLoad: () => homeRoutes[0].options.beforeLoad?.({} as never),
    }),
    createRoute({ getParentRoute: () => root, path: '/label', component: () => <p>here</p> }),
  ]), '/');
  await screen.findByText('here');
  return router.state.location.pathname;
}

// spec: console-label-page
it.each([['labeller', '/label'], ['reader', '/'], ['caller', '/'], ['editor', '/'], ['owner', '/']])(
  'a member who is %s lands on %s', async (role, path) => { expect(await landing(role)).toBe(path); },
);
