import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, Confirm, Copy, count, ErrorNote, Facts, Note, Num, Panel, Status, Time, toast } from '@/design';
import {
  type CreatedWebhook, deleteWebhook, replaceWebhook, rotateWebhook, sentOf, testWebhook, type Webhook,
} from './api';
import { Deliveries } from './Deliveries';
import type { DeliveryState } from './search';
import { narrowed, stateOf, whyDisabled } from './words';

interface Props {
  webhook: Webhook;
  owns: boolean;
  state: DeliveryState | undefined;
  setState: (state: DeliveryState | undefined) => void;
  onEdit: () => void;
  onSecret: (made: CreatedWebhook) => void;
  onClose: () => void;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
}

/** One webhook: what it sends, what became of it, and what its owner may do. */
export function WebhookPanel({ webhook, owns, state, setState, onEdit, onSecret, ...around }: Props) {
  const client = useQueryClient();
  const [asking, setAsking] = useState<'delete' | 'rotate' | 'disable'>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async (change: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await change();
      await client.invalidateQueries({ queryKey: ['webhooks'] });
      setAsking(undefined);
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  const enable = (enabled: boolean) => run(async () => {
    await replaceWebhook(webhook.id, { ...sentOf(webhook), enabled });
    toast(enabled ? 'Enabled the webhook. It sends what happens from now on.' : 'Disabled the webhook.');
  });
  const test = () => run(async () => {
    await testWebhook(webhook.id);
    setState(undefined);
  });
  const rotate = () => run(async () => onSecret(await rotateWebhook(webhook.id)));
  const remove = () => run(async () => {
    await deleteWebhook(webhook.id);
    around.onClose();
    toast('Deleted the webhook.');
  });
  const asked = asking && questions(webhook)[asking];
  const confirmed = { delete: remove, rotate, disable: () => enable(false) };
  return (
    <Panel title={new URL(webhook.url).host} {...around}>
      {!webhook.enabled && (
        <Note tone={webhook.disabled_reason ? 'bad' : 'warn'}
          action={owns && <Button busy={busy} onClick={() => void enable(true)}>Enable</Button>}>
          {whyDisabled(webhook)} What happens meanwhile is not sent later; failed events can be sent again one by one.
        </Note>
      )}
      {!asking && <ErrorNote error={error} />}
      <Facts items={[
        ['State', <Status status={stateOf(webhook)} />],
        ['URL', <span className="row webhooks-url"><code>{webhook.url}</code><Copy text={webhook.url} label="Copy URL" /></span>],
        ['Events', <ul className="webhooks-list">{webhook.events.map((type) => <li key={type}><code>{type}</code></li>)}</ul>],
        ['Prisms', webhook.prisms ? webhook.prisms.join(', ') : 'all'],
        ...(narrowed(webhook) ? [['Only results with', narrowed(webhook)] as [string, React.ReactNode]] : []),
        ['Answers', webhook.answers ? 'sent' : 'not sent'],
        ['Results of runs', webhook.run_rows ? 'sent, up to 100 in an event' : 'not sent'],
        ['Waiting', <Num value={webhook.waiting} />],
        ...(webhook.previous_secret_until ? [[
          'Old secret', <>signs too until <Time at={webhook.previous_secret_until} /></>,
        ] as [string, React.ReactNode]] : []),
        ['Created', <Time at={webhook.created_at} />],
        ['Id', <span className="row"><code>{webhook.id}</code><Copy text={webhook.id} label="Copy id" /></span>],
      ]} />
      {owns && (
        <div className="row">
          <Button icon="send" busy={busy} disabled={!webhook.enabled} onClick={() => void test()}>Send test</Button>
          <Button icon="edit" onClick={onEdit}>Edit</Button>
          {webhook.enabled && <Button icon="pause" onClick={() => setAsking('disable')}>Disable</Button>}
          <Button icon="key" onClick={() => setAsking('rotate')}>New secret</Button>
          <Button variant="danger" icon="trash" onClick={() => setAsking('delete')}>Delete</Button>
        </div>
      )}
      <Deliveries {...{ webhook, state, setState, owns }} />
      {asking && asked && (
        <Confirm open onClose={() => setAsking(undefined)} onConfirm={() => void confirmed[asking]()} busy={busy}
          title={asked.title} verb={asked.verb} error={<ErrorNote error={error} />}>
          <p>{asked.text}</p>
        </Confirm>
      )}
    </Panel>
  );
}

/** What is asked before what cannot be undone. */
function questions(webhook: Webhook) {
  const host = new URL(webhook.url).host;
  const waiting = count(webhook.waiting, 'waiting event');
  return {
    delete: {
      title: `Delete the webhook to ${host}?`, verb: 'Delete webhook',
      text: `Nothing is sent to it any more. The log of its deliveries and ${waiting} are deleted with it.`,
    },
    rotate: {
      title: `Make a new secret for ${host}?`, verb: 'Make secret',
      text: 'For 24 hours events are signed with both secrets: give the receiver the new one until then. '
        + 'A secret before these two ends at once.',
    },
    disable: {
      title: `Disable the webhook to ${host}?`, verb: 'Disable webhook',
      text: `It has ${waiting}, which then count as failed. What happens until it is enabled again is not sent later.`,
    },
  };
}
