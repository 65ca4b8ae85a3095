import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tagsOf, tagSizes } from '@/test/options';
import { type Call, open, refusal, serve } from '@/test/server';
import { PrismPage } from '../prisms/PrismPage';
import { Quality } from './Quality';
import { qualitySearch } from './search';

beforeEach(() => { vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} }); });
afterEach(() => { vi.unstubAllGlobals(); });

const at = '2026-11-22T12:00:00.000Z';
const f = (value: number) => ({ value, low: value - 0.05, high: value + 0.05 });
const none = {
  accuracy: null, log_loss: null, brier: null, macro_f1: null, classes: null, confusion: null, rps: null, mae: null, kappa: null,
  ece: null, ece_plain: null, bins: null, coverage: null, calibration: null, labels: 130, counted: 120, type: 'tags',
  question: 'about',
};
const retrieval = (p: number) => ({ precision: f(p), recall: f(p - 0.1), f1: f(p - 0.05) });
const several = (exact: number, hamming_loss: ReturnType<typeof f>, p: number) =>
  ({ exact_match: f(exact), hamming_loss, micro: retrieval(p), macro: retrieval(p) });
const ofOption = (option: string, i: number) => ({
  ...none, option, accuracy: f(0.9), log_loss: f(0.3), brier: f(0.1),
  classes: [{ value: false, n: 100, precision: f(0.9), recall: f(0.9), f1: f(0.9) },
    ...(option === 'o2' ? [] : [{ value: true, n: 20, precision: f(0.8), recall: f(0.7), f1: f(0.9 - i / 200) }])],
  confusion: { values: [false, true], counts: [[95, 5], [6, 14]] },
  bins: [{ n: 60, mean: 0.1, rate: 0.1, low: 0.05, high: 0.2 }, { n: 60, mean: 0.9, rate: 0.71, low: 0.64, high: 0.78 }],
});
const window_ = { from: at, to: at, results: 3, alarm: false, probability: null, classes: null };
const alarmed = {
  ...window_, results: 300, alarm: true, probability: { psi: 0.1, limit: 0.2, alarm: false },
  classes: { psi: 0.5, limit: 0.2, alarm: true },
};
const counts = Array.from({ length: 101 }, (_, i) => (
  { at: i / 100, from_yes: i <= 65 ? 1 : 0, from_no: i <= 20 ? 1 : 0, to_yes: i >= 65 ? 1 : 0, to_no: i >= 20 ? 1 : 0 }));
const threshold = { yes_at: 0.5, no_at: 0.5, yes: 1, no: 1, unsure: 0, false_yes: 0, false_no: 0, total: 0, mean: 0 };

