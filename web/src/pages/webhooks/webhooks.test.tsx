import { fireEvent, screen, within } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Call, open, refusal, serve } from '@/test/server';
import { frame, root } from '@/shell/root';
import type { Delivery, Webhook } from './api';
import { webhooksRoutes } from './routes';
import { events, narrowed, outcomeOf, whyDisabled } from './words';

const secret = 'whsec_0fC5xGkUcJ0uwJ3q1nM2t8bZ7yV9eRaLhDpKfTsXoW4=';
const id = '0199f3c4-2b7d-7a10-9e55-6c1f8d3b2a47';
const webhook: Webhook = {
  id, url: 'https://example.com/hook', events: ['result.created', 'run.finished'], prisms: ['tickets'], status: 'ok',
  condition: { column: 'topic', op: 'is', value: 'billing' }, answers: true, run_rows: false, enabled: true,
  disabled_reason: null, waiting: 3, previous_secret_until: null, created_at: '2026-11-20T14:03:27.412Z',
};
const failed: Delivery = {
  id: '0199f3c4-5d20-7b31-8f02-1a9c4e6d7b58', event: 'result.created', at: '2026-11-20T14:08:31.905Z', status: 'failed',
  next_at: null,
  tries: [{ at: '2026-11-20T14:08:32.310Z', took_ms: 48, status: 503, error: 'status', answer: '<b>try later</b>' }],
};
const tree = root.addChildren([frame.addChildren([...webhooksRoutes])]);

afterEach(() => vi.unstubAllGlobals());

/** Answers the calls of the page; what it changes is answered by `change`. */
const answering = (list: Webhook[], change: (call: Call) => Response | undefined = () => undefined) => (call: Call) => {
  if (call.method !== 'GET') return change(call);
  if (call.path === '/v1/webhooks') return Response.json({ data: list, next_cursor: null });
  if (call.path.endsWith('/deliveries')) {
    const state = call.query.get('status');
    return Response.json({ data: state && state !== 'failed' ? [] : [failed], next_cursor: null });
  }
  return Response.json({ data: [], next_cursor: null });
};

