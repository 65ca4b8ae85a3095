import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { choiceOf, sizes, tagsOf, tagSizes } from '@/test/options';
import { serve } from '@/test/server';
import { Form } from './FilterForms';
import type { ResultsSearch } from './search';

afterEach(() => { vi.unstubAllGlobals(); });

let now: ResultsSearch;
type Options = ReturnType<typeof choiceOf> | ReturnType<typeof tagsOf>;
async function show(n: number, where?: string[], question: Options = choiceOf(n)) {
  await serve('reader', ({ path, query }) => (path === '/v1/results/counts'
    ? Response.json({ total: n, exact: true, by: { [query.get('by')!]: question.options.map(({ key, label }, i) => (
      { value: key, label, count: i })) } })
    : path === '/v1/prisms/bank' ? Response.json({ slug: 'bank', version: { questions: [question] } }) : undefined));
  function Page() {
    const [search, setSearch] = useState<ResultsSearch>({ prism: 'bank', where });
    now = search;
    return <Form about={`question ${question.key}`} search={search} close={() => {}} set={async (change) =>
      setSearch((old) => ({ ...old, ...(typeof change === 'function' ? change(old) : change) }))} />;
  }
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(<QueryClientProvider client={client}><Page /></QueryClientProvider>);
  await screen.findByText(question.text);
  await waitFor(() => expect(names()[1]).toBe('Option 2 1'));
}
const boxes = () => [...screen.getByRole('group', { name: 'Answer' }).querySelectorAll('input')];
const names = () => boxes().map((box) => [...box.nextElementSibling!.children].map((part) =>
  part.textContent!.trim()).join(' '));

// spec: console-many-options
describe('the values of a filter', () => {
  it.each(sizes)('are %i with their counts, among which one of many is found and taken by the keyboard', async (n) => {
    await show(n);
    expect(boxes()).toHaveLength(n);
    const search = screen.queryByRole('textbox', { name: 'Find in Answer' });
    expect(search !== null).toBe(n > 12);
    if (!search) {
      await userEvent.click(boxes()[1]!);
      expect(now.where).toEqual(['intent:is:o2']);
      return;
    }
    fireEvent.change(search, { target: { value: 'option 2' } });
    search.focus();
    await userEvent.keyboard('{ArrowDown}{ArrowDown} ');
    // Found are 2, 12 and 20 to 26, and of many others too: the second one of them.
    expect(now.where).toEqual(['intent:is:o12']);
    await userEvent.keyboard('{ArrowUp}{ArrowUp}');
    expect(document.activeElement).toBe(search);
    fireEvent.change(search, { target: { value: `option ${n}` } });
    // What is chosen stays.
    expect(names()).toEqual(['Option 12 11', `Option ${n} ${n - 1}`]);
    fireEvent.change(search, { target: { value: 'nothing' } });
    expect(screen.getByText('Nothing with these words')).toBeTruthy();
  });
});

// spec: console-results-page
describe('what was right', () => {
  it.each(sizes)('is chosen among %i labels with their counts, and taken away', async (n) => {
    await show(n, ['intent:is:o1']);
    const right = () => screen.getByRole<HTMLSelectElement & HTMLInputElement>('combobox', { name: 'What was right' });
    if (n > 12) {
      await userEvent.click(right());
      await userEvent.keyboard('option 2 {Enter}');
    } else {
      await screen.findByRole('option', { name: 'Option 2 (1)' });
      await userEvent.selectOptions(right(), 'Option 2 (1)');
    }
    expect(now.where).toEqual(['intent:is:o1', 'intent@label:is:o2']);
    if (n > 12) return;
    await userEvent.selectOptions(right(), 'Whatever its label is');
    expect(now.where).toEqual(['intent:is:o1']);
  });
  it('is shown as a link says it', async () => {
    await show(2, ['intent@label:not:o1,o2']);
    expect(screen.getByRole<HTMLSelectElement>('combobox', { name: 'What was right' }).selectedOptions[0]!.textContent)
      .toBe('Not o1, o2');
  });
});

// spec: console-tags
describe('the filter of a question of tags', () => {
  it.each(tagSizes)('with %i options finds results with any or none of some, and by the probability of one', async (n) => {
    await show(n, undefined, tagsOf(n));
    await userEvent.click(boxes()[0]!);
    await userEvent.click(boxes()[1]!);
    expect(now.where).toEqual(['about:is:o1,o2']);
    await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Results that have' }), 'none of the chosen options');
    expect(now.where).toEqual(['about:not:o1,o2']);
    await userEvent.click(boxes()[0]!);
    expect(now.where).toEqual(['about:not:o2']);
    expect(screen.queryByRole('textbox', { name: 'From' })).toBeNull();
    await userEvent.type(screen.getByRole('combobox', { name: 'Probability of' }), 'option 2{Enter}');
    await userEvent.type(screen.getByRole('textbox', { name: 'From' }), '80{Enter}');
    expect(now.where).toEqual(['about:not:o2', 'about.o2:from:0.8']);
    await userEvent.click(screen.getByRole('checkbox', { name: 'Sort by it, the most probable first' }));
    expect(now.sort).toBe('-about.o2');
  });
});
