import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRoute, createRouter, Outlet, RouterProvider } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { session } from '@/api';
import { listenForKeys } from '@/shell/actions';
import { KeyList } from '@/shell/Palette';
import { PrismPage } from '../prisms/PrismPage';
import { Label } from './Label';
import { labelSearch } from './search';

const version = {
  version: 1, created_at: '2026-11-22T12:00:00.000Z', instructions: null, model: null,
  fields: [{ key: 'message', label: 'Message' }],
  questions: [
    { key: 'topic', type: 'choice', text: 'What is it about?', insufficient_information: true, options: [
      { key: 'billing', label: 'Billing', description: null }, { key: 'delivery', label: 'Delivery', description: null },
    ] },
    { key: 'refund', type: 'yes_no', text: 'A refund?' },
  ],
};
const prism = {
  id: 'p', slug: 'tickets', name: null, created_at: version.created_at, archived_at: null, retention_days: null,
  latest_version: 1, version, lens: { columns: [] },
};
const result = (n: number) => ({
  result_id: `r${n}`, ref: null, created_at: version.created_at, version: 1, context: null, fields: { message: `Text ${n}.` },
  answers: { topic: {
    type: 'choice', value: 'delivery', confidence: 0.5,
    probabilities: { billing: 0.2, delivery: 0.7, insufficient_information: 0.1 },
  }, refund: { type: 'yes_no', probability: 0.9 } },
});

let stop = () => {};
let puts: { path: string; body: unknown }[] = [];
let refuse: (() => Response | undefined) | undefined;
let measured = false;
let labelled: Record<string, object> = {}; // the labels that results have, by result

beforeEach(() => {
  puts = [];
  refuse = undefined;
  measured = false;
  labelled = {};
  sessionStorage.clear();
  vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} });
  stop = listenForKeys();
});
afterEach(() => { stop(); vi.unstubAllGlobals(); });