describe('the page of webhooks', () => {
  it('teaches what will be here, and makes one whose secret is shown once', async () => {
    let list: Webhook[] = [];
    const calls = await serve('owner', (call) => answering(list, ({ path }) => {
      if (path !== '/v1/webhooks') return undefined;
      list = [webhook];
      return Response.json({ ...webhook, secret }, { status: 201 });
    })(call));
    open(tree, '/webhooks');
    expect(await screen.findByText('No webhooks yet')).toBeTruthy();
    expect(screen.getByText(/prismctl webhooks listen --forward-to/)).toBeTruthy();
    fireEvent.click(screen.getAllByRole('button', { name: 'Create webhook' })[0]!);
    const dialog = within(screen.getByRole('dialog'));
    fireEvent.change(dialog.getByLabelText('URL'), { target: { value: ' https://example.com/hook ' } });
    fireEvent.click(dialog.getByLabelText('A run is finished'));
    fireEvent.change(dialog.getByLabelText('Column'), { target: { value: 'topic' } });
    fireEvent.change(dialog.getByLabelText('Value'), { target: { value: 'billing' } });
    fireEvent.click(dialog.getByLabelText('Send answers'));
    fireEvent.click(dialog.getByRole('button', { name: 'Create webhook' }));
    expect(await screen.findByText(secret)).toBeTruthy();
    expect(calls.find(({ method }) => method === 'POST')?.body).toEqual({
      url: 'https://example.com/hook', events: ['result.created', 'run.finished'], prisms: null, status: null,
      condition: { column: 'topic', op: 'is', value: 'billing' }, answers: true, run_rows: false, enabled: true,
    });
    fireEvent.click(screen.getByRole('button', { name: 'Done' }));
    expect(document.documentElement.outerHTML).not.toContain(secret);
  });

  it('sends nothing that narrows results when no results are told of', async () => {
    const calls = await serve('owner', answering([webhook], () => Response.json(webhook)));
    open(tree, `/webhooks?open=${id}`);
    fireEvent.click(await screen.findByRole('button', { name: 'Edit' }));
    fireEvent.click(within(screen.getByRole('dialog')).getByLabelText('A result was saved'));
    expect(screen.queryByLabelText('Column')).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await vi.waitFor(() => expect(calls.find(({ method }) => method === 'PUT')?.body).toEqual({
      url: webhook.url, events: ['run.finished'], prisms: ['tickets'], status: null, condition: null, answers: true,
      run_rows: false, enabled: true,
    }));
  });

  it('says what is wrong at its field, and keeps what was typed', async () => {
    await serve('owner', answering([], () => refusal(400, 'validation_failed', 'Invalid request: url: Expected https://')));
    open(tree, '/webhooks');
    fireEvent.click((await screen.findAllByRole('button', { name: 'Create webhook' }))[0]!);
    const dialog = within(screen.getByRole('dialog'));
    fireEvent.change(dialog.getByLabelText('URL'), { target: { value: 'ftp://example.com' } });
    fireEvent.click(dialog.getByRole('button', { name: 'Create webhook' }));
    await vi.waitFor(() => expect(dialog.getByLabelText('URL').getAttribute('aria-invalid')).toBe('true'));
    expect(dialog.getByLabelText('URL')).toHaveProperty('value', 'ftp://example.com');
  });

  it('shows each try, its answer as text, and sends again', async () => {
    const calls = await serve('owner', answering([webhook], () => Response.json({ ...failed, status: 'waiting' })));
    open(tree, `/webhooks?open=${id}`);
    expect(await screen.findByText(/Answered 503. Only an answer of 2xx counts./)).toBeTruthy();
    expect(screen.getByText('<b>try later</b>')).toBeTruthy();
    fireEvent.click(screen.getByText('Send again'));
    await vi.waitFor(() =>
      expect(calls.some(({ path }) => path === `/v1/webhooks/${id}/deliveries/${failed.id}/resend`)).toBe(true));
  });

  it('asks for the deliveries of a state, which is in the address', async () => {
    await serve('owner', answering([webhook]));
    const router = open(tree, `/webhooks?open=${id}`);
    fireEvent.change(await screen.findByLabelText('State of deliveries'), { target: { value: 'waiting' } });
    expect(await screen.findByText('No deliveries in this state.')).toBeTruthy();
    expect(router.state.location.search).toEqual({ open: id, state: 'waiting' });
  });

  it('says why Prism has disabled a webhook, and enables it with all else as it was', async () => {
    const off: Webhook = { ...webhook, enabled: false, disabled_reason: 'failing' };
    const calls = await serve('owner', answering([off], () => Response.json(webhook)));
    open(tree, `/webhooks?open=${id}`);
    expect(await screen.findByText(/Ten tries of an event failed/)).toBeTruthy();
    expect(screen.getByRole('button', { name: 'Send test' })).toHaveProperty('disabled', true);
    fireEvent.click(screen.getByRole('button', { name: 'Enable' }));
    await vi.waitFor(() => expect(calls.find(({ method }) => method === 'PUT')?.body).toMatchObject({
      enabled: true, condition: webhook.condition, prisms: ['tickets'],
    }));
  });

  it('asks before it deletes, and names the host and what waits', async () => {
    const calls = await serve('owner', answering([webhook], () => new Response(null, { status: 204 })));
    open(tree, `/webhooks?open=${id}`);
    fireEvent.click(await screen.findByRole('button', { name: 'Delete' }));
    const dialog = within(screen.getByRole('dialog', { name: 'Delete the webhook to example.com?' }));
    expect(dialog.getByText(/3 waiting events/)).toBeTruthy();
    fireEvent.click(dialog.getByRole('button', { name: 'Delete webhook' }));
    await vi.waitFor(() => expect(calls.some(({ method }) => method === 'DELETE')).toBe(true));
  });

  // spec: webhook-roles
  it('an editor reads, and changes nothing', async () => {
    await serve('editor', answering([webhook]));
    open(tree, `/webhooks?open=${id}`);
    expect(await screen.findByText(/Answered 503/)).toBeTruthy();
    for (const name of ['Create webhook', 'Edit', 'Send test', 'New secret', 'Delete', 'Send again']) {
      expect(screen.queryByRole('button', { name })).toBeNull();
    }
  });

  it('a caller is told who makes webhooks, and nothing is asked', async () => {
    const calls = await serve('caller', answering([webhook]));
    open(tree, '/webhooks');
    expect(await screen.findByText(/Owners make webhooks/)).toBeTruthy();
    expect(calls.filter(({ path }) => path.startsWith('/v1/webhooks'))).toEqual([]);
  });
});

it('tries, reasons and what narrows a webhook are said in words; those of a later release stay', () => {
  expect(outcomeOf({ ...failed.tries[0]!, status: 204, error: null })).toBe('Answered 204.');
  expect(outcomeOf({ ...failed.tries[0]!, status: null, error: 'timeout' })).toBe('No answer within 15 seconds.');
  expect(outcomeOf({ ...failed.tries[0]!, status: null, error: 'later' as never })).toBe('later.');
  expect(whyDisabled({ ...webhook, disabled_reason: 'later' as never })).toBe('Prism has disabled it: later.');
  expect(narrowed(webhook)).toBe('status ok, topic is billing');
  expect(narrowed({ status: null, condition: null })).toBe('');
  expect(events).toHaveLength(11);
});
