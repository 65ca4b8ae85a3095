import { fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { changes } from '@/definitions/diff';
import { blank, definitionOf, type Draft, draftOf, newOption, optionsOfLines } from '@/definitions/model';
import { localProblems } from '@/definitions/problems';
import { choiceOf, sizes } from '@/test/options';
import { EditingProvider } from './Control';
import { Options } from './Options';

const limits = vi.hoisted(() => ({
  fields: { least: 1, most: 50 }, questions: { least: 1, most: 64 }, options: { least: 2, most: 255 },
  tags: { least: 1, most: 100 },
  levels: { least: 2, most: 10 }, columns: { least: 1, most: 200 }, group: 40 as number | undefined,
}));
vi.mock('@/api/limits', () => ({ limits, mostGroups: 32 }));
beforeEach(() => { limits.group = 40; });

let now: Draft;
function Page({ first }: { first: Draft }) {
  const [draft, setDraft] = useState(first);
  now = draft;
  return (
    <EditingProvider value={{ problems: localProblems(draft, false), all: true, disabled: false }}>
      <Options question={draft.questions[0]!} at="questions.0" keys={false}
        onChange={(part) => setDraft((old) => ({ ...old, questions: [{ ...old.questions[0]!, ...part }] }))} />
    </EditingProvider>
  );
}

const ofChoice = (n: number) => draftOf({ fields: [{ key: 'text', label: 'Text' }], questions: [choiceOf(n)] });
const sent = () => {
  const question = definitionOf(now).questions[0]!;
  return question.type === 'choice' ? question.options : [];
};
// Looking up 255 inputs by their labels takes jsdom minutes.
const inputs = (member = 'label') => [...document.querySelectorAll<HTMLInputElement>(`[data-at$="-${member}"]`)];
const paste = (at: number, text: string) =>
  fireEvent.paste(inputs()[at]!, { clipboardData: { getData: () => text } });
const lines = (n: number, from = 1) => Array.from({ length: n }, (_, i) => `Intent ${from + i}`).join('\r\n');

// spec: console-many-options
describe('a pasted list', () => {
  it.each(sizes)('of %i lines makes an option of each, in place of those that are empty', (n) => {
    render(<Page first={blank()} />);
    paste(0, `${lines(n)}\n\n`);
    expect(inputs()).toHaveLength(n);
    expect(sent().at(-1)).toEqual({ key: `intent_${n}`, label: `Intent ${n}` });
    expect(new Set(sent().map(({ key }) => key)).size).toBe(n);
    expect([...localProblems(now, false).keys()]).toEqual(['questions.0.text']);
    expect(screen.getByText(`${n} options added.`)).toBeTruthy();
  });
  it('goes below the option that it is pasted into, and says what is left out', () => {
    render(<Page first={ofChoice(26)} />);
    paste(1, `Option 26\n${lines(230)}`);
    expect(inputs().map(({ value }) => value).slice(1, 4)).toEqual(['Option 2', 'Intent 1', 'Intent 2']);
    expect(inputs()).toHaveLength(255);
    expect(screen.getByText(
      '229 options added. 1 line there already. 1 line left out: at most 255 options.',
    )).toBeTruthy();
    expect(screen.getByText('Add option').closest('button')!.disabled).toBe(true);
  });
  it('of a spreadsheet has what stands behind tabs, and one line is pasted as it is', () => {
    const { options, again } = optionsOfLines('Refund\tMoney back\tPayments\n refund \tother\nRefund', [], []);
    expect(options.map(({ key, label, description, group }) => [key, label, description, group])).toEqual([
      ['refund', 'Refund', 'Money back', 'Payments'], ['refund_2', 'refund', 'other', ''],
    ]);
    expect(again).toBe(1);
    render(<Page first={blank()} />);
    expect(paste(0, 'Refund\n')).toBe(true); // nobody prevented it
    expect(inputs()).toHaveLength(2);
  });
});

// spec: console-many-options
describe('the options of a choice', () => {
  it.each(sizes)('are %i rows of which each can be written in, and those out of view are not drawn', async (n) => {
    const { container } = render(<Page first={ofChoice(n)} />);
    expect(inputs()).toHaveLength(n);
    expect(container.querySelector('.items-list')!.classList.contains('many')).toBe(n > 40);
    await userEvent.type(inputs()[n - 1]!, '!');
    expect(sent().at(-1)).toMatchObject({ key: `o${n}`, label: `Option ${n}!` });
    expect(localProblems(now, false).size).toBe(0);
  });
  it('know what was written in the others, and in the question, since they were drawn', () => {
    const first = ofChoice(254);
    const draft = { ...first, questions: [{ ...first.questions[0]!, options: [...first.questions[0]!.options, newOption()] }] };
    render(<Page first={draft} />);
    fireEvent.change(inputs()[3]!, { target: { value: 'Refund' } });
    fireEvent.change(inputs()[254]!, { target: { value: 'O4' } });
    expect(sent()[3]!.label).toBe('Refund');
    expect(sent()[254]).toMatchObject({ key: 'o4_2', label: 'O4' });
    fireEvent.click(document.querySelector('input[type=checkbox]')!);
    paste(0, 'A\nB');
    expect(sent()[3]!.label).toBe('Refund');
    expect(now.questions[0]!.insufficient).toBe(true);
    expect(screen.getByText('0 options added. 2 lines left out: at most 254 options.')).toBeTruthy();
  });
  it('have groups, of which only those that are set are sent', async () => {
    const first = ofChoice(26);
    first.questions[0]!.options.forEach((option, i) => { if (i > 0) option.group = ''; });
    render(<Page first={first} />);
    expect(screen.getAllByLabelText('Group')).toHaveLength(26);
    const groups = inputs('group');
    expect(groups.map(({ value }) => value).slice(0, 2)).toEqual(['Group 1', '']);
    expect(groups[0]!.maxLength).toBe(40);
    await userEvent.type(groups[1]!, 'Cards ');
    expect(sent().slice(0, 3).map((option) => Object.entries(option).find(([member]) => member === 'group')?.[1])).toEqual(
      ['Group 1', 'Cards', undefined],
    );
    const before = definitionOf(first);
    expect(changes(before, definitionOf(now)).map(({ what, before: a, after }) => [what, a, after])).toEqual([
      ['Question intent: option o2: group', 'none', 'Cards'],
    ]);
  });
  it('have groups where they are many or asked for, and never where the API has none', () => {
    const { unmount } = render(<Page first={{ ...ofChoice(26), questions: [{ ...ofChoice(2).questions[0]! }] }} />);
    expect(screen.queryByRole('button', { name: 'Show groups' })).toBeNull();
    unmount();
    const plain = ofChoice(26);
    for (const option of plain.questions[0]!.options) option.group = '';
    const shown = render(<Page first={plain} />);
    fireEvent.click(screen.getByRole('button', { name: 'Show groups' }));
    expect(screen.getAllByLabelText('Group')).toHaveLength(26);
    shown.unmount();
    limits.group = undefined;
    render(<Page first={ofChoice(26)} />);
    expect(screen.queryByLabelText('Group')).toBeNull();
    expect(screen.queryByRole('button', { name: 'Show groups' })).toBeNull();
  });
  it('are at most as many as the API takes, with insufficient information, and in at most 32 groups', () => {
    const draft = ofChoice(255);
    const problem = () => localProblems(draft, false).get('questions.0.options');
    expect(problem()).toBeUndefined();
    draft.questions[0]!.insufficient = true;
    expect(problem()).toBe('At most 254 options.');
    draft.questions[0]!.insufficient = false;
    draft.questions[0]!.options.forEach((option, i) => { option.group = `${i % 33}`; });
    expect(problem()).toBe('At most 32 groups, not 33.');
  });
});
