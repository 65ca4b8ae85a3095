import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { dayAfter, today } from '@/data/usage';
import { open, serve } from '@/test/server';
import { PrismPage } from '../prisms/PrismPage';
import { toTry } from '../prisms/routes';
import { Cards } from './Cards';
import { Overview } from './Overview';

beforeEach(() => vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} }));
afterEach(() => { vi.unstubAllGlobals(); });

const option = (key: string, label: string) => ({ key, label, description: null });
const versionOf = (version: number) => ({
  version, created_at: `${dayAfter(today(), -5 * (3 - version))}T08:00:00.000Z`, instructions: null, model: null, escalate: null,
  fields: [{ key: 'text', label: 'Text' }],
  questions: [
    { key: 'refund', type: 'yes_no', text: 'A refund?' },
    {
      key: 'topic', type: 'choice', text: version === 1 ? 'What?' : 'What is it about?', insufficient_information: true,
      options: [option('billing', 'Billing'), option('delivery', 'Delivery')],
    },
  ],
});
const prism = {
  id: 'p', slug: 'tickets', name: 'Support tickets', created_at: '2026-01-01T00:00:00.000Z', archived_at: null,
  retention_days: null, latest_version: 2, version: versionOf(2), lens: { columns: [] },
};

const day = (ago: number, billing: number, delivery: number, lacking: number) => ({
  at: `${dayAfter(today(), -ago)}T00:00:00.000Z`, answers: billing + delivery + lacking, probability: 0.9, labelled: 0, right: 0,
  bins: null, values: [
    { value: 'billing', count: billing }, { value: 'delivery', count: delivery },
    { value: 'insufficient_information', count: lacking },
  ],
});
const month = [
  ...Array.from({ length: 10 }, (_, i) => day(45 - i, 40, 0, 0)),
  ...Array.from({ length: 23 }, (_, i) => day(29 - i, 4, 6, 0)),
  ...Array.from({ length: 7 }, (_, i) => day(6 - i, 20, 5, 5)),
];
const run = (id: string, name: string, more: object) => ({
  id, name, prism: 'tickets', version: 2, file_id: 'f', status: 'finished', reason: null, rows: 100, ok: 100, failed: 0,
  invalid: 0, cancelled: 0, pending: 0, labels: null, rows_per_second_now: 0, eta_seconds: null,
  usage: { input_tokens: 0, output_tokens: 0, cost: null, currency: null }, created_at: '2026-11-27T08:00:00.000Z',
  started_at: null, finished_at: null, ...more,
});

const index = { psi: 0, limit: 0.1, alarm: false };
const window = { from: '', to: '', results: 120, alarm: false, probability: index, classes: index };

interface State { data?: object[]; few?: boolean; role?: string }

const start = ({ data = month, few = false, role = 'owner' }: State = {}) => serve(role, ({ path, query }) => {
  if (path.startsWith('/v1/prisms/quiet/')) return Response.json({ data: [], questions: [] });
  switch (path.replace('/v1/prisms/tickets', '')) {
    case '/v1/prisms':
      return Response.json({ data: [{ ...prism, id: 'q', slug: 'quiet', name: 'Quiet' }, prism], next_cursor: null });
    case '': return Response.json(prism, { headers: { ETag: '"1"' } });
    case '/distribution': return Response.json({
      question: query.get('question'), type: 'choice', by: 'day', zone: 'UTC', from: query.get('from'), to: query.get('to'),
      exact: true, counted_from: null, counted_to: null, data: query.get('question') === 'topic' ? data : [],
    });
    case '/versions': return Response.json({ data: [versionOf(2), versionOf(1)], next_cursor: null });
    case '/versions/2/quality': return few ? undefined : Response.json({ version: 2, questions: [
      { question: 'topic', type: 'choice', labels: 402, counted: 400, accuracy: { value: 0.84, low: 0.81, high: 0.87 } },
    ] });
    case '/drift': return Response.json({ version: 2, watched: true, counted_to: null, reference: null, questions: [
      { question: 'topic', index: 0, type: 'choice', metrics: true, hour: window, day: window, hours: [], days: [] },
    ] });
    case '/v1/usage': return Response.json({ from: '', to: '', data: [{
      ...(query.get('by') === 'prism' ? { prism: 'tickets' } : { day: today() }),
      results: 440, failed: 0, input_tokens: 1, output_tokens: 1, cost: 0.88, currency: 'USD',
    }] });
    case '/v1/runs': return Response.json({ data: [
      run('1', 'november.xlsx', { status: 'running', ok: 68, pending: 32, rows_per_second_now: 1, eta_seconds: 240 }),
      run('2', 'october.csv', { ok: 88, failed: 12 }),
    ], next_cursor: null });
    case '/v1/results/counts':
      if (query.get('by') === '@labelled') return Response.json({ total: few ? 18 : 402, exact: true, by: {} });
      return Response.json({ total: 68, exact: true, by: { topic: [
      { value: 'billing', label: 'Billing', count: 50 }, { value: 'delivery', label: 'Delivery', count: 18 },
    ] } });
    case '/v1/models': return Response.json({ data: [] });
    default: return undefined;
  }
});

