import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { Sort } from '@/design/Table';
import { frame } from '@/shell/root';

interface KeysSearch {
  sort?: Sort;
  open?: string;
  /** Also revoked and expired keys. */
  all?: boolean;
}

export const keysRoutes = [
  createRoute({
    getParentRoute: () => frame,
    path: '/keys',
    component: lazyRouteComponent(() => import('./Keys'), 'Keys'),
    validateSearch: (search): KeysSearch => ({
      ...(typeof search.sort === 'string' && { sort: search.sort }),
      ...(typeof search.open === 'string' && { open: search.open }),
      ...(search.all === true && { all: true }),
    }),
  }),
] as const;
