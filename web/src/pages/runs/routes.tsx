import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frame } from '@/shell/root';
import { newRunSearch, runSearch, runsSearch } from './search';

export const runsRoutes = [
  createRoute({
    getParentRoute: () => frame, path: '/runs', component: lazyRouteComponent(() => import('./Runs'), 'Runs'),
    validateSearch: runsSearch,
  }),
  createRoute({
    getParentRoute: () => frame, path: '/runs/new', component: lazyRouteComponent(() => import('./NewRun'), 'NewRun'),
    validateSearch: newRunSearch,
  }),
  createRoute({
    getParentRoute: () => frame, path: '/runs/$run', component: lazyRouteComponent(() => import('./RunPage'), 'RunPage'),
    validateSearch: runSearch,
  }),
] as const;
