import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { Sort } from '@/design/Table';
import { frame } from '@/shell/root';

interface MembersSearch {
  sort?: Sort;
  /** The id of the open member. */
  open?: string;
}

export const membersRoutes = [
  createRoute({
    getParentRoute: () => frame,
    path: '/members',
    component: lazyRouteComponent(() => import('./Members'), 'Members'),
    validateSearch: (search): MembersSearch => ({
      ...(typeof search.sort === 'string' && { sort: search.sort }),
      ...(typeof search.open === 'string' && { open: search.open }),
    }),
  }),
] as const;
