import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Question } from '@/answers/words';
import { kindOf } from '@/questions';
import { type Call, open, refusal, serve } from '@/test/server';
import { beamHue, fieldOf, type RawAnswers } from './answered';
import { Home } from './Home';

beforeEach(() => vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} }));
afterEach(() => { vi.unstubAllGlobals(); });

const topic = {
  key: 'topic', type: 'choice', text: 'What is it about?', insufficient_information: false, options: [
    { key: 'billing', label: 'Billing', description: null }, { key: 'delivery', label: 'Delivery', description: null },
    { key: 'account', label: 'Account', description: null }, { key: 'product', label: 'Product', description: null },
  ],
} as Question;
const refund = { key: 'refund', type: 'yes_no', text: 'A refund?' } as Question;
const answers = {
  topic: {
    type: 'choice', value: 'delivery', confidence: 0.8,
    probabilities: { billing: 0.08, delivery: 0.9, account: 0.01, product: 0.01 },
  },
  refund: { type: 'yes_no', probability: 0.12 },
} as RawAnswers;
const prism = {
  id: 'p', slug: 'tickets', name: 'Support tickets', created_at: '', archived_at: null, latest_version: 1, lens: { columns: [] },
  version: { version: 1, fields: [{ key: 'subject' }, { key: 'message' }], questions: [topic, refund] },
};
const result = { id: 'r', prism: 'tickets', version: 1, status: 'ok', error: null, answers, took_ms: 3, created_at: '' };

interface State { prisms?: object[]; role?: string; made?: (call: Call) => Response }

async function show({ prisms = [prism], role = 'owner', made = () => Response.json(result) }: State = {}) {
  const calls = await serve(role, (call) => {
    switch (`${call.method} ${call.path}`) {
      case 'GET /v1/results': return Response.json({ data: [], next_cursor: null });
      case 'GET /v1/prisms': return Response.json({ data: prisms, next_cursor: null });
      case 'POST /v1/prisms/tickets/results': case 'POST /v1/try': return made(call);
      default: return undefined;
    }
  });
  const root = createRootRoute({ component: Outlet });
  open(root.addChildren([createRoute({ getParentRoute: () => root, path: '/', component: Home })]), '/');
  return calls;
}
const enter = async (text: string, more: object = {}) => {
  const box = await screen.findByLabelText('Message');
  fireEvent.change(box, { target: { value: text } });
  fireEvent.keyDown(box, { key: 'Enter', ...more });
};
const items = () => screen.getAllByRole('listitem').map((item) => item.textContent);
const made = (calls: Call[]) => calls.filter(({ method }) => method === 'POST');

// spec: console-home
describe('the first screen', () => {
  it('answers its message on Enter, in bars that are as long as the answers are probable', async () => {
    const calls = await show();
    await enter('Where is my parcel?');
    expect(await screen.findByRole('link', { name: 'Open its result' })).toBeTruthy();
    expect(items()).toEqual(['What is it about?Delivery 90%Billing 8% · 2 under 2%', 'A refund?No 88%Yes 12%']);
    const bars = [...document.querySelectorAll<HTMLElement>('.refraction-bar > span')];
    expect(bars.map(({ style }) => style.width)).toEqual(['90%', '88%']);
    expect(made(calls).map(({ path, query, body }) => [path, query.get('format'), (body as { fields: object }).fields])).toEqual([
      ['/v1/prisms/tickets/results', 'raw', { subject: '', message: 'Where is my parcel?' }],
    ]);
  });
  it('stays when its answer is the first result, with what comes next', async () => {
    await show();
    await enter('Where is my parcel?');
    await screen.findByRole('link', { name: 'Open its result' });
    expect(screen.getByRole('heading', { name: 'Ask a text something.' })).toBeTruthy();
    expect(screen.getByRole('link', { name: 'Ask your own questions' }).getAttribute('href')).toBe('/prisms/new');
    expect(screen.getByRole('link', { name: 'Upload a spreadsheet' }).getAttribute('href')).toBe('/runs/new?prism=tickets');
    expect(screen.getByText('Call it from code').closest('details')!.open).toBe(false);
  });
  it('takes a line break with Shift, and sends nothing for no text', async () => {
    const calls = await show();
    await enter('Where?', { shiftKey: true });
    await enter('  ');
    expect(made(calls)).toEqual([]);
  });
  it('asks an example where there is no prism, whose answer is not kept', async () => {
    const calls = await show({ prisms: [], made: () => Response.json({ status: 'ok', error: null, raw: {
      topic: { type: 'choice', value: 'billing', confidence: 0.9, probabilities: { billing: 0.9, delivery: 0.1 } },
    } }) });
    await enter('I was charged twice.');
    expect((await screen.findByText('90%')).closest('li')!.textContent).toContain('Billing');
    expect(made(calls)[0]).toMatchObject({ path: '/v1/try', body: { fields: { subject: '', message: 'I was charged twice.' } } });
    expect(screen.queryByRole('link', { name: 'Open its result' })).toBeNull();
  });
  it('says what went wrong, and asks again with the same key', async () => {
    let times = 0;
    const calls = await show({ made: () => (times++ ? Response.json(result) : refusal(503, 'unavailable', 'Busy.')) });
    await enter('Where is my parcel?');
    expect(await screen.findByText('The message was not answered.')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await screen.findByRole('link', { name: 'Open its result' });
    const keys = made(calls).map(({ body }) => (body as { idempotency_key: string }).idempotency_key);
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
  });
  it('says that a model failed, whose result is kept too', async () => {
    const failed = { ...result, status: 'failed', answers: null, error: 'The model timed out.' };
    await show({ made: () => Response.json(failed, { status: 502 }) });
    await enter('Where is my parcel?');
    expect(await screen.findByText(/The model timed out/)).toBeTruthy();
    expect(screen.getByRole('link', { name: 'Open its result' })).toBeTruthy();
  });
  it('offers nothing to a role that may not ask', async () => {
    await show({ role: 'reader' });
    expect(await screen.findByText('Results will be here')).toBeTruthy();
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Answer' })).toBeNull());
  });
});

describe('an answer', () => {
  it('has the hue of its option, and others one each of their own', () => {
    const hues = [beamHue(answers.topic, topic, 3), beamHue(answers.refund, refund, 0), beamHue(undefined, refund, 1)];
    expect(hues).toEqual([2, 6, 4]);
  });
  it('comes first, also where another one is more probable', () => {
    const changed = { ...answers.topic!, value: 'billing' } as RawAnswers[string];
    const parts = kindOf(topic).parts(changed, topic, { no: 0.4, yes: 0.6 });
    expect(parts.chosen).toMatchObject({ label: 'Billing', p: 0.08 });
    expect(parts.others[0]).toMatchObject({ label: 'Delivery', p: 0.9 });
  });
});

it('a message is in the field that is named so, or else in the last', () => {
  expect(fieldOf([{ key: 'message' }, { key: 'subject' }], 'hi')).toEqual({ message: 'hi', subject: '' });
  expect(fieldOf([{ key: 'title' }, { key: 'review' }], 'hi')).toEqual({ title: '', review: 'hi' });
});