/** A server with three results to label, in two pages; the page of the queue that is asked for decides what it has. */
async function open(search = '', role = 'labeller') {
  const account = { id: `a ${Math.random()}`, name: 'demo', member: { id: 'm', name: 'Ada', role } };
  const queue = { random: [[result(1), result(2)], [], [result(3)]], uncertain: [[result(3)]] };
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (input: string | Request, init?: RequestInit) => {
    const path = typeof input === 'string' ? input : new URL(input.url).pathname;
    if (path === '/console/session') return Response.json({ accounts: [account] });
    if (path === '/console/session/key') return Response.json({
      key: 'k', expires_at: new Date(Date.now() + 900_000).toISOString(), account, member: account.member,
    });
    if (!(input instanceof Request)) throw new Error(`${init?.method} ${path}`);
    const query = new URL(input.url).searchParams;
    if (path === '/v1/prisms/tickets') return Response.json(prism);
    if (path.endsWith('/quality') && measured) {
      return Response.json({ version: 1, questions: [{ question: 'refund', counted: 40 }] });
    }
    if (path.endsWith('/quality')) {
      const have = query.get('question') === 'refund' ? 12 : 28;
      return Response.json({ error: { code: 'conflict', message: `Too few labels: ${have} of 30.` } }, { status: 409 });
    }
    if (path.endsWith('/label-queue')) {
      asked.push(query.toString());
      const order = query.get('order') as keyof typeof queue;
      const at = Number(query.get('cursor') ?? 0);
      return Response.json({
        data: queue[order][at], sample: order, next_cursor: at + 1 < queue[order].length ? String(at + 1) : null,
      });
    }
    if (path.endsWith('/labels') && input.method === 'GET') {
      return Response.json({ labels: labelled[path.split('/')[3]!] ?? {} });
    }
    if (path.endsWith('/labels')) {
      const no = refuse?.();
      if (no) return no;
      puts.push({ path, body: await input.json() });
      return Response.json({ result_id: 'r', ref: null, version: 1, labels: {} });
    }
    throw new Error(path);
  });
  await session.load();
  const root = createRootRoute({ component: Outlet });
  const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Outlet });
  const page = createRoute({ getParentRoute: () => frame, path: '/prisms/$prism', component: PrismPage });
  const child = createRoute({ getParentRoute: () => page, path: '/label', component: Label, validateSearch: labelSearch });
  const router = createRouter({
    routeTree: root.addChildren([frame.addChildren([page.addChildren([child])])]),
    history: createMemoryHistory({ initialEntries: [`/prisms/tickets/label${search}`] }),
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(<QueryClientProvider client={client}><RouterProvider router={router as never} /></QueryClientProvider>);
  if (role === 'labeller') await screen.findByText('Text 1.');
  return { asked, router, client };
}

const press = (key: string) => fireEvent.keyDown(document.body, { key });
const stored = (...bodies: unknown[]) => waitFor(() => expect(puts.map((put) => put.body)).toEqual(bodies));

// spec: console-label-page, console-label-keys
describe('labelling', () => {
  it('by keys goes through the questions and the texts, over an empty page of the queue, with its sample', async () => {
    const { asked } = await open();
    press('1');
    press('n');
    expect(await screen.findByText('Text 2.')).toBeTruthy();
    press('3');
    press('y');
    expect(await screen.findByText('Text 3.')).toBeTruthy();
    press('2');
    press('y');
    expect(await screen.findByText('Everything is labelled')).toBeTruthy();
    await waitFor(() => expect(puts.map((put) => put.path).at(-1)).toBe('/v1/results/r3/labels'));
    const labels = puts.map((put) => (put.body as { labels: Record<string, unknown>; sample: string }));
    expect(Object.assign({}, ...labels.slice(0, 2).map((one) => one.labels))).toEqual({ topic: 'billing', refund: false });
    expect(new Set(labels.map((one) => one.sample))).toEqual(new Set(['random']));
    expect(asked).toEqual(['refund', 'topic'].flatMap((question) =>
      ['', '&cursor=1', '&cursor=2'].map((cursor) => `question=${question}&order=random&limit=20${cursor}`)));
  });
  it('of all questions goes on with a text that was left halfway, and asks what lacks a label', async () => {
    labelled = { r1: { topic: {} }, r2: { topic: {}, refund: {} } };
    await open();
    expect(screen.queryByText('What is it about?', { selector: 'legend *' })).toBeNull();
    press('y');
    await stored({ labels: { refund: true }, sample: 'random' });
    expect(await screen.findByText('Text 3.')).toBeTruthy();
    expect(screen.getByText('What is it about?', { selector: 'legend *' })).toBeTruthy();
  });
  it('of one question asks it alone, and what is undone is removed', async () => {
    await open('?question=refund');
    expect(screen.queryByText('What is it about?', { selector: 'legend *' })).toBeNull();
    press('y');
    expect(await screen.findByText('Text 2.')).toBeTruthy();
    await stored({ labels: { refund: true }, sample: 'random' });
    press('u');
    expect(await screen.findByText('Text 1.')).toBeTruthy();
    await stored({ labels: { refund: true }, sample: 'random' }, { labels: { refund: null }, sample: 'random' });
    press('u');
    expect(screen.getByText('Text 1.')).toBeTruthy();
  });
  it('moves by arrows, and skips by s without a label', async () => {
    await open('?question=refund');
    press('ArrowRight');
    expect(await screen.findByText('Text 2.')).toBeTruthy();
    press('ArrowLeft');
    expect(await screen.findByText('Text 1.')).toBeTruthy();
    press('s');
    expect(await screen.findByText('Text 2.')).toBeTruthy();
    expect(puts).toEqual([]);
  });
  it('keeps the model’s answer hidden until one has answered, or asks for it', async () => {
    await open();
    expect(screen.queryByText('model 70%')).toBeNull();
    press('1');
    expect(await screen.findByText('model 70%')).toBeTruthy();
    expect(screen.queryByText('model 90%')).toBeNull();
    expect(screen.getByText('What is it about? Billing; the model said Delivery (70%).').getAttribute('role')).toBe('status');
    press('m');
    expect(await screen.findByText('model 90%')).toBeTruthy();
  });
  it('by pointer labels the question that was pressed', async () => {
    await open();
    fireEvent.click(screen.getByRole('button', { name: 'Yes' }));
    await stored({ labels: { refund: true }, sample: 'random' });
    expect(screen.getByRole('button', { name: /^Yes/, pressed: true })).toBeTruthy();
    expect(screen.getByText('Text 1.')).toBeTruthy();
  });
  it('goes on while labels cannot be stored, and stores them later', async () => {
    await open('?question=refund');
    let away = true;
    refuse = () =>
      (away ? Response.json({ error: { code: 'unavailable', message: 'The server is busy.' } }, { status: 503 }) : undefined);
    press('y');
    expect(await screen.findByText('Text 2.')).toBeTruthy();
    press('n');
    expect(await screen.findByText(/2 labels not stored yet: The server is busy\./)).toBeTruthy();
    away = false;
    fireEvent.click(screen.getByRole('button', { name: 'Try now' }));
    await stored({ labels: { refund: true }, sample: 'random' }, { labels: { refund: false }, sample: 'random' });
    await waitFor(() => expect(screen.queryByText(/not stored yet/)).toBeNull());
  });
  it('has a goal for each question, and its keys are in the list of keys', async () => {
    await open();
    const goals = () => screen.getAllByText(/of 30 labels for measures/).map((goal) => goal.textContent!.slice(0, 2));
    await waitFor(() => expect(goals()).toEqual(['28', '12']));
    press('1');
    await waitFor(() => expect(goals()).toEqual(['29', '12']));
    press('k');
    render(<KeyList onClose={() => {}} />);
    const keys = Object.fromEntries([...document.querySelectorAll('.keys dl > div')].map((line) =>
      [line.children[0]!.textContent, line.children[1]!.textContent]));
    expect(keys).toMatchObject({
      'What is it about? Billing': '1', 'What is it about? Insufficient information': '3', 'Next text': '→',
      'Previous text': '←', 'Skip the text': 's', 'Undo the last label': 'u', 'Show the model’s answers': 'm',
    });
  });
  // spec: console-quality-page
  it('makes the measures old that were read before', async () => {
    measured = true;
    const { client } = await open('?question=refund');
    const measures = () => client.getQueryCache().find({ queryKey: ['quality', 'tickets'], exact: false })?.state;
    await waitFor(() => expect(measures()).toMatchObject({ status: 'success', isInvalidated: false }));
    press('y');
    await waitFor(() => expect(measures()).toMatchObject({ isInvalidated: true, fetchStatus: 'idle' }));
  });
  it('has no call for those who label by hand', async () => {
    await open();
    expect(screen.queryByText('The same call')).toBeNull();
  });
  it('has the call of the queue, and then of the last label', async () => {
    await open('?question=refund&order=random&as=prismctl', 'editor');
    expect(await screen.findByText('prismctl labels queue --prism tickets --question refund --order random')).toBeTruthy();
    press('n');
    expect(await screen.findByText('prismctl labels set r1 refund=no --sample random')).toBeTruthy();
    press('u');
    expect(await screen.findByText('prismctl labels queue --prism tickets --question refund --order random')).toBeTruthy();
  });
  // spec: console-roles
  it('is not for readers', async () => {
    await open('', 'reader');
    expect(await screen.findByText(/Your role may not label results/)).toBeTruthy();
    expect(screen.queryByRole('link', { name: 'Label' })).toBeNull();
  });
});
