import { createRootRoute } from '@tanstack/react-router';
import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { Measured } from '@/data/quality';
import { choiceOf, confusionOf, sizes } from '@/test/options';
import { open } from '@/test/server';
import { confusedWith, folded, mistakesOf, mostConfused } from './confused';
import { Confusion } from './Confusion';

const figure = (value: number) => ({ value, low: value, high: value });
const draw = async (n: number) => {
  const question = choiceOf(n);
  // The options are told the better the later they are.
  const classes = question.options.map(({ key }, i) => (
    { value: key, n: 20, precision: figure(0.5), recall: figure(0.5), f1: figure((i + 1) / n) }));
  const measured = { confusion: confusionOf(question), classes } as unknown as Measured;
  open(createRootRoute({
    component: () => <Confusion of={{ prism: 'bank', version: 3 }} measured={measured} question={question} />,
  }), '/');
  await screen.findByText('Confusion');
};
const table = () => within(screen.getByRole('region', { name: /^Confusion: a row for each label/ })).getByRole('table');
const names = () => [...table().querySelectorAll('tbody th')].map((head) => head.textContent!.replace(/ [\d,]+$/, ''));

const counts = [[9, 1, 0, 0], [5, 8, 0, 2], [0, 0, 7, 0], [0, 0, 1, 6]];

describe('mistakes', () => {
  it('are counted of both sides', () => {
    expect(mistakesOf(counts)).toEqual([6, 8, 1, 3]);
    expect(mostConfused(counts, 2)).toEqual([0, 1]);
    expect(confusedWith(counts, 3, 2)).toEqual([1, 3]);
    expect(confusedWith(counts, 2, 20)).toEqual([2, 3]);
  });
  it('of others are folded without a loss', () => {
    expect(folded(counts, [1, 3])).toEqual({ counts: [[8, 2, 5], [0, 6, 1], [1, 0, 16]], right: 16 });
  });
});

// spec: console-many-options
describe('a confusion', () => {
  it.each(sizes)('of %i options has at most 20 rows and one of the others', async (n) => {
    await draw(n);
    expect(names()).toHaveLength(n === 2 ? 2 : 21);
    expect(table().querySelectorAll('td[title]')).toHaveLength(n === 2 ? 4 : 441);
    expect(names().at(-1)).toBe(n === 2 ? 'Option 2' : `${n - 20} others`);
    // Nothing of what is folded is lost: 10 right ones of each option, and the mistakes.
    const cells = [...table().querySelectorAll('td[title]')].map(({ textContent }) => Number(textContent!.replace(',', '')));
    const all = Array.from({ length: n }, (_, i) => 10 + (i % 50));
    expect(cells.reduce((sum, cell) => sum + cell)).toBe(all.reduce((sum, one) => sum + one));
    const last = table().querySelector('tbody tr:last-child td:last-child')!.getAttribute('title');
    if (n > 2) expect(last).toMatch(new RegExp(`others, ${((n - 20) * 10).toLocaleString('en-US')} of them right$`));
    expect(table().querySelectorAll('td.right')).toHaveLength(n === 2 ? 2 : 20);
  });
  it('of 255 options shows one of them, which is found by its name, and what it is taken for', async () => {
    await draw(255);
    expect(screen.queryByRole('button', { name: 'All 255 options' })).toBeNull();
    const pick = screen.getByRole('combobox', { name: 'Show' });
    await userEvent.click(pick);
    await userEvent.keyboard('option 178{Enter}');
    expect(names()).toEqual(['Option 177', 'Option 178', 'Option 179', '252 others']);
    await userEvent.click(pick);
    await userEvent.keyboard('most{Enter}');
    expect(names()).toHaveLength(21);
  });
  it.each(sizes)('of %i options leads from a mistake to the results with that label and that answer', async (n) => {
    await draw(n);
    const links = [...table().querySelectorAll('a')];
    // The diagonal is right, and what was answered with the others is no answer.
    const places = links.map((link) => link.closest('td')!.cellIndex - link.closest('tr')!.sectionRowIndex - 1);
    expect(places.length > 0 && places.every((apart) => apart !== 0)).toBe(true);
    expect(links.every((link) => link.closest('td')!.cellIndex <= 20)).toBe(true);
    const { pathname, searchParams } = new URL(links[0]!.href);
    const answer = table().querySelectorAll('thead th[scope="col"]')[links[0]!.closest('td')!.cellIndex]!.textContent!;
    const key = choiceOf(n).options.find(({ label }) => label === answer)!.key;
    expect(pathname).toBe('/prisms/bank/results');
    const keyOf = (name: string) => choiceOf(n).options.find(({ label }) => label === name)!.key;
    const labelled = links[0]!.closest('tr')!.querySelector('th')!.firstChild!.textContent!.trim();
    expect(JSON.parse(searchParams.get('where')!)).toEqual([`intent:is:${key}`, `intent@label:is:${keyOf(labelled)}`]);
    const folded = links.filter((link) => /others/.test(link.closest('tr')!.querySelector('th')!.textContent!));
    for (const link of folded) { // of the labels that have no row of their own
      const shownKeys = names().slice(0, -1).map(keyOf).join(',');
      expect(JSON.parse(new URL(link.href).searchParams.get('where')!)[1]).toBe(`intent@label:not:${shownKeys}`);
    }
    expect(searchParams.get('version')).toBe('3');
  });
  it('of 26 options is shown whole when asked for', async () => {
    await draw(26);
    fireEvent.click(screen.getByRole('button', { name: 'All 26 options' }));
    expect(names()).toHaveLength(26);
    expect(names().at(-1)).toBe('Option 26');
  });
});

it.each(sizes)('the %i options are told worst first where they are many, and the others are folded', async (n) => {
  await draw(n);
  const region = screen.getByRole('region', { name: 'Precision and recall of each option' });
  const rows = () => [...region.querySelectorAll('tbody th')].map((head) => head.textContent);
  expect(rows()).toHaveLength(Math.min(n, 20));
  expect(rows()[0]).toBe('Option 1');
  if (n === 2) return;
  fireEvent.click(screen.getByRole('button', { name: `${n - 20} more options, told better` }));
  expect(rows()).toHaveLength(n);
});
