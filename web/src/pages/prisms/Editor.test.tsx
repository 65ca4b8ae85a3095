import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { beforeEach, describe, expect, it } from 'vitest';
import { blank, definitionOf, type Draft, draftOf, freeKey } from '@/definitions/model';
import { localProblems } from '@/definitions/problems';
import { tagSizes, tagsOf } from '@/test/options';
import { serve } from '@/test/server';
import { EditingProvider } from './Control';
import { Editor } from './Editor';

let now: Draft;

function Page({ first }: { first: Draft }) {
  const [draft, setDraft] = useState(first);
  now = draft;
  return (
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <EditingProvider value={{ problems: localProblems(draft, false), all: false, disabled: false }}>
        <Editor draft={draft} onChange={setDraft} />
      </EditingProvider>
    </QueryClientProvider>
  );
}

beforeEach(async () => {
  await serve('editor', ({ path }) => (path === '/v1/models' ? Response.json({ data: [], next_cursor: null }) : undefined));
});

const type = (label: string, at: number, text: string) =>
  fireEvent.change(screen.getAllByLabelText(label, { selector: 'input, textarea' })[at]!, { target: { value: text } });
const options = () => {
  const [question] = definitionOf(now).questions;
  return question?.type === 'choice' ? question.options.map(({ key }) => key) : [];
};

// spec: console-editor-keys
describe('keys', () => {
  it('follow their labels while nothing is saved, are each another one, and are hidden until asked for', () => {
    render(<Page first={blank()} />);
    type('Text', 0, 'What is it about?');
    type('Option', 0, 'Billing');
    type('Option', 1, 'Billing');
    expect(options()).toEqual(['billing', 'billing_2']);
    type('Option', 1, '配送');
    expect([definitionOf(now).questions[0]!.key, ...options()]).toEqual(['what_is_it_about', 'billing', 'option']);
    expect(screen.queryByLabelText('Key')).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Show keys' }));
    expect(screen.getAllByLabelText<HTMLInputElement>('Key').map((input) => input.value)).toEqual(
      ['text', 'what_is_it_about', 'billing', 'option'],
    );
  });
  it('stay once they are saved, or typed', () => {
    render(<Page first={draftOf({
      fields: [{ key: 'text', label: 'Text' }],
      questions: [{ key: 'upset', type: 'yes_no', text: 'Upset?' }],
    })} />);
    type('Text', 0, 'Is the customer upset?');
    expect(definitionOf(now).questions[0]!.key).toBe('upset');
    fireEvent.click(screen.getByRole('button', { name: 'Add question' }));
    fireEvent.click(screen.getByRole('button', { name: 'Show keys' }));
    type('Key', 2, 'mine');
    type('Text', 1, 'Something else?');
    expect(definitionOf(now).questions.map(({ key }) => key)).toEqual(['upset', 'mine']);
  });
  it('that are wrong are shown without being asked for', () => {
    const draft = blank();
    render(<Page first={{ ...draft, fields: [{ ...draft.fields[0]!, key: 'Not a key' }] }} />);
    expect(screen.getByLabelText<HTMLInputElement>('Key').value).toBe('Not a key');
  });
  it('that follow a label lack with it, where the label is', () => {
    const draft = blank();
    expect([...localProblems(draft, false).keys()]).toEqual([
      'questions.0.text', 'questions.0.options.0.label', 'questions.0.options.1.label',
    ]);
  });
  it('are numbered until they are free', () => {
    expect([freeKey('Is it?', 'question', ['is_it', 'is_it_2']), freeKey(' ', 'field', []), freeKey('?', 'field', ['field'])])
      .toEqual(['is_it_3', '', 'field_2']);
  });
});

// spec: version-examples
it('adds examples by hand, and takes them away', () => {
  render(<Page first={draftOf({
    fields: [{ key: 'text', label: 'Text' }], questions: [{ key: 'upset', type: 'yes_no', text: 'Upset?' }],
  })} />);
  fireEvent.click(screen.getByRole('button', { name: 'Add example' }));
  type('Text', 1, 'Where is it?');
  fireEvent.change(screen.getByLabelText('Right answer: Upset?'), { target: { value: 'true' } });
  expect(definitionOf(now).examples).toEqual([{ fields: { text: 'Where is it?' }, answers: { upset: true } }]);
  fireEvent.click(screen.getByRole('button', { name: 'Remove example Where is it?' }));
  expect(definitionOf(now).examples).toBeUndefined();
});

// spec: console-tags
describe('a question of tags', () => {
  it('has the options of the choice that it was, keeps them, and says what it is', () => {
    render(<Page first={blank()} />);
    type('Text', 0, 'What is it about?');
    type('Option', 0, 'Refund');
    type('Option', 1, 'VIP');
    fireEvent.click(screen.getByLabelText('Insufficient information'));
    fireEvent.change(screen.getByLabelText('Type'), { target: { value: 'tags' } });
    expect(screen.getByText(/^Any number of the options can be right, also none\./)).toBeTruthy();
    expect(screen.queryByLabelText('Insufficient information')).toBeNull();
    expect(definitionOf(now).questions[0]).toEqual({
      key: 'what_is_it_about', type: 'tags', text: 'What is it about?',
      options: [{ key: 'refund', label: 'Refund' }, { key: 'vip', label: 'VIP' }],
    });
    expect([...localProblems(now, false)]).toEqual([]);
    fireEvent.change(screen.getByLabelText('Type'), { target: { value: 'choice' } });
    expect(definitionOf(now).questions[0]).toMatchObject({ type: 'choice', insufficient_information: true });
  });
  it.each([...tagSizes, 0, 101])('has 1 to 100 options, and not other than %i', (n) => {
    const draft = draftOf({ fields: [{ key: 'text', label: 'Text' }], questions: [tagsOf(n)] });
    const found = { 0: ['At least 1 option.'], 101: ['At most 100 options.'] }[n] ?? [];
    expect([...localProblems(draft, false).values()]).toEqual(found);
    const options = tagsOf(n).options.map(({ key }) => ({ key }));
    expect(definitionOf(draft).questions[0]).toMatchObject({ type: 'tags', options });
  });
});
