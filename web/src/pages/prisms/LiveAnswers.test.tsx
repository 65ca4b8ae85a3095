import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, fireEvent, render, screen, within } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { definitionOf, draftOf } from '@/definitions/model';
import { localProblems } from '@/definitions/problems';
import { type Call, serve } from '@/test/server';
import { EditingProvider } from './Control';
import { Editor } from './Editor';
import { LiveAnswers } from './LiveAnswers';

let calls: Call[];
/** Answers the tries that wait, by the text of their first question. */
const waiting = new Map<string, (response: Response) => void>();

const definition = {
  fields: [{ key: 'text', label: 'Text' }],
  questions: [
    { key: 'topic', type: 'choice' as const, text: 'Topic?', options: [
      { key: 'billing', label: 'Billing' }, { key: 'other', label: 'Other' },
    ] },
    { key: 'upset', type: 'yes_no' as const, text: 'Upset?' },
  ],
};

function Page({ text = 'The invoice is wrong.', active = true }: { text?: string; active?: boolean }) {
  const [draft, setDraft] = useState(() => draftOf(definition));
  const problems = localProblems(draft, false);
  const [client] = useState(() => new QueryClient());
  return (
    <QueryClientProvider client={client}>
      <EditingProvider value={{ problems, all: false, disabled: false }}>
        <LiveAnswers typed={{ fields: { text }, context: '', ref: '' }} definition={definitionOf(draft)} columns={[]}
          active={active} sound={problems.size === 0}>
          <Editor draft={draft} onChange={setDraft} />
        </LiveAnswers>
      </EditingProvider>
    </QueryClientProvider>
  );
}

const answered = (billing: number) => Response.json({
  status: 'ok', error: null, error_code: null, took_ms: 5, json: {}, model: null, usage: null, label_mass: null, absent: null,
  raw: {
    topic: { type: 'choice', value: billing > 0.5 ? 'billing' : 'other', confidence: 0.5, probabilities: {
      billing, other: 1 - billing } },
    upset: { type: 'yes_no', probability: 0.9 },
  },
});
const tries = () => calls.filter(({ path }) => path === '/v1/try')
  .map(({ body }) => (body as { definition: typeof definition }).definition.questions[0]!.text);
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const type = (text: string) => fireEvent.change(screen.getAllByLabelText('Text', { selector: 'textarea' })[0]!,
  { target: { value: text } });
const beside = (question: string) => screen.getByRole('group', { name: `Answer to your text: ${question}` });
const answer = async (question: string, response: Response) => {
  await act(async () => { waiting.get(question)!(response); await vi.advanceTimersByTimeAsync(1); });
};

beforeEach(async () => {
  sessionStorage.clear();
  waiting.clear();
  calls = await serve('editor', () => Response.json({ data: [], next_cursor: null }));
  const others = fetch;
  // A try is answered when the test says so.
  vi.stubGlobal('fetch', async (input: string | Request) => {
    if (!(input instanceof Request) || !input.url.endsWith('/v1/try')) return others(input);
    const copy = input.clone();
    await others(input);
    const { definition: { questions } } = await copy.json() as { definition: typeof definition };
    return new Promise<Response>((resolve) => waiting.set(questions[0]!.text, resolve));
  });
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

// spec: console-live-answers
describe('the answers beside the questions', () => {
  it('are asked for once edits pause, and the last edit wins', async () => {
    render(<Page />);
    await pass(1000);
    expect(tries()).toEqual(['Topic?']);
    await answer('Topic?', answered(0.8));
    expect(within(beside('Topic?')).getByText('Billing', { selector: 'strong' })).toBeTruthy();
    expect(within(beside('Topic?')).getAllByText('80%')).toHaveLength(2);
    expect(within(beside('Upset?')).getByText('Yes', { selector: 'strong' })).toBeTruthy();
    type('Topic now');
    await pass(300);
    type('Topic now?');
    await pass(300);
    expect(tries()).toEqual(['Topic?']);
    expect(beside('Topic now?').getAttribute('aria-busy')).toBe('true');
    await pass(1000);
    type('Topic then?');
    await pass(1000);
    expect(tries()).toEqual(['Topic?', 'Topic now?', 'Topic then?']);
    await answer('Topic then?', answered(0.3));
    await answer('Topic now?', answered(0.99));
    expect(within(beside('Topic then?')).getByText('Other', { selector: 'strong' })).toBeTruthy();
    const then = beside('Topic then?');
    expect([then.className, then.getAttribute('aria-busy')]).toEqual(['question-live', 'false']);
  });

  it('stay, dimmed, when a call fails or the definition is broken, without a word', async () => {
    render(<Page />);
    await pass(1000);
    await answer('Topic?', answered(0.8));
    type('');
    await pass(1000);
    expect(tries()).toEqual(['Topic?']);
    type('Else?');
    await pass(1000);
    await answer('Else?', Response.json({ error: { code: 'unavailable', message: 'Away.' } }, { status: 503 }));
    await pass(60_000);
    expect(tries()).toEqual(['Topic?', 'Else?']);
    expect(screen.queryByRole('alert')).toBeNull();
    expect(within(beside('Else?')).getByText('Billing', { selector: 'strong' })).toBeTruthy();
    expect([beside('Else?').className, beside('Else?').getAttribute('aria-busy')]).toEqual(['question-live stale', 'false']);
  });

  it('are not asked for without a text, before something is edited or tried, or when they are hidden', async () => {
    const { unmount } = render(<><Page text=" " /><Page active={false} /></>);
    await pass(1000);
    expect(screen.queryByText(/its answer will be here/i)).toBeNull();
    unmount();
    expect(tries()).toEqual([]);
    const { rerender, unmount: close } = render(<Page />);
    await pass(1000);
    rerender(<Page active={false} />); // the panel is closed
    expect(screen.getAllByText(/its answer will be here/i)).toHaveLength(2);
    close();
    calls.length = 0;
    render(<Page />);
    fireEvent.click(screen.getByRole('button', { name: 'Hide answers' }));
    type('Hidden?');
    await pass(1000);
    expect(screen.queryByRole('group', { name: /^Answer to your text/ })).toBeNull();
    expect(tries()).toEqual(['Topic?']);
    fireEvent.click(screen.getByRole('button', { name: 'Show answers' }));
    await pass(1000);
    expect(tries()).toEqual(['Topic?', 'Hidden?']);
  });
});
