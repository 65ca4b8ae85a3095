import { createRootRoute, createRoute, Outlet, redirect } from '@tanstack/react-router';
import { session } from '@/api/session';
import { Frame, FramePending } from './Frame';
import { Failed, NotFound } from './Failed';

export const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: Failed });

/** The parent of every page that needs somebody to be signed in. */
export const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  component: Frame,
  pendingComponent: FramePending,
  pendingMs: 0,
  pendingMinMs: 0,
  errorComponent: Failed,
  beforeLoad: async ({ location }) => {
    if (session.state.status === 'active' || session.state.status === 'ended') return;
    if (!(await session.load())) throw redirect({ to: '/sign-in', search: { return: location.href } });
  },
});
