import { createRootRoute, createRoute } from '@tanstack/react-router';
import { fireEvent, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { choiceOf, sizes } from '@/test/options';
import { open } from '@/test/server';
import { Lately } from './Lately';

// spec: console-many-options
it.each(sizes)('of %i answers, those that moved most are first, and the others are folded', async (n) => {
  const question = choiceOf(n);
  // The last option takes from the first one; all others stay as they were.
  const layers = question.options.map(({ key, label }, i) => ({ key, label, hue: 1, values: Array.from({ length: 30 }, (_, day) =>
    (i === 0 ? (day < 23 ? 30 : 10) : i === n - 1 ? (day < 23 ? 10 : 30) : 1)) }));
  const root = createRootRoute();
  open(root.addChildren([createRoute({ getParentRoute: () => root, path: '/', component: () => (
    <Lately prism="bank" question={question} layers={layers} bounds={{ no: 0.4, yes: 0.6 }} />
  ) })]), '/');
  await screen.findByText(`Option ${n}`, { selector: 'li a' });
  const rows = () => screen.getAllByRole('listitem').map((row) => row.querySelector('a')!.textContent);
  expect(rows()).toHaveLength(Math.min(n, 8));
  expect(new Set(rows().slice(0, 2))).toEqual(new Set(['Option 1', `Option ${n}`]));
  expect(screen.getByText(`More Option ${n} than usual`, { exact: false })).toBeTruthy();
  if (n === 2) return;
  fireEvent.click(screen.getByRole('button', { name: `${n - 8} more answers` }));
  expect(rows()).toHaveLength(n);
  fireEvent.click(screen.getByRole('button', { name: 'Only the 8 that moved most' }));
  expect(rows()).toHaveLength(8);
});
