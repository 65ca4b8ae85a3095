import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listenForKeys } from '@/shell/actions';
import { answerOf, choiceOf, sizes, tagged, tagsOf, tagSizes } from '@/test/options';
import { type Call, open, serve } from '@/test/server';
import { PrismPage } from '../prisms/PrismPage';
import { Label } from './Label';
import { labelSearch } from './search';

const at = '2026-11-22T12:00:00.000Z';
let stop = () => {};
beforeEach(() => {
  sessionStorage.clear();
  vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} });
  stop = listenForKeys();
});
afterEach(() => { stop(); vi.unstubAllGlobals(); });

/** The page with three texts, a choice of `n` options and a yes_no question behind it. */
async function show(n: number, question: ReturnType<typeof choiceOf> | ReturnType<typeof tagsOf> = choiceOf(n)) {
  const version = {
    version: 1, created_at: at, instructions: null, model: null, fields: [{ key: 'message', label: 'Message' }],
    questions: [question, { key: 'refund', type: 'yes_no', text: 'A refund?' }],
  };
  const prism = {
    id: 'p', slug: 'bank', name: null, created_at: at, archived_at: null, retention_days: null, latest_version: 1, version,
    lens: { columns: [] },
  };
  const calls = await serve('labeller', ({ path }) => {
    if (path === '/v1/prisms/bank') return Response.json(prism);
    if (path.endsWith('/label-queue')) return Response.json({ sample: 'random', next_cursor: null, data: [1, 2, 3].map((i) => ({
      result_id: `r${i}`, ref: null, created_at: at, version: 1, context: null, fields: { message: `Text ${i}.` },
      answers: {
        [question.key]: question.type === 'choice' ? answerOf(question, n - 1) : tagged(question, { o2: 0.75 }),
        refund: { type: 'yes_no', probability: 0.9 },
      },
    })) });
    if (path.endsWith('/labels')) return Response.json({ result_id: 'r', ref: null, version: 1, labels: {} });
    if (path.endsWith('/quality')) {
      return Response.json({ error: { code: 'conflict', message: 'Too few labels: 1 of 30.' } }, { status: 409 });
    }
    return undefined;
  });
  const root = createRootRoute({ component: Outlet });
  const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Outlet });
  const page = createRoute({ getParentRoute: () => frame, path: '/prisms/$prism', component: PrismPage });
  const child = createRoute({ getParentRoute: () => page, path: '/label', component: Label, validateSearch: labelSearch });
  open(root.addChildren([frame.addChildren([page.addChildren([child])])]), '/prisms/bank/label');
  await screen.findByText('Text 1.');
  return calls;
}

const press = (key: string) => fireEvent.keyDown(document.body, { key });
const stored = (calls: Call[]) => Object.assign({}, ...calls.filter(({ method }) => method === 'PUT').map(({ path, body }) => {
  const { labels } = body as { labels: Record<string, unknown> };
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [`${path.split('/')[3]} ${key}`, value]));
})) as Record<string, unknown>;
const finder = () => screen.getByRole('combobox', { name: 'Options: What is wanted?' });

// spec: console-label-keys
describe('labelling', () => {
  it.each(sizes)('with %i options by the keyboard alone goes through questions and texts', async (n) => {
    const calls = await show(n);
    if (n <= 26) {
      expect(screen.queryByRole('combobox', { name: /^Options/ })).toBeNull();
      press('2');
      press('y');
    } else {
      press('/');
      expect(document.activeElement).toBe(finder());
      await userEvent.keyboard('option 25{ArrowDown}{Enter}');
      // The next question has keys of its own, which the input does not take.
      await waitFor(() => expect(document.activeElement).not.toBe(finder()));
      press('y');
    }
    expect(await screen.findByText('Text 2.')).toBeTruthy();
    await waitFor(() => expect(stored(calls)).toEqual({ 'r1 intent': n > 26 ? 'o250' : 'o2', 'r1 refund': true }));
    if (n <= 26) return;
    // The next text is asked about where the first one was, and the text is read with its input.
    await waitFor(() => expect(document.activeElement).toBe(finder()));
    expect(document.getElementById(finder().getAttribute('aria-describedby')!)!.textContent).toContain('Text 2.');
    await userEvent.keyboard('{ArrowRight}');
    expect(await screen.findByText('Text 3.')).toBeTruthy();
    await userEvent.keyboard('{ArrowLeft}');
    expect(await screen.findByText('Text 2.')).toBeTruthy();
    await userEvent.keyboard('{Escape}');
    press('s'); // the keys of the page are back
    expect(await screen.findByText('Text 3.')).toBeTruthy();
    expect(document.activeElement).not.toBe(finder());
  });
  it('with 255 options by pointer leaves the focus alone, and shows the model’s answer when it is asked for', async () => {
    const calls = await show(255);
    const list = within(screen.getByRole('listbox', { name: 'Options: What is wanted?' }));
    fireEvent.click(list.getByText('Option 254'));
    await waitFor(() => expect(stored(calls)).toEqual({ 'r1 intent': 'o254' }));
    expect(list.getByRole('option', { selected: true }).textContent).toBe('Option 254 Group 26');
    expect(list.getByText('Option 255').closest('li')!.textContent).toBe('Option 255 Group 26model 50%');
    expect(document.activeElement).not.toBe(finder());
  });
});

