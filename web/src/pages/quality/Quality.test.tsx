import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRoute, createRouter, Outlet, RouterProvider } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { session } from '@/api';
import { PrismPage } from '../prisms/PrismPage';
import { Quality } from './Quality';
import { qualitySearch } from './search';

const at = '2026-11-22T12:00:00.000Z';
const option = (key: string, label: string) => ({ key, label, description: null });
const questions = [
  {
    key: 'topic', type: 'choice', text: 'What is it about?', insufficient_information: false,
    options: [option('billing', 'Billing'), option('delivery', 'Delivery')],
  },
  { key: 'refund', type: 'yes_no', text: 'A refund?' },
];
const versionOf = (version: number) => ({
  version, created_at: at, instructions: null, model: null, fields: [{ key: 'message', label: 'Message' }], questions,
});
const columns = [
  { name: 'topic', question: 'topic', show: 'answer', option: null, yes_at: null, no_at: null, calibrated: false },
  { name: 'wants', question: 'refund', show: 'answer', option: null, yes_at: 0.7, no_at: 0.3, calibrated: false },
];
const prism = {
  id: 'p', slug: 'tickets', name: null, created_at: at, archived_at: null, retention_days: null, latest_version: 2,
  version: versionOf(2), lens: { columns },
};
const f = (value: number, low = value - 0.05, high = value + 0.05) => ({ value, low, high });
const none = {
  macro_f1: null, classes: null, confusion: null, rps: null, mae: null, kappa: null, ece: null, ece_plain: null, bins: null,
  coverage: null,
};
const topic = {
  ...none, question: 'topic', type: 'choice', labels: 130, counted: 120, examples: 3, calibration: null,
  accuracy: f(0.8), log_loss: f(0.5),
  brier: f(0.3), macro_f1: f(0.79),
  classes: [{ value: 'billing', n: 70, precision: f(0.8), recall: f(0.85), f1: f(0.82) }],
  confusion: { values: ['billing', 'delivery'], counts: [[60, 10], [14, 36]] },
  ece: f(0.1), ece_plain: f(0.12),
  bins: [{ n: 60, mean: 0.6, rate: 0.62, low: 0.5, high: 0.7 }, { n: 60, mean: 0.9, rate: 0.71, low: 0.64, high: 0.78 }],
  coverage: [{ at: 0.9, kept: 0.5, risk: 0.1 }, { at: 0.5, kept: 1, risk: 0.2 }],
};
const refund = {
  ...topic, question: 'refund', type: 'yes_no', classes: [], confusion: { values: [false, true], counts: [[60, 10], [14, 36]] },
};
// Two labels: one no at 0.2, one yes at 0.65.
const counts = Array.from({ length: 101 }, (_, i) => ({
  at: i / 100, from_yes: i <= 65 ? 1 : 0, from_no: i <= 20 ? 1 : 0, to_yes: i >= 65 ? 1 : 0, to_no: i >= 20 ? 1 : 0,
}));
const bins = (at: Record<number, number>) => Array.from({ length: 101 }, (_, i) => at[i] ?? 0);
const threshold = { yes_at: 0.5, no_at: 0.5, yes: 1, no: 1, unsure: 0, false_yes: 0, false_no: 0, total: 0, mean: 0 };
const calibration = {
  id: 'c1', version: 2, question: 'topic', method: 'temperature', temperature: 1.5, a: null, b: null, points: null, labels: 120,
  log_loss_before: 0.5, log_loss_after: 0.4, gain: f(0.1), created_at: at,
};

let calls: { what: string; body: unknown; match: string | null }[] = [];
let few = false;
let labelled = false; // every result has its label
let pinned: string | null = null;
let fitted: unknown[] = [];
let watched = false;
let reference: unknown = null;

beforeEach(() => {
  calls = [];
  few = labelled = false;
  pinned = null;
  fitted = [];
  watched = false;
  reference = null;
  vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} });
});
afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals(); });

const first = { kind: 'first', from: at, to: at, results: 2000 };
const window_ = { from: at, to: at, results: 3, alarm: false, probability: null, classes: null };
const driftOf = () => ({
  version: 2, watched, counted_to: watched ? at : null, reference,
  questions: watched ? questions.map((q, index) => ({
    question: q.key, index, type: q.type, metrics: index === 0, hour: window_, day: window_, hours: [], days: [],
  })) : [],
});
const problem = (text: string) =>
  Response.json({ error: { code: 'validation_failed', message: `Invalid request: ${text}` } }, { status: 400 });
