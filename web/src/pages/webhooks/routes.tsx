import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frame } from '@/shell/root';
import { type DeliveryState, deliveryStates, type WebhooksSearch } from './search';

export const webhooksRoutes = [
  createRoute({
    getParentRoute: () => frame,
    path: '/webhooks',
    component: lazyRouteComponent(() => import('./Webhooks'), 'Webhooks'),
    validateSearch: (search): WebhooksSearch => ({
      ...(typeof search.sort === 'string' && { sort: search.sort }),
      ...(typeof search.open === 'string' && { open: search.open }),
      ...(deliveryStates.includes(search.state as DeliveryState) && { state: search.state as DeliveryState }),
    }),
  }),
] as const;
