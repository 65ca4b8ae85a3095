import type { Schemas } from '@/api';

type Webhook = Schemas['Webhook'];
type Try = Schemas['DeliveryTry'];
type EventType = Schemas['NewWebhook']['events'][number];

/** The events that a webhook can ask for, with what happened in words. */
export const events: [EventType, string][] = [
  ['result.created', 'A result was saved'],
  ['result.failed', 'A result was saved without a usable answer'],
  ['result.labelled', 'A result was labelled'],
  ['run.started', 'A run has begun'],
  ['run.paused', 'A run is paused'],
  ['run.finished', 'A run is finished'],
  ['run.cancelled', 'A run is cancelled'],
  ['drift.alarm', 'Answers of a watched prism drift'],
  ['drift.ended', 'Answers no longer drift'],
  ['prism.changed', 'A prism, a version or a Lens was changed'],
  ['key.expiring', 'An API key ends soon'],
];

export const comparisons: [Schemas['EventCondition']['op'], string][] = [
  ['is', 'is'], ['not', 'is not'], ['from', 'is at least'], ['to', 'is at most'],
];

const reasons: Record<string, string> = {
  gone: 'Its receiver answered 410, which says that it is gone.',
  failing: 'Ten tries of an event failed, over three days.',
  overflow: 'More than 1,000,000 events waited.',
};

/** Whether a webhook sends events, in a word. */
export const stateOf = (webhook: Webhook): 'active' | 'disabled' | 'failed' =>
  webhook.enabled ? 'active' : webhook.disabled_reason ? 'failed' : 'disabled';

/** Why a webhook is disabled, in a sentence. */
export function whyDisabled(webhook: Webhook): string {
  if (webhook.disabled_reason === null) return 'Somebody has disabled it.';
  return reasons[webhook.disabled_reason] ?? `Prism has disabled it: ${webhook.disabled_reason}.`;
}

const errors: Record<string, string> = {
  forbidden_address: 'The address is not public, and the operator has not allowed it.',
  unknown_host: 'The name of the host is not known.',
  connection: 'There was no connection, or it broke.',
  tls: 'The certificate is not valid for the host.',
  timeout: 'No answer within 15 seconds.',
  status: 'Only an answer of 2xx counts.',
};

/** What a try came to, in a sentence. */
export function outcomeOf(one: Try): string {
  const answered = one.status === null ? '' : `Answered ${one.status}.`;
  const failed = one.error === null ? '' : errors[one.error] ?? `${one.error}.`;
  return [answered, failed].filter(Boolean).join(' ');
}

/** Which events of a webhook are sent, beside their types, in words; empty: all. */
export function narrowed(webhook: Pick<Webhook, 'status' | 'condition'>): string {
  const { status, condition } = webhook;
  const op = comparisons.find(([value]) => value === condition?.op)?.[1] ?? condition?.op;
  return [status && `status ${status}`, condition && `${condition.column} ${op} ${condition.value}`].filter(Boolean).join(', ');
}