const tooFew = () => Response.json({ error: { code: 'conflict', message: 'Too few labels: 12 of 30.' } }, { status: 409 });

async function open(search = '', role = 'editor') {
  const account = { id: 'a', name: 'demo', member: { id: 'm', name: 'Ada', role } };
  vi.stubGlobal('fetch', async (input: string | Request) => {
    const url = new URL(typeof input === 'string' ? input : input.url, location.origin);
    const path = url.pathname.replace('/v1/prisms/tickets', '');
    if (path === '/console/session') return Response.json({ accounts: [account] });
    if (path === '/console/session/key') return Response.json({
      key: 'k', expires_at: new Date(Date.now() + 900_000).toISOString(), account, member: account.member,
    });
    const request = input as Request;
    const body: unknown = request.method === 'GET' ? undefined : await request.json();
    calls.push({ what: `${request.method} ${path}`, body, match: request.headers.get('If-Match') });
    switch (`${request.method} ${path}`) {
      case 'GET ': return Response.json(prism, { headers: { ETag: '"7"' } });
      case 'GET /versions': return Response.json({ data: [versionOf(2), versionOf(1)], next_cursor: null });
      case 'GET /v1/models': return Response.json({
        data: [
          { name: 'fast', default: true, probabilities: 'logprobs' },
          { name: 'strong', default: false, probabilities: 'stated' },
        ],
      });
      case 'GET /label-queue':
        return Response.json({ data: labelled ? [] : [{ result_id: 'r' }], sample: 'random', next_cursor: null });
      case 'GET /drift': return Response.json(driftOf());
      case 'PUT /drift': {
        const sent = body as { watched: boolean; reference?: { from: string; to: string } | null };
        if (sent.reference?.from.startsWith('2026-10')) return problem('reference.from: must be at most 90 days ago');
        watched = sent.watched;
        reference = watched ? sent.reference ? { kind: 'set', ...sent.reference, results: 700 } : first : null;
        return Response.json(driftOf());
      }
      case 'GET /versions/2/calibration': return Response.json({ version: 2, questions: { topic: pinned, refund: null } });
      case 'PUT /versions/2/calibration':
        pinned = (body as { questions: { topic: string | null } }).questions.topic;
        return Response.json({ version: 2, questions: { topic: pinned, refund: null } });
      case 'GET /versions/2/calibrations': return Response.json({ data: fitted, next_cursor: null });
      case 'POST /versions/2/calibrations': fitted = [calibration]; return Response.json(calibration, { status: 201 });
      case 'GET /versions/2/quality': {
        if (few) return tooFew();
        const key = url.searchParams.get('question');
        const all = [topic, refund].filter((one) => key === null || one.question === key).map((one) =>
          (url.searchParams.get('calibrated') && pinned ? { ...one, calibration: pinned, log_loss: f(0.4) } : one));
        return Response.json({ version: 2, questions: all });
      }
      case 'GET /versions/2/quality/thresholds': return Response.json({
        question: 'refund', type: 'yes_no', labels: 2, counted: 2, examples: 0, calibration: null,
        false_yes: 1, false_no: 1, unsure: 0.3,
        yes_at: 0.7, no_at: 0.3, theory: threshold, empirical: threshold, counts,
      });
      case 'GET /distribution': return Response.json({
        data: url.searchParams.get('version') === '2' ? [{ bins: bins({ 10: 20, 65: 4 }) }, { bins: bins({ 70: 30 }) }] : [],
      });
      case 'GET /compare':
        if (few) return tooFew();
        return Response.json({
          question: 'topic', type: 'choice', labels: 90, counted: 83, left_out: { other_option: 5, other_label: 2, examples: 4 },
          a: { ...topic, version: 1 }, b: { ...topic, version: 2, accuracy: f(0.9) },
          differences: {
            accuracy: f(0.1, 0.02, 0.18), log_loss: f(-0.1, -0.2, 0.1), brier: f(-0.1, -0.2, -0.05), macro_f1: null, rps: null,
            mae: null, kappa: null,
          }, mcnemar: { only_a: 5, only_b: 12, p: 0.1434 }, verdict: 'better',
        });
      case 'PUT /lens': return Response.json({ columns: [] });
    }
    throw new Error(`${request.method} ${path}`);
  });
  await session.load();
  const root = createRootRoute({ component: Outlet });
  const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Outlet });
  const page = createRoute({ getParentRoute: () => frame, path: '/prisms/$prism', component: PrismPage });
  const child = createRoute({ getParentRoute: () => page, path: '/quality', component: Quality, validateSearch: qualitySearch });
  const router = createRouter({
    routeTree: root.addChildren([frame.addChildren([page.addChildren([child])])]),
    history: createMemoryHistory({ initialEntries: [`/prisms/tickets/quality${search}`] }),
  });
  render(<QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
    <RouterProvider router={router as never} />
  </QueryClientProvider>);
  return router;
}

