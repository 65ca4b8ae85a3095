import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frame } from '@/shell/root';
import type { AuditSearch } from './search';

const day = /^\d{4}-\d{2}-\d{2}$/;

export const auditRoutes = [
  createRoute({
    getParentRoute: () => frame,
    path: '/audit',
    component: lazyRouteComponent(() => import('./Audit'), 'Audit'),
    validateSearch: (search): AuditSearch => ({
      ...(typeof search.from === 'string' && day.test(search.from) && { from: search.from }),
      ...(typeof search.to === 'string' && day.test(search.to) && { to: search.to }),
      ...(typeof search.actor === 'string' && { actor: search.actor }),
      ...(typeof search.open === 'string' && { open: search.open }),
    }),
  }),
] as const;