// spec: console-tags, console-label-keys
describe('labelling with any number of options', () => {
  const pressed = () => screen.getAllByRole('button', { pressed: true }).map(({ textContent }) => textContent);
  it('by keys chooses them, Enter stores them, and what is chosen is not stored before', async () => {
    const calls = await show(26, tagsOf(26));
    press('3');
    press('1');
    press('2');
    press('3'); // taken away again
    expect(screen.getByText('Option 3 taken away, 2 options so far.')).toBeTruthy();
    expect(stored(calls)).toEqual({});
    press('Enter');
    await waitFor(() => expect(stored(calls)).toEqual({ 'r1 about': ['o1', 'o2'] }));
    expect(screen.getByText('What is it about? Option 1, Option 2; the model said Option 2 (75%).')).toBeTruthy();
    press('y');
    expect(await screen.findByText('Text 2.')).toBeTruthy();
  });
  it('says that none is right by a key or a button, and never by Enter', async () => {
    const calls = await show(2, tagsOf(2));
    press('Enter');
    expect(screen.getByRole<HTMLButtonElement>('button', { name: /^Save what is chosen/ }).disabled).toBe(true);
    press('0');
    await waitFor(() => expect(stored(calls)).toEqual({ 'r1 about': [] }));
    expect(screen.getByText(/^What is it about\? None; the model said Option 2/)).toBeTruthy();
    press('n');
    await screen.findByText('Text 2.');
    fireEvent.click(screen.getByRole('button', { name: /^None of these/ }));
    await waitFor(() => expect(stored(calls)).toMatchObject({ 'r2 about': [] }));
  });
  it('is taken back by one key, with what was stored before', async () => {
    const calls = await show(2, tagsOf(2));
    press('1');
    press('Enter');
    press('k');
    press('2');
    press('Enter');
    await waitFor(() => expect(stored(calls)).toEqual({ 'r1 about': ['o1', 'o2'] }));
    press('u');
    await waitFor(() => expect(stored(calls)).toEqual({ 'r1 about': ['o1'] }));
    expect(pressed()[0]).toContain('Option 1');
    press('u');
    await waitFor(() => expect(stored(calls)).toEqual({ 'r1 about': null }));
  });
  it('Enter on an option that was pressed stores what is chosen, and does not press it again', async () => {
    const calls = await show(2, tagsOf(2));
    await userEvent.click(screen.getByRole('button', { name: /Option 2/ }));
    await userEvent.keyboard('{Enter}');
    await waitFor(() => expect(stored(calls)).toEqual({ 'r1 about': ['o2'] }));
  });
  it.each(tagSizes.filter((n) => n > 26))('among %i options finds each by its words', async (n) => {
    const calls = await show(n, tagsOf(n));
    press('/');
    const input = screen.getByRole('combobox', { name: 'Options: What is it about?' });
    await userEvent.keyboard('option 25{Enter}');
    expect(document.activeElement).toBe(input);
    await userEvent.keyboard('option 98{Enter}');
    const list = within(screen.getByRole('listbox', { name: 'Options: What is it about?' }));
    expect(list.getAllByRole('option', { selected: true }).map(({ textContent }) => textContent)).toEqual(
      ['Option 25 Group 3', 'Option 98 Group 10'],
    );
    await userEvent.keyboard('{Enter}');
    await waitFor(() => expect(stored(calls)).toEqual({ 'r1 about': ['o25', 'o98'] }));
  });
});
