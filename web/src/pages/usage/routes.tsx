import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frame } from '@/shell/root';
import { usageSearch } from './search';

export const usageRoutes = [
  createRoute({
    getParentRoute: () => frame,
    path: '/usage',
    component: lazyRouteComponent(() => import('./Usage'), 'Usage'),
    validateSearch: usageSearch,
  }),
] as const;