const made = (what: string) => calls.filter((call) => call.what === what);

// spec: console-quality-page
describe('the Quality page', () => {
  it('lists the questions, and opens one with its diagram in words and its measures with intervals', async () => {
    const router = await open();
    const first = await screen.findByRole('row', { name: /^What is it about\? 80% right, 75 to 85 too sure 120/ });
    fireEvent.click(first);
    expect(await screen.findByText('of 120 labels that count')).toBeTruthy();
    expect(screen.getByRole('heading', { name: 'What is it about?' })).toBeTruthy();
    expect(await screen.findByText('Answers near 90% were right 71% of the time, 64 to 78, of 60 labels.')).toBeTruthy();
    expect(router.state.location.search).toMatchObject({ question: 'topic' });
    const row = screen.getByRole('row', { name: /^Log loss/ });
    expect(within(row).getByText('0.450 to 0.550')).toBeTruthy();
    expect(within(row).getByText(/How little probability the right answers had/)).toBeTruthy();
    expect(row.closest('details')?.open).toBe(false);
    expect(screen.getByText(/130 labels were looked at, and 120 of them count/)).toBeTruthy();
  });
  it('says where the probabilities come from, of the default model and of the one that is chosen', async () => {
    await open();
    expect(await screen.findByText(/computed from log-probabilities/)).toBeTruthy();
    fireEvent.change(screen.getByLabelText('Model'), { target: { value: 'strong' } });
    expect((await screen.findByText(/stated by the model/)).textContent).toBe('Probabilities of strong: stated by the model');
  });
  it('says how many labels are needed, and where they are made', async () => {
    few = true;
    await open('?question=topic');
    expect(await screen.findByText('18 more labels until there are measures')).toBeTruthy();
    expect(screen.getByRole('link', { name: 'Label results' }).getAttribute('href')).toBe(
      '/prisms/tickets/label?question=topic&version=2',
    );
    expect(screen.getByText(/prismctl labels import/)).toBeTruthy();
  });
  it('says that new results are needed, where each one has its label', async () => {
    few = labelled = true;
    await open('?question=topic');
    expect((await screen.findByRole('link', { name: 'New run' })).getAttribute('href')).toBe('/runs/new?prism=tickets');
    expect(screen.getByText(/Each result of version 2 has its label, so new results are needed/)).toBeTruthy();
    expect(screen.queryByRole('link', { name: 'Label results' })).toBeNull();
  });
  it('has the confusion as a table, and the most frequent mistake in words', async () => {
    await open('?question=topic&tab=confusion');
    expect(await screen.findByText(/“Delivery” answered as “Billing”, 14 of 50 labels \(28%\)/)).toBeTruthy();
    expect(screen.getByRole('row', { name: 'Billing 70 60 10' })).toBeTruthy();
  });
  it('computes the cost of the sliders without a call, keeps them in the address, and sets a column of the Lens that it names',
    async () => {
      const router = await open('?question=refund&tab=thresholds');
      const slider = await screen.findByRole('slider', { name: 'Yes from' });
      expect((slider as HTMLInputElement).value).toBe('0.7');
      // The two labels until there are answers: no up to 30%, a person, yes from 70%.
      const zones = () => [...document.querySelectorAll('.zones-words div')].map((zone) => zone.textContent);
      await waitFor(() => expect(zones()).toEqual(
        ['No, up to 30%20 0% of 1 labels wrong, 0 to 79', 'To a person4 between the two', 'Yes, from 70%30 no labels'],
      ));
      expect(screen.getByText(/These cost 0.15 an answer: 0 wrong yeses, 0 wrong noes and 1 unsure of 2 labels/)).toBeTruthy();
      const before = made('GET /versions/2/quality/thresholds').length;
      fireEvent.change(slider, { target: { value: '0.6' } });
      expect(screen.getByText(/These cost 0 an answer/)).toBeTruthy();
      expect(zones()).toEqual(
        ['No, up to 30%20 0% of 1 labels wrong, 0 to 79', 'To a person0 between the two',
          'Yes, from 60%34 0% of 1 labels wrong, 0 to 79'],
      );
      fireEvent.keyUp(slider);
      await waitFor(() => expect(router.state.location.search).toMatchObject({ yes_at: 0.6, no_at: 0.3 }));
      expect(made('GET /versions/2/quality/thresholds')).toHaveLength(before);
      fireEvent.click(screen.getByRole('button', { name: 'Set in the Lens' }));
      expect(screen.getByRole('heading', { name: 'Set thresholds of column wants?' })).toBeTruthy();
      fireEvent.click(screen.getByRole('button', { name: 'Set thresholds' }));
      await waitFor(() => expect(made('PUT /lens')).toEqual([{
        what: 'PUT /lens', match: '"7"',
        body: { columns: [
          { name: 'topic', question: 'topic', show: 'answer', calibrated: false },
          { name: 'wants', question: 'refund', show: 'answer', yes_at: 0.6, no_at: 0.3, calibrated: false },
        ] },
      }]));
    });
  it('puts versions side by side, with the verdict in words', async () => {
    await open('?question=topic&tab=versions');
    expect(await screen.findByText(/^The probabilities of version 2 are better than those of version 1/)).toBeTruthy();
    expect(
      screen.getByText(/12 answers only version 2 had right, 5 answers only version 1 \(McNemar’s exact test: p = 0.143\)/),
    ).toBeTruthy();
    expect(screen.getByText(/Left out: 5 whose label one version does not have, 2 labelled differently/)).toBeTruthy();
    expect(screen.getByRole(
      'row', { name: 'Right 80.0%, 75.0 to 85.0% 90.0%, 85.0 to 95.0% +10.0%, 2.0 to 18.0% better' },
    )).toBeTruthy();
    expect(screen.getByRole('row', { name: /^Log loss .* no difference seen$/ })).toBeTruthy();
  });
  it('fits a calibration, pins it, and takes the pin back', async () => {
    await open('?question=topic&tab=calibration');
    fireEvent.click(await screen.findByRole('button', { name: 'Calibrate' }));
    const row = await screen.findByRole('row', { name: /Temperature 1.5/ });
    expect(made('POST /versions/2/calibrations')[0]!.body).toEqual({ question: 'topic', method: 'auto' });
    expect(within(row).getByText('0.050 to 0.150')).toBeTruthy();
    fireEvent.click(within(row).getByRole('button', { name: 'Pin' }));
    fireEvent.click(await screen.findByRole('button', { name: 'Unpin' }));
    expect(await screen.findByRole('button', { name: 'Pin' })).toBeTruthy();
    expect(made('PUT /versions/2/calibration').map((call) => call.body)).toEqual([
      { questions: { topic: 'c1' } }, { questions: { topic: null } },
    ]);
  });
  it('shows a pinned calibration beside the stored probabilities', async () => {
    pinned = 'c1';
    await open('?question=topic&calibrated=true');
    expect(await screen.findByText('Stored', { selector: '.before' })).toBeTruthy();
    expect(screen.getByText('Calibrated', { selector: '.bin-legend span' })).toBeTruthy();
    await waitFor(() => expect(screen.getByRole('row', { name: /^Log loss .* 0.500 0.400 / })).toBeTruthy());
  });
  // spec: console-same-call
  it('has the call of each part in each language', async () => {
    const router = await open('?question=topic&tab=calibration');
    const call = async (text: RegExp | string) => expect(await screen.findByText(text, { selector: 'pre, pre *' })).toBeTruthy();
    await call(/-d '\{"question":"topic","method":"auto"\}'/);
    fireEvent.change(screen.getByLabelText('Method'), { target: { value: 'temperature' } });
    await call(/-d '\{"question":"topic","method":"temperature"\}'/);
    fireEvent.click(screen.getByRole('link', { name: 'prismctl' }));
    await call('prismctl calibrate fit tickets --version 2 --question topic --method temperature');
    expect(router.state.location.search).toMatchObject({ as: 'prismctl' });
    fireEvent.click(screen.getByRole('link', { name: 'Drift' }));
    await call('prismctl quality drift tickets --version 2');
  });
  // spec: console-drift-part, drift-set
  it('watches a prism, sets the reference of its version to a period and back, and stops', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-22T12:34:00Z') });
    await open('?question=topic&tab=drift');
    fireEvent.click(await screen.findByRole('button', { name: 'Watch for drift' }));
    fireEvent.click(await screen.findByRole('button', { name: 'Change reference' }));
    fireEvent.change(screen.getByLabelText('Compare with'), { target: { value: 'set' } });
    const [from, to] = [
      screen.getByLabelText<HTMLInputElement>('From (UTC)'), screen.getByLabelText<HTMLInputElement>('To (UTC)'),
    ];
    expect([from.value, to.value]).toEqual(['2026-11-15T00:00', '2026-11-22T00:00']);
    fireEvent.change(to, { target: { value: '2026-11-22T13:00' } });
    fireEvent.click(screen.getByRole('button', { name: 'Set reference' }));
    expect(await screen.findByText('Not in the future.')).toBeTruthy();
    expect(to.getAttribute('aria-invalid')).toBe('true');
    fireEvent.change(to, { target: { value: '2026-11-22T12:00' } });
    fireEvent.change(from, { target: { value: '2026-10-01T00:00' } });
    fireEvent.click(screen.getByRole('button', { name: 'Set reference' }));
    expect(await screen.findByText('must be at most 90 days ago')).toBeTruthy();
    fireEvent.change(from, { target: { value: '2026-11-20T09:00' } });
    expect(screen.getByText(/--from 2026-11-20T09:00:00Z --to 2026-11-22T12:00:00Z/)).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Set reference' }));
    expect(await screen.findByText(/against the period from 2026-11-20 09:00 to 2026-11-22 12:00 UTC: 700 results/)).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Change reference' }));
    expect(screen.getByLabelText<HTMLInputElement>('From (UTC)').value).toBe('2026-11-20T09:00');
    fireEvent.change(screen.getByLabelText('Compare with'), { target: { value: 'first' } });
    fireEvent.click(screen.getByRole('button', { name: 'Set reference' }));
    expect(await screen.findByText(/against the first results: 2,000 results/)).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Stop watching' }));
    fireEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Stop watching' }));
    expect(await screen.findByText('Nobody watches this prism')).toBeTruthy();
    const period = (begin: string, end: string) => ({
      watched: true, version: 2, reference: { from: `${begin}:00.000Z`, to: `${end}:00.000Z` },
    });
    expect(made('PUT /drift').map((call) => call.body)).toEqual([
      { watched: true }, period('2026-10-01T00:00', '2026-11-22T12:00'), period('2026-11-20T09:00', '2026-11-22T12:00'),
      { watched: true, version: 2, reference: null }, { watched: false },
    ]);
  });
  // spec: console-roles, drift-roles
  it('has nothing to change for readers', async () => {
    watched = true;
    reference = first;
    await open('?question=topic&tab=drift', 'reader');
    expect(await screen.findByText(/against the first results/)).toBeTruthy();
    expect(screen.queryByText(/no metrics/)).toBeNull();
    for (const name of ['Change reference', 'Stop watching']) expect(screen.queryByRole('button', { name })).toBeNull();
  });
  // spec: drift-slots
  it('says that a question has no alert', async () => {
    watched = true;
    reference = first;
    await open(`?question=${questions[1]?.key}&tab=drift`);
    expect(await screen.findByText(/This question has no metrics, and so no alert/)).toBeTruthy();
  });
  it('has nothing to fit for readers, who get the call that lists', async () => {
    few = true;
    fitted = [calibration];
    await open('?question=topic&tab=calibration', 'reader');
    expect(await screen.findByText(/Your role may not make or pin calibrations/)).toBeTruthy();
    await screen.findByRole('row', { name: /Temperature 1.5/ });
    for (const name of ['Calibrate', 'Pin']) expect(screen.queryByRole('button', { name })).toBeNull();
    expect(screen.getByText(/\/calibrations\?question=topic/)).toBeTruthy();
  });
});