const root = createRootRoute({ component: Outlet });
const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Outlet });
const page = createRoute({ getParentRoute: () => frame, path: '/prisms/$prism', component: PrismPage });
const tree = root.addChildren([frame.addChildren([page.addChildren([
  createRoute({ getParentRoute: () => page, path: '/', component: Overview, beforeLoad: toTry }),
  createRoute({ getParentRoute: () => page, path: '/try', component: () => <p>Try it</p> }),
])])]);

const show = async (state?: State, address = '/prisms/tickets') => {
  await start(state);
  return open(tree, address);
};
const stat = async (name: string) => (await screen.findByText(name)).parentElement!.textContent;

// spec: console-overview-page
describe('the overview of a prism', () => {
  it.each([
    [2, '2 times the 30 days before'], [20, '20 in the 30 days before'],
  ])('compares with what is less by %i times', async (times, words) => {
    await show({ data: [day(45, 20, 0, 0), day(1, 20 * times, 0, 0)] });
    expect(await stat('Answered, 30 days')).toBe(`Answered, 30 days${20 * times}${words}`);
  });
  // spec: console-roles
  it.each([
    ['owner', ['Overview', 'Try', 'Edit', 'Lens', 'Results', 'Runs', 'Quality', 'Label', 'Settings']],
    ['caller', ['Overview', 'Try', 'Results', 'Runs', 'Quality']],
    ['labeller', ['Overview', 'Results', 'Runs', 'Quality', 'Label']],
    ['reader', ['Overview', 'Results', 'Runs', 'Quality']],
  ])('offers an %s the tabs that the role may use', async (role, tabs) => {
    await show({ role });
    const bar = await screen.findByRole('navigation', { name: 'Prism' });
    expect(within(bar).getAllByRole('link').map(({ textContent }) => textContent)).toEqual(tabs);
  });
  it('has its figures with what they are compared with', async () => {
    await show();
    expect(await stat('Answered, 30 days')).toBe('Answered, 30 days440+10% on the 30 days before');
    await waitFor(async () => expect(await stat('Right')).toBe('Right84%81 to 87, of 400 labels'));
    expect(await stat('Unsure')).toBe('Unsure8%17 points more in the last 7 days');
    await waitFor(async () => expect(await stat('Spent')).toBe('Spent$0.88$0.002 an answer'));
    await waitFor(async () => expect(await stat('Drift')).toBe('DriftNono drift in 120 results'));
  });
  it('says how many labels are missing to know how many are right', async () => {
    await show({ few: true });
    await waitFor(async () => expect(await stat('Right')).toBe('Right–12 more labels to know it'));
    const link = screen.getByRole('link', { name: '12 more labels' });
    expect(link.getAttribute('href')).toBe('/prisms/tickets/label?question=topic');
  });
  it('draws the answers by day, with their numbers in a table and new versions as marks', async () => {
    await show();
    const picture =
      await screen.findByRole('figure', { name: 'What is it about? Answers by day, 440 answers in 30 days' });
    await waitFor(() => expect(picture.textContent).toContain('version 2'));
    fireEvent.click(within(picture).getByRole('button', { name: /^Table/ }));
    expect(within(picture).getByRole('row', { name: `${today()} 20 5 5` })).toBeTruthy();
  });
  it('says what is told more often lately, and leads to those texts', async () => {
    await show();
    expect((await screen.findByText(/More Billing than usual/)).textContent).toBe(
      'More Billing than usual: 67% in the last 7 days, 40% before. See the texts',
    );
    const search = new URL(screen.getByRole<HTMLAnchorElement>('link', { name: 'See the texts' }).href).searchParams;
    expect([search.get('where'), search.get('from')]).toEqual([
      '["topic:is:billing"]', `${dayAfter(today(), -6)}T00:00:00.000Z`,
    ]);
  });
  it('has the last runs with their answers, one with failures in words', async () => {
    await show();
    expect((await screen.findByText('november.xlsx')).closest('li')!.textContent).toBe('november.xlsx68%, 4 min left');
    const answers = await screen.findByRole('img', { name: 'Answers of november.xlsx' });
    const widths = () => [...answers.children].map((part) => Number((part as HTMLElement).style.flexGrow).toFixed(2));
    await waitFor(() => expect(widths()).toEqual(['0.50', '0.18', '0.32']));
    expect(screen.getByText('finished, 12 failed').closest('.badge')!.className).toContain('warn');
  });
  it('says what the versions changed', async () => {
    await show();
    const link = await screen.findByRole('link', { name: 'Version 2' });
    expect(link.closest('li')!.textContent).toContain('Question topic: text changed');
  });
  it('of another question is in the address', async () => {
    const router = await show();
    fireEvent.change(await screen.findByLabelText('Question'), { target: { value: 'refund' } });
    await waitFor(() => expect(router.state.location.search).toEqual({ question: 'refund' }));
    expect(await stat('Answered, 30 days')).toBe('Answered, 30 days0none in the 30 days before');
  });
  it('of a question that is never unsure says how sure its answers are', async () => {
    const choice = { ...versionOf(2).questions[1]!, insufficient_information: false };
    prism.version = { ...versionOf(2), questions: [choice] } as never;
    await show();
    expect(await stat('Sure')).toBe('Sure90%of the answer, on average');
    prism.version = versionOf(2);
  });
  it('without answers says what comes next, as far as the role may', async () => {
    await show({ data: [] });
    expect(await screen.findByText('What texts are about will be here')).toBeTruthy();
    expect(screen.getAllByRole('link', { name: 'Upload a file' })[0]!.getAttribute('href')).toBe('/runs/new?prism=tickets');
  });
  it('without answers offers a reader nothing', async () => {
    await show({ data: [], role: 'reader' });
    expect(await screen.findByText('What texts are about will be here')).toBeTruthy();
    expect(screen.queryByRole('link', { name: 'Try a text' })).toBeNull();
  });
  it('leaves an old address of Try to Try', async () => {
    const router = await show({}, '/prisms/tickets?version=1&result=x');
    expect(await screen.findByText('Try it')).toBeTruthy();
    expect(router.state.location.search).toEqual({ version: 1, result: 'x' });
  });
});

// spec: console-home
it('home has the same in small, of the prisms that answered most first', async () => {
  await start({ data: month.map((row) => ({ ...row, labelled: 1 })) });
  open(root.addChildren([createRoute({ getParentRoute: () => root, path: '/', component: Cards })]), '/');
  const cards = await screen.findAllByRole('listitem');
  await waitFor(() => expect(cards.map((card) => card.textContent)).toEqual([
    'Support tickets440 answers · 8% unsure · 84% right', 'QuietNo answer in 30 days',
  ]));
  expect(within(cards[0]!).getByRole('img', { name: 'What is it about? Answers by day, 440 answers in 30 days' })).toBeTruthy();
  expect(within(cards[0]!).getByRole('link').getAttribute('href')).toBe('/prisms/tickets');
});
