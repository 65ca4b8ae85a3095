import type { Sort } from '@/design/Table';

/** The states that the deliveries of a webhook can be filtered by. */
export const deliveryStates = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** What of the page is in its address. */
export interface WebhooksSearch {
  sort?: Sort;
  /** The id of the open webhook. */
  open?: string;
  /** Only its deliveries in this state. */
  state?: DeliveryState;
}
