import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { session } from '@/api/session';
import { frame } from '@/shell/root';

export const homeRoutes = [
  createRoute({
    getParentRoute: () => frame, path: '/', component: lazyRouteComponent(() => import('./Home'), 'Home'),
    // Labellers have nothing to do there.
    beforeLoad: () => {
      if (session.state.account?.member.role === 'labeller') throw redirect({ to: '/label', replace: true });
    },
  }),
] as const;