async function show(n: number, search = ''): Promise<Call[]> {
  const question = tagsOf(n);
  const version = (number: number) => ({
    version: number, created_at: at, instructions: null, model: null, fields: [{ key: 'message', label: 'Message' }],
    questions: [question, { key: 'refund', type: 'yes_no', text: 'A refund?' }],
  });
  const prism = {
    id: 'p', slug: 'bank', name: null, created_at: at, archived_at: null, retention_days: null, latest_version: 2,
    version: version(2), lens: { columns: [{ name: 'about', question: 'about', show: 'answer', yes_at: 0.6 }] },
  };
  const options = question.options.map(({ key }) => key);
  const calls = await serve('editor', ({ method, path, query }) => {
    const answers: Record<string, unknown> = {
      '': prism, '/versions': { data: [version(2), version(1)], next_cursor: null },
      '/label-queue': { data: [], next_cursor: null },
      '/versions/2/calibration': { version: 2, questions: { 'about.o1': 'c1' } },
      '/versions/2/calibrations': { data: [], next_cursor: null },
      '/versions/2/quality': { version: 2, questions: query.has('option') ? [ofOption(query.get('option')!, 0)] : [
        { ...none, tags: { exact_match: f(0.62), hamming_loss: f(0.04), micro: retrieval(0.81), macro: retrieval(0.7) } },
        ...options.map(ofOption),
      ] },
      '/versions/2/quality/thresholds': {
        question: 'about', option: 'o1', type: 'tags', labels: 2, counted: 2, calibration: null, false_yes: 1, false_no: 1,
        unsure: 0.3, yes_at: 0.7, no_at: 0.3, theory: threshold, empirical: threshold, counts,
      },
      '/distribution': { data: [] },
      '/compare': query.has('option') ? undefined : {
        question: 'about', type: 'tags', labels: 90, counted: 90, left_out: { other_option: 0, other_label: 0, examples: 0 },
        a: { ...none, version: 1, tags: several(0.5, f(0.1), 0.7) }, b: { ...none, version: 2, tags: several(0.7, f(0.06), 0.8) },
        differences: {
          accuracy: null, log_loss: null, brier: null, macro_f1: null, rps: null, mae: null, kappa: null,
          tags: several(0.2, { value: -0.04, low: -0.06, high: -0.02 }, 0.1),
        },
        mcnemar: { only_a: 2, only_b: 20, p: 0.0001 }, verdict: 'better',
      },
      '/drift': { version: 2, watched: true, counted_to: at, reference: { kind: 'first', from: at, to: at, results: 2000 },
        questions: options.slice(0, 20).map((option, index) => ({
          question: 'about', option, index, type: 'tags', metrics: true, hour: window_, day: option === 'o2' ? alarmed : window_,
          hours: [], days: [],
        })) },
    };
    if (path === '/v1/models') return Response.json({ data: [] });
    if (method === 'POST') return refusal(409, 'conflict', 'Too few labels: 120 of 200.');
    const found = answers[path.replace('/v1/prisms/bank', '')];
    return found === undefined ? refusal(409, 'conflict', 'Too few labels: 1 of 30.') : Response.json(found);
  });
  const root = createRootRoute({ component: Outlet });
  const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Outlet });
  const page = createRoute({ getParentRoute: () => frame, path: '/prisms/$prism', component: PrismPage });
  const child = createRoute({ getParentRoute: () => page, path: '/quality', component: Quality, validateSearch: qualitySearch });
  open(root.addChildren([frame.addChildren([page.addChildren([child])])]), `/prisms/bank/quality${search}`);
  return calls;
}
const asked = (calls: Call[], end: string) => calls.filter(({ path }) => path.endsWith(end)).map(({ query }) =>
  [query.get('question'), query.get('option')]);

