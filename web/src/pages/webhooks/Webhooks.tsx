import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useCan } from '@/api';
import { Button, type Column, Empty, ErrorNote, Note, Num, Page, Skeleton, Split, Status, Table, Time } from '@/design';
import { useActions } from '@/shell/actions';
import { neighbours } from '../neighbours';
import { type CreatedWebhook, useWebhooks, type Webhook } from './api';
import { Secret } from './Secret';
import { WebhookForm } from './WebhookForm';
import { WebhookPanel } from './WebhookPanel';
import { stateOf } from './words';
import './webhooks.css';

const route = getRouteApi('/frame/webhooks');

const columns: Column<Webhook>[] = [
  {
    id: 'url', head: 'URL', cell: ({ url }) => <span className="webhooks-url">{url}</span>, sort: ({ url }) => url,
  },
  {
    id: 'events', head: 'Events', show: 'wide', sort: (webhook) => webhook.events.join(),
    cell: ({ events }) => events.length > 2 ? `${events[0]} and ${events.length - 1} more` : events.join(', '),
  },
  { id: 'state', head: 'State', cell: (webhook) => <Status status={stateOf(webhook)} />, sort: stateOf, width: '8rem' },
  {
    id: 'waiting', head: 'Waiting', cell: ({ waiting }) => <Num value={waiting} />, sort: ({ waiting }) => waiting, show: 'wide',
    width: '6rem', align: 'end',
  },
  {
    id: 'created', head: 'Created', cell: (webhook) => <Time at={webhook.created_at} />, sort: (webhook) => webhook.created_at,
    show: 'wide', width: '9rem',
  },
];

/** Where events are sent. Editors see it, owners change it. */
export function Webhooks() {
  const { sort, open, state } = route.useSearch();
  const navigate = route.useNavigate();
  const owns = useCan('own');
  const reads = useCan('edit');
  const { data, error, refetch } = useWebhooks(reads);
  const [form, setForm] = useState<'new' | 'edit'>();
  const [made, setMade] = useState<CreatedWebhook>();
  useActions(owns
    ? [{ id: 'create webhook', group: 'Webhooks', label: 'Create webhook', keys: 'n', run: () => setForm('new') }] : []);
  if (!reads) return <Page title="Webhooks"><Note>Owners make webhooks, and editors see them.</Note></Page>;

  const show = (id: string | undefined) =>
    void navigate({ search: (old) => ({ ...old, open: id, state: undefined }), replace: open !== undefined });
  const current = data?.find((webhook) => webhook.id === open);
  const { previous, next } = neighbours(data ?? [], columns, sort, (webhook) => webhook.id, open);
  const create = owns && <Button variant="primary" icon="plus" onClick={() => setForm('new')}>Create webhook</Button>;
  return (
    <Page title="Webhooks" lead="Programs are told what happens." actions={create || undefined}>
      <ErrorNote error={error} onRetry={() => void refetch()} />
      {data ? (
        <Split>
          <Table label="Webhooks" columns={columns} rows={data} rowKey={(webhook) => webhook.id} sort={sort} open={open}
            onOpen={(webhook) => show(webhook.id)}
            onSort={(to) => void navigate({ search: (old) => ({ ...old, sort: to }), replace: true })}
            empty={
              <Empty title="No webhooks yet" action={create || undefined}
                command="prismctl webhooks listen --forward-to http://localhost:3000/hook">
                A webhook sends what happens to a URL, such as each new result or the end of a run, signed and in order. To try it
                without a public address, the command sends live events to a program on your machine.
              </Empty>
            } />
          {current && (
            <WebhookPanel key={current.id} webhook={current} owns={owns} state={state} onEdit={() => setForm('edit')}
              setState={(to) => void navigate({ search: (old) => ({ ...old, state: to }), replace: true })}
              onSecret={setMade} onClose={() => show(undefined)} onPrevious={previous ? () => show(previous) : undefined}
              onNext={next ? () => show(next) : undefined} />
          )}
        </Split>
      ) : !error && <Skeleton shape="table" lines={4} />}
      {form === 'new' && (
        <WebhookForm onClose={() => setForm(undefined)} onMade={(webhook) => { setForm(undefined); setMade(webhook); }} />
      )}
      {form === 'edit' && current && <WebhookForm webhook={current} onClose={() => setForm(undefined)} />}
      {made && <Secret made={made} onClose={() => { setMade(undefined); show(made.id); }} />}
    </Page>
  );
}
