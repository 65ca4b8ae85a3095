import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { useState } from 'react';
import { beforeEach, expect, it } from 'vitest';
import { definitionOf, type Draft, draftOf } from '@/definitions/model';
import { tagsOf } from '@/test/options';
import { type Call, open, refusal, serve } from '@/test/server';
import { EditingProvider } from './Control';
import { Examples } from './Examples';

let now: Draft;
let answer: () => Response;
let calls: Call[];

const example = (message: string, i: number) => ({
  fields: { message }, answers: { about: i ? ['o1', 'o3'] : [], upset: true }, result_id: `r${i}`,
});

beforeEach(async () => {
  answer = () => Response.json({ version: 2, examples: ['Charged twice', 'Where is it?'].map(example) });
  calls = await serve('editor', ({ method }) => (method === 'POST' ? answer() : undefined));
});

async function show(examples?: ReturnType<typeof example>[]) {
  const first = draftOf({
    fields: [{ key: 'message', label: 'Message' }], ...(examples && { examples }),
    questions: [tagsOf(3) as never, { key: 'upset', type: 'yes_no', text: 'Upset?' }],
  });
  function Page() {
    const [draft, setDraft] = useState(first);
    now = draft;
    return (
      <EditingProvider value={{ problems: new Map(), all: false, disabled: false }}>
        <Examples draft={draft} onChange={(next) => setDraft({ ...draft, examples: next })} prism="bank" />
      </EditingProvider>
    );
  }
  const root = createRootRoute({ component: Outlet });
  open(root.addChildren([
    createRoute({ getParentRoute: () => root, path: '/', component: Page }),
    createRoute({ getParentRoute: () => root, path: '/prisms/$prism/label', component: Outlet }),
    createRoute({ getParentRoute: () => root, path: '/results/$result', component: Outlet }),
  ]), '/');
  return screen.findByRole('button', { name: 'Take from labels' });
}

// spec: console-examples
it('shows what is taken before it takes the place of the examples', async () => {
  fireEvent.click(await show([example('Old', 0)]));
  const dialog = within(screen.getByRole('dialog', { name: 'Take examples from labels' }));
  fireEvent.change(dialog.getByLabelText('How many'), { target: { value: '41' } });
  fireEvent.click(dialog.getByRole('button', { name: 'Show examples' }));
  expect(dialog.getByText('A whole number from 1 to 40')).toBeTruthy();
  expect(calls.filter(({ method }) => method === 'POST')).toHaveLength(0);
  fireEvent.change(dialog.getByLabelText('How many'), { target: { value: '2' } });
  fireEvent.change(dialog.getByLabelText('Seed'), { target: { value: '7' } });
  fireEvent.click(dialog.getByRole('button', { name: 'Show examples' }));
  const taken = within(await dialog.findByRole('list', { name: 'Examples that are taken' }));
  expect(taken.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
    'Charged twiceWhat is it about? None · Upset? Yes', 'Where is it?What is it about? Option 1, Option 3 · Upset? Yes',
  ]);
  const { body } = calls.find(({ method }) => method === 'POST')!;
  expect(body).toMatchObject({ dry_run: true, examples_from_labels: { question: 'about', n: 2, seed: 7 } });
  expect(body).not.toHaveProperty('examples');
  expect(dialog.getByText(/They take the place of the 1 example/)).toBeTruthy();
  expect(now.examples).toHaveLength(1);
  fireEvent.click(dialog.getByRole('button', { name: 'Use 2 examples' }));
  await waitFor(() => expect(definitionOf(now).examples).toEqual(['Charged twice', 'Where is it?'].map(example)));
  expect(screen.queryByRole('dialog')).toBeNull();
});

// spec: console-examples
it('says how many inputs have labels where they are too few', async () => {
  answer = () => refusal(409, 'conflict', 'Too few labels: 3 of 12.');
  fireEvent.click(await show());
  fireEvent.click(screen.getByRole('button', { name: 'Show examples' }));
  const note = await screen.findByText(/Only 3 different inputs have a label that can be taken/);
  expect(note.textContent).toContain('Take 3 at most');
  expect(screen.getByRole('link', { name: 'Label texts' }).getAttribute('href')).toBe('/prisms/bank/label?question=about');
});

// spec: console-examples, console-tags
it('has any number of right options of a question of tags', async () => {
  await show([{ ...example('Old', 0), answers: {} as never }]);
  const choose = (value: string) =>
    fireEvent.change(screen.getByLabelText('Right answer: What is it about?'), { target: { value } });
  const right = () => definitionOf(now).examples![0]!.answers.about;
  expect(right()).toBeUndefined();
  choose('o3');
  choose('o1');
  expect(right()).toEqual(['o3', 'o1']);
  fireEvent.click(screen.getByRole('button', { name: 'Option 3' }));
  expect(right()).toEqual(['o1']);
  choose(' none');
  expect(right()).toEqual([]);
  fireEvent.click(screen.getByRole('button', { name: 'Say nothing of it' }));
  expect(right()).toBeUndefined();
});
