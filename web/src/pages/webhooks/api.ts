import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api, ask, askAll, type Schemas } from '@/api';
import type { DeliveryState } from './search';

export type Webhook = Schemas['Webhook'];
export type NewWebhook = Schemas['NewWebhook'];
export type Delivery = Schemas['Delivery'];
/** A webhook with its secret, which is shown once. */
export type CreatedWebhook = Schemas['CreatedWebhook'];

const of = (webhook_id: string) => ({ params: { path: { webhook_id } } });

export const createWebhook = (body: NewWebhook) => ask(api.POST('/v1/webhooks', { body }));
export const replaceWebhook = (id: string, body: NewWebhook) => ask(api.PUT('/v1/webhooks/{webhook_id}', { ...of(id), body }));
export const deleteWebhook = (id: string) => ask(api.DELETE('/v1/webhooks/{webhook_id}', of(id)));
export const testWebhook = (id: string) => ask(api.POST('/v1/webhooks/{webhook_id}/test', of(id)));
export const rotateWebhook = (id: string) => ask(api.POST('/v1/webhooks/{webhook_id}/rotate', of(id)));
export const resendDelivery = (webhook_id: string, delivery_id: string) => ask(api.POST(
  '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/resend', { params: { path: { webhook_id, delivery_id } } },
));

/** A webhook as it is sent to replace it. */
export function sentOf({ url, events, prisms, status, condition, answers, run_rows, enabled }: Webhook): NewWebhook {
  return { url, events, prisms, status, condition, answers, run_rows, enabled };
}

/** All webhooks, newest first. What waits changes by itself. */
export const useWebhooks = (enabled: boolean) => useQuery({
  queryKey: ['webhooks', 'all'],
  enabled,
  refetchInterval: 15_000,
  queryFn: ({ signal }) =>
    askAll((cursor) => ask(api.GET('/v1/webhooks', { params: { query: { limit: 100, cursor } }, signal }))),
});

/** The deliveries of a webhook, newest first; again and again while one is under way. */
export function useDeliveries(webhook_id: string, status: DeliveryState | undefined) {
  return useInfiniteQuery({
    queryKey: ['webhooks', 'deliveries', webhook_id, status],
    queryFn: ({ pageParam, signal }) => ask(api.GET('/v1/webhooks/{webhook_id}/deliveries', {
      params: { path: { webhook_id }, query: { status, limit: 20, cursor: pageParam } }, signal,
    })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: ({ state }) => state.data?.pages[0]?.data.some((one) => one.status === 'waiting') ? 1000 : 10_000,
  });
}
