import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frame } from '@/shell/root';

export const accountRoutes = [
  createRoute({
    getParentRoute: () => frame, path: '/account', component: lazyRouteComponent(() => import('./Account'), 'Account'),
  }),
] as const;
