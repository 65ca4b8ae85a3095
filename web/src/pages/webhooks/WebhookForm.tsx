import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, usePrisms } from '@/api';
import { usePrism } from '@/data/results';
import { Button, Checkbox, Dialog, ErrorNote, Input, Select } from '@/design';
import { type CreatedWebhook, createWebhook, type NewWebhook, replaceWebhook, sentOf, type Webhook } from './api';
import { comparisons, events } from './words';

const fresh: NewWebhook = {
  url: '', events: ['result.created'], prisms: null, status: null, condition: null, answers: false, run_rows: false,
  enabled: true,
};

interface Props {
  /** The webhook to change; none: a new one. */
  webhook?: Webhook | undefined;
  onClose: () => void;
  onMade?: (webhook: CreatedWebhook) => void;
}

/** Asks for what a webhook sends, and where. */
export function WebhookForm({ webhook, onClose, onMade }: Props) {
  const client = useQueryClient();
  const [sent, setSent] = useState<NewWebhook>(webhook ? sentOf(webhook) : fresh);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const set = (change: Partial<NewWebhook>) => setSent((old) => ({ ...old, ...change }));
  const problems = error instanceof ApiError ? error.problems : [];
  const problem = (path: string) => problems.find((one) => one.path === path || one.path.startsWith(`${path}.`))?.message;
  const narrows = sent.events.includes('result.created');
  // The answer goes to the dialog that shows its secret and into no cache.
  const submit = async () => {
    setBusy(true);
    setError(undefined);
    const body: NewWebhook = {
      ...sent, url: sent.url.trim(), ...(!narrows && { status: null, condition: null, run_rows: false }),
    };
    try {
      if (webhook) await replaceWebhook(webhook.id, body);
      else onMade?.(await createWebhook(body));
      await client.invalidateQueries({ queryKey: ['webhooks'] });
      if (webhook) onClose();
    } catch (cause) {
      setError(cause);
      setBusy(false);
    }
  };
  const verb = webhook ? 'Save' : 'Create webhook';
  return (
    <Dialog open wide onClose={onClose} firm={sent.url !== ''} title={webhook ? 'Edit webhook' : 'Create webhook'}
      onSubmit={() => void (busy || submit())} actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={busy}>{verb}</Button>
        </>
      }>
      <div className="stack">
        {!['url', 'events', 'prisms', 'condition'].some(problem) && <ErrorNote error={error} />}
        <Input label="URL" type="url" value={sent.url} maxLength={2000} error={problem('url')} placeholder="https://"
          hint="Each event is sent to it with POST. It begins with https://, or is on a network that the operator allows."
          onChange={(event) => set({ url: event.target.value })} />
        <fieldset className="webhooks-events">
          <legend>Events</legend>
          {problem('events') && <p className="field-error">{problem('events')}</p>}
          {events.map(([type, words]) => (
            <Checkbox key={type} label={words} hint={<code>{type}</code>} checked={sent.events.includes(type)}
              onChange={(event) => set({ events: chosenWith(sent.events, type, event.target.checked) })} />
          ))}
        </fieldset>
        <Prisms sent={sent} set={set} problem={problem('prisms')} />
        {narrows && <Narrowing sent={sent} set={set} problem={problem('condition')} />}
        <Checkbox label="Send answers" hint="The columns of the Lens of ok results. Fields are never sent."
          checked={sent.answers ?? false} onChange={(event) => set({ answers: event.target.checked })} />
        {narrows && (
          <Checkbox label="Send results of runs too" hint="Up to 100 results of a run in one event."
            checked={sent.run_rows ?? false} onChange={(event) => set({ run_rows: event.target.checked })} />
        )}
      </div>
    </Dialog>
  );
}

/** Events in their order, with or without one. */
function chosenWith(chosen: NewWebhook['events'], type: NewWebhook['events'][number], on: boolean): NewWebhook['events'] {
  return events.map(([one]) => one).filter((one) => one === type ? on : chosen.includes(one));
}

interface PartProps {
  sent: NewWebhook;
  set: (change: Partial<NewWebhook>) => void;
  problem: string | undefined;
}

/** Which prisms the events are of: all, or those that are added. */
function Prisms({ sent, set, problem }: PartProps) {
  const { data: prisms = [] } = usePrisms();
  const chosen = sent.prisms ?? [];
  const more = prisms.filter((prism) => !chosen.includes(prism.slug));
  return (
    <div className="stack">
      <Select label="Prisms" value="" error={problem} hint={chosen.length ? 'Only events of these prisms are sent.' : undefined}
        options={[
          ['', chosen.length ? 'Add a prism' : 'All prisms'], ...more.map(({ slug, name }) => [slug, name ?? slug] as const),
        ]}
        onChange={(event) => event.target.value && set({ prisms: [...chosen, event.target.value] })} />
      {chosen.length > 0 && (
        <ul className="webhooks-prisms">
          {chosen.map((slug) => (
            <li key={slug}>
              <code>{slug}</code>
              <Button small variant="quiet" icon="close" aria-label={`Leave out ${slug}`}
                onClick={() => set({ prisms: chosen.length > 1 ? chosen.filter((one) => one !== slug) : null })}>
                Leave out
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Which results are told of: by their status, and by a column of the Lens. */
function Narrowing({ sent, set, problem }: PartProps) {
  const { data: prism } = usePrism(sent.prisms?.[0]);
  const names = prism?.lens.columns.map((column) => column.name) ?? [];
  const condition = sent.condition ?? { column: '', op: 'is' as const, value: '' };
  const write = (change: Partial<typeof condition>) => {
    const now = { ...condition, ...change };
    set({ condition: now.column || now.value ? now : null });
  };
  return (
    <>
      <Select label="Results" value={sent.status ?? ''} options={[['', 'ok and failed'], ['ok', 'ok'], ['failed', 'failed']]}
        onChange={(event) => set({ status: (event.target.value || null) as NewWebhook['status'] })} />
      <fieldset className="webhooks-condition">
        <legend>Only results of whose Lens this holds (optional)</legend>
        <Input label="Column" value={condition.column} list="webhook-columns" maxLength={64}
          onChange={(event) => write({ column: event.target.value })} />
        <datalist id="webhook-columns">{names.map((name) => <option key={name} value={name} />)}</datalist>
        <Select label="Comparison" value={condition.op} options={comparisons}
          onChange={(event) => write({ op: event.target.value as typeof condition.op })} />
        <Input label="Value" value={condition.value} maxLength={200} onChange={(event) => write({ value: event.target.value })} />
        <p className={problem ? 'field-error' : 'field-hint'}>
          {problem ?? 'An option or a level by its key, yes, no or unsure, or a number.'}
        </p>
      </fieldset>
    </>
  );
}
