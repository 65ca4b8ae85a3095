import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { Sort } from '@/design/Table';
import { frame } from '@/shell/root';

interface ModelsSearch {
  sort?: Sort;
  open?: string;
  /** The host whose lines are shown. */
  host?: string;
}

export const modelsRoutes = [
  createRoute({
    getParentRoute: () => frame,
    path: '/models',
    component: lazyRouteComponent(() => import('./Models'), 'Models'),
    validateSearch: (search): ModelsSearch => ({
      ...(typeof search.sort === 'string' && { sort: search.sort }),
      ...(typeof search.open === 'string' && { open: search.open }),
      ...(typeof search.host === 'string' && { host: search.host }),
    }),
  }),
] as const;
