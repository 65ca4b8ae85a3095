import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { Sort } from '@/design/Table';
import { frame } from '@/shell/root';

export const deliveryStates = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export interface WebhooksSearch {
  sort?: Sort;
  /** The id of the open webhook. */
  open?: string;
  /** Only its deliveries in this state. */
  state?: DeliveryState;
}

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