// spec: console-tags
describe('the quality of a question of tags', () => {
  it('stands among the questions with how often all of its options are right', async () => {
    await show(3);
    const row = (await screen.findByText('What is it about?', { selector: '.quality-question' })).closest('tr')!;
    expect(row.textContent).toContain('62% with all options right, 57 to 67');
    expect(screen.getAllByRole('row')).toHaveLength(2); // its options are none of them
  });
  it.each(tagSizes)('says of %i options what they are together and each by itself, those told worst first', async (n) => {
    await show(n, '?question=about');
    const all = within(await screen.findByRole('region', { name: 'Precision and recall of all options together' }));
    expect(all.getByRole('row', { name: /^Recall/ }).textContent).toContain('71.0%,  66.0 to 76.0');
    expect(screen.getByText('Exact match').closest('li')!.textContent).toContain('62.0%');
    expect(screen.getByText('Hamming loss').closest('li')!.textContent).toContain('4.0%');
    const each = within(screen.getByRole('region', { name: 'Precision and recall of each option' }));
    expect(each.getAllByRole('row')).toHaveLength(Math.min(n, 20) + 1);
    expect(each.getAllByRole('link')[0]!.textContent).toBe(n > 20 ? `Option ${n}` : 'Option 1');
    if (n > 20) fireEvent.click(screen.getByRole('button', { name: `${n - 20} more options, told better` }));
    expect(each.getByRole('row', { name: /^Option 2 / }).textContent).toContain('fewer than 5');
  });
  it('opens an option as a question of yes or no, with its own calls', async () => {
    const calls = await show(3, '?question=about');
    fireEvent.click(await screen.findByRole('link', { name: 'Option 3' }));
    expect(await screen.findByRole('heading', { name: 'What is it about? Option 3' })).toBeTruthy();
    await waitFor(() => expect(asked(calls, '/quality').at(-1)).toEqual(['about', 'o3']));
    expect(await screen.findByText('90% right', { selector: 'strong' })).toBeTruthy();
    const tabs = within(screen.getByRole('navigation', { name: 'Parts of the quality' })).getAllByRole('link');
    expect(tabs.map(({ textContent }) => textContent)).toEqual(
      ['Reliability', 'Confusion', 'Coverage', 'Thresholds', 'Versions', 'Calibration', 'Drift'],
    );
    await userEvent.type(screen.getByRole('combobox', { name: 'Option' }), 'all options{Enter}');
    expect(await screen.findByText('Hamming loss')).toBeTruthy();
  });
  it('has thresholds of an option by cost, which no column of the Lens has for one alone', async () => {
    const calls = await show(3, '?question=about&option=o1&tab=thresholds');
    expect(await screen.findByText(/^A column of the Lens has one threshold for all options/)).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Set in the Lens' })).toBeNull();
    expect(asked(calls, '/thresholds')[0]).toEqual(['about', 'o1']);
    expect(screen.getByRole<HTMLInputElement>('slider', { name: 'Yes from' }).value).toBe('0.6');
  });
  it('fits and pins calibrations of an option', async () => {
    const calls = await show(3, '?question=about&option=o1&tab=calibration');
    fireEvent.click(await screen.findByRole('button', { name: 'Calibrate' }));
    await waitFor(() => expect(calls.find(({ method }) => method === 'POST')?.body).toEqual(
      { question: 'about', option: 'o1', method: 'auto' }));
    expect(screen.getByRole('option', { name: 'Platt' })).toBeTruthy();
    expect(asked(calls, '/calibrations')[0]).toEqual(['about', 'o1']);
  });
  it('compares all options of two versions together', async () => {
    const calls = await show(3, '?question=about&tab=versions');
    expect(await screen.findByText(
      'Version 2 is better than version 1: all options are more often right, and fewer of its options are wrong.')).toBeTruthy();
    expect(asked(calls, '/compare')[0]).toEqual(['about', null]);
    const both = within(screen.getByRole('region', { name: 'Measures of both versions' }));
    expect(both.getByRole('row', { name: /^Exact match/ }).textContent).toContain('+20.0%');
    expect(both.getByRole('row', { name: /^Hamming loss/ }).textContent).toMatch(/−4.0%.*better$/);
    expect(both.getAllByRole('row')).toHaveLength(7);
    expect(screen.getByText(/20 answers only version 2 had wholly right, 2 answers only version 1/)).toBeTruthy();
  });
  it('compares an option of two versions', async () => {
    const calls = await show(3, '?question=about&option=o2&tab=versions');
    expect(await screen.findByText(/^Compared are inputs that both versions answered/)).toBeTruthy();
    expect(asked(calls, '/compare')[0]).toEqual(['about', 'o2']);
  });
  it('lists the drift of its options, those that drift first', async () => {
    await show(26, '?question=about&tab=drift');
    const table = within(await screen.findByRole('region', { name: 'Drift of each option' }));
    expect(table.getAllByRole('row')).toHaveLength(21);
    expect(table.getAllByRole('row')[1]!.textContent).toContain('Option 2');
    expect(table.getAllByRole('row')[1]!.textContent).toContain('drift of answers (0.5 above 0.2) in 300 results');
  });
  it('says that an option is not watched', async () => {
    await show(26, '?question=about&option=o25&tab=drift');
    expect(await screen.findByText(/^Of a question of tags the 20 options that are answered most are watched/)).toBeTruthy();
  });
});
