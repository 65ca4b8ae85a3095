import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frame } from '@/shell/root';
import { resultsSearch } from './search';

export const resultsRoutes = [
  createRoute({
    getParentRoute: () => frame,
    path: '/results',
    component: lazyRouteComponent(() => import('./Results'), 'Results'),
    validateSearch: resultsSearch,
  }),
  createRoute({
    getParentRoute: () => frame, path: '/results/$result',
    component: lazyRouteComponent(() => import('./ResultPage'), 'ResultPage'),
  }),
] as const;
