import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test } from 'vitest';
import type { Prism } from '@/data/prisms';
import { columnOf, columnWords, derived, draftColumn } from '@/definitions/lens';
import type { LensColumn, Question } from '@/definitions/model';
import { localLensProblems } from '@/definitions/problems';
import { choiceOf, sizes, tagSizes, tagsOf } from '@/test/options';
import { ColumnEditor } from './Lens';

const questions: Question[] = [{ key: 'upset', type: 'yes_no', text: 'Upset?' }];
const prism = { version: { questions } } as Prism;

test('a column is calibrated by a checkbox', async () => {
  let sent: LensColumn | undefined;
  function Column() {
    const [column, setColumn] = useState(draftColumn({ name: 'p', question: 'upset', show: 'probability' }));
    sent = columnOf(column, questions);
    return <ColumnEditor column={column} at="columns.0" prism={prism} onChange={setColumn} />;
  }
  const user = userEvent.setup();
  render(<Column />);
  const box = screen.getByRole('checkbox', { name: /Calibrated/ });
  expect(sent).toEqual({ name: 'p', question: 'upset', show: 'probability' });
  await user.click(box);
  expect(sent).toEqual({ name: 'p', question: 'upset', show: 'probability', calibrated: true });
  await user.click(box);
  expect(sent).toEqual({ name: 'p', question: 'upset', show: 'probability' });
});

// spec: console-many-options
test.each(sizes)('the probability of one of %i options is chosen from a list, in which one of many is found', async (n) => {
  const question = choiceOf(n);
  let sent: LensColumn | undefined;
  function Column() {
    const [column, setColumn] = useState(draftColumn({ name: 'p', question: 'intent', show: 'probability' }));
    sent = columnOf(column, [question]);
    return <ColumnEditor column={column} at="columns.0" prism={{ version: { questions: [question] } } as Prism}
      onChange={setColumn} />;
  }
  const user = userEvent.setup();
  render(<Column />);
  const of = screen.getByRole<HTMLInputElement>('combobox', { name: 'Of' });
  if (n <= 26) await user.selectOptions(of, `o${n}`);
  else {
    expect(of.value).toBe('the chosen option');
    await user.type(of, `option ${n}{Enter}`);
    expect(of.value).toBe(`Option ${n}`);
  }
  expect(sent).toMatchObject({ show: 'probability', option: `o${n}` });
});

test('a column is said in words', () => {
  const of = (column: Partial<LensColumn>) =>
    columnWords(draftColumn({ name: 'p', question: 'upset', show: 'answer', ...column }), questions);
  expect([of({}), of({ yes_at: 0.8, no_at: 0.1, calibrated: true }), of({ show: 'probability' })]).toEqual([
    'Answer, yes from 0.6, no up to 0.4', 'Answer, yes from 0.8, no up to 0.1, calibrated', 'Probability',
  ]);
  expect(columnWords(draftColumn({ name: 'p', question: 'gone', show: 'probability', option: 'x' }), questions)).toBe(
    'Probability of x',
  );
});

test('a threshold is a number with a point or a comma', () => {
  const at = (yesAt: string) =>
    columnOf({ ...draftColumn({ name: 'p', question: 'upset', show: 'answer' }), yesAt }, questions).yes_at;
  expect([at('0,75'), at('0.75'), at('often')]).toEqual([0.75, 0.75, 'often']);
});

// spec: console-tags
test.each(tagSizes)('a column of tags with %i options shows them, one of them, or how many they are', async (n) => {
  const question = tagsOf(n);
  let sent: LensColumn | undefined;
  function Column() {
    const [column, setColumn] = useState(draftColumn({ name: 'c', question: 'about', show: 'answer' }));
    sent = columnOf(column, [question]);
    return <ColumnEditor column={column} at="columns.0" prism={{ version: { questions: [question] } } as Prism}
      onChange={setColumn} />;
  }
  const user = userEvent.setup();
  render(<Column />);
  await user.type(screen.getByRole('textbox', { name: 'In the answer from' }), '0,7');
  expect(sent).toEqual({ name: 'c', question: 'about', show: 'answer', yes_at: 0.7 });
  expect(screen.queryByRole('textbox', { name: 'No up to' })).toBeNull();
  const show = screen.getByRole('combobox', { name: 'Show' });
  expect([...show.querySelectorAll('option')].map(({ textContent }) => textContent)).toEqual(['Answer', 'Probability', 'Count']);
  await user.selectOptions(show, 'count');
  expect(sent).toEqual({ name: 'c', question: 'about', show: 'count', yes_at: 0.7 });
  await user.selectOptions(show, 'probability');
  expect(sent).toEqual({ name: 'c', question: 'about', show: 'probability' });
  const problems = (option: string) => [...localLensProblems(
    [{ ...draftColumn(sent!), option }], { fields: [], questions: [question] },
  ).values()];
  expect([problems(''), problems('gone'), problems('o2')]).toEqual(
    [['Choose the option.'], ['The question has no such option.'], []],
  );
  const of = screen.getByRole<HTMLInputElement>('combobox', { name: 'Of' });
  if (n <= 26) await user.selectOptions(of, 'o2');
  else await user.type(of, 'option 2{Enter}');
  expect(sent).toEqual({ name: 'c', question: 'about', show: 'probability', option: 'o2' });
});

test('the Lens that is derived of tags is their answer', () => {
  expect(derived([tagsOf(2)])).toEqual([{ name: 'about', question: 'about', show: 'answer' }]);
  expect(columnWords(draftColumn({ name: 'a', question: 'about', show: 'count' }), [tagsOf(2)])).toBe(
    'Count, in the answer from 0.5',
  );
});
