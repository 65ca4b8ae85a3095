import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button, Copy, ErrorNote, Num, Select, Skeleton, Status, Time, toast } from '@/design';
import { type Delivery, resendDelivery, useDeliveries, type Webhook } from './api';
import { deliveryStates, type DeliveryState } from './search';
import { outcomeOf } from './words';

interface Props {
  webhook: Webhook;
  state: DeliveryState | undefined;
  setState: (state: DeliveryState | undefined) => void;
  owns: boolean;
}

/** What was sent to a webhook, newest first, and how it was tried. */
export function Deliveries({ webhook, state, setState, owns }: Props) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useDeliveries(webhook.id, state);
  const rows = data?.pages.flatMap((page) => page.data);
  return (
    <section className="stack" aria-label="Deliveries">
      <div className="row">
        <h3>Deliveries</h3>
        <Select label="State of deliveries" hideLabel value={state ?? ''}
          options={[['', 'All states'], ...deliveryStates.map((one) => [one, one] as const)]}
          onChange={(event) => setState((event.target.value || undefined) as DeliveryState | undefined)} />
      </div>
      <ErrorNote error={error} onRetry={() => void refetch()} />
      {!rows && !error && <Skeleton lines={4} />}
      {rows?.length === 0 && (
        <p className="soft">
          {state ? 'No deliveries in this state.' : 'Nothing has been sent yet. Send a test, or wait for the next event.'}
        </p>
      )}
      {rows && rows.length > 0 && (
        <ul className="webhooks-deliveries">
          {rows.map((delivery) => <Row key={delivery.id} {...{ webhook, delivery, owns }} />)}
        </ul>
      )}
      {hasNextPage && <div><Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>Load more</Button></div>}
      <p className="soft">Delivered events are kept for 3 days, failed ones for 30. No body is kept.</p>
    </section>
  );
}

/** A delivery: closed its event and state, open each of its tries. */
function Row({ webhook, delivery, owns }: { webhook: Webhook; delivery: Delivery; owns: boolean }) {
  const client = useQueryClient();
  const resend = useMutation({
    mutationFn: () => resendDelivery(webhook.id, delivery.id),
    onSuccess: () => {
      toast(`Sending ${delivery.event} again.`);
      return client.invalidateQueries({ queryKey: ['webhooks'] });
    },
  });
  const again = owns && webhook.enabled && delivery.status !== 'waiting' && delivery.event !== 'webhook.test';
  return (
    <li>
      <details>
        <summary>
          <code>{delivery.event}</code> <Status status={delivery.status} /> <Time at={delivery.at} />
        </summary>
        <div className="stack">
          <p className="row"><code>{delivery.id}</code><Copy text={delivery.id} label="Copy id" /></p>
          {delivery.tries.length > 0 && (
            <ol className="webhooks-tries" aria-label="Tries">
              {delivery.tries.map((one) => (
                <li key={one.at}>
                  <Time at={one.at} /> · <Num value={one.took_ms} unit="ms" /> · {outcomeOf(one)}
                  {one.answer && <pre tabIndex={0} aria-label="Answer">{one.answer}</pre>}
                </li>
              ))}
            </ol>
          )}
          {delivery.status === 'waiting' && (
            <p className="soft">
              {delivery.next_at && delivery.tries.length > 0
                ? <>Tried again at <Next at={delivery.next_at} />.</> : 'Waits for its turn.'}
            </p>
          )}
          <ErrorNote error={resend.error} />
          {again && (
            <div><Button small icon="retry" busy={resend.isPending} onClick={() => resend.mutate()}>Send again</Button></div>
          )}
        </div>
      </details>
    </li>
  );
}

/** A time to come, which `Time` does not say. */
function Next({ at }: { at: string }) {
  return <time dateTime={at}>{new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC</time>;
}
