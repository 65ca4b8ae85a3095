import { render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { choiceOf, sizes } from '@/test/options';
import { Finder, Pick } from './Finder';
import { find } from './finding';

const itemsOf = (n: number) => choiceOf(n).options.map(({ key, label }, i) => ({ value: key, label, more: `Group ${i % 10}` }));

describe('what is found', () => {
  const items = ['Überweisung prüfen', 'Card payment', 'Pay by card', 'Lost card', 'Repay']
    .map((label, i) => ({ value: `v_${i}`, label }));
  const labels = (text: string) => find(items, text).map(({ label }) => label);
  it('has every word, without regard to case and accents', () => {
    expect(labels('uberw')).toEqual(['Überweisung prüfen']);
    expect(labels('card pay')).toEqual(['Card payment', 'Pay by card']);
    expect(labels('v_3')).toEqual(['Lost card']);
    expect(labels('nothing')).toEqual([]);
  });
  it('begins with what was typed, or else has a word that does, or has it anywhere', () => {
    expect(labels('pay')).toEqual(['Pay by card', 'Card payment', 'Repay']);
    expect(labels(' ')).toHaveLength(5);
  });
});

// spec: console-many-options
describe('a list in which one is found', () => {
  it.each(sizes)('of %i items takes the keyboard alone: type, arrows, Enter', async (n) => {
    const onChoose = vi.fn();
    render(<Finder label="Options" items={itemsOf(n)} chosen="o2" onChoose={onChoose} />);
    const input = screen.getByRole('combobox', { name: 'Options' });
    const list = () => within(screen.getByRole('listbox', { name: 'Options' })).getAllByRole('option');
    expect(list()).toHaveLength(n);
    expect(list().filter((one) => one.getAttribute('aria-selected') === 'true').map((one) => one.textContent)).toEqual(
      ['Option 2 Group 1'],
    );
    await userEvent.click(input);
    await userEvent.keyboard('{Enter}');
    expect(onChoose).not.toHaveBeenCalled(); // nothing was typed, and no arrow pressed
    await userEvent.keyboard('2');
    const found = list().length;
    expect(screen.getByRole('status').textContent).toBe(`${found} of ${n}`);
    expect(document.getElementById(input.getAttribute('aria-activedescendant')!)).toBe(list()[0]);
    await userEvent.keyboard('{ArrowDown}{ArrowUp}{Enter}');
    expect(onChoose.mock.calls).toEqual([[expect.objectContaining({ value: 'o2' })]]);
    expect((input as HTMLInputElement).value).toBe('');
    await userEvent.keyboard('{ArrowUp}{Enter}');
    expect(onChoose.mock.lastCall![0].value).toBe(`o${n}`);
  });
  it('is left by Escape, after what was typed is gone', async () => {
    const onLeave = vi.fn();
    render(<Finder label="Options" items={itemsOf(26)} chosen={undefined} onChoose={() => {}} onLeave={onLeave} />);
    await userEvent.click(screen.getByRole('combobox'));
    await userEvent.keyboard('option 26{Escape}');
    expect(screen.getAllByRole('option')).toHaveLength(26);
    expect(onLeave).not.toHaveBeenCalled();
    await userEvent.keyboard('{Escape}');
    expect(onLeave).toHaveBeenCalledOnce();
  });
  it('is pressed too, and keeps the focus where it is', async () => {
    const onChoose = vi.fn();
    render(<Finder label="Options" items={itemsOf(255)} chosen={undefined} onChoose={onChoose} />);
    await userEvent.click(screen.getByText('Option 255'));
    expect(onChoose.mock.lastCall![0].value).toBe('o255');
    expect(document.activeElement).toBe(document.body);
  });
});

function Picked({ n }: { n: number }) {
  const [value, setValue] = useState('o1');
  return (
    <Pick label="Option" value={value} options={itemsOf(n).map(({ value: key, label }) => [key, label] as const)}
      onChange={setValue} />
  );
}

// spec: console-many-options
it.each(sizes)('a select of %i options opens by typing, and has the one that is taken', async (n) => {
  render(<Picked n={n} />);
  const input = screen.getByRole<HTMLInputElement>('combobox', { name: 'Option' });
  expect(input.value).toBe('Option 1');
  expect(screen.queryByRole('listbox')).toBeNull();
  await userEvent.tab();
  await userEvent.keyboard(`option ${n}`);
  expect(screen.getAllByRole('option').map((one) => one.textContent)).toEqual([`Option ${n}`]);
  await userEvent.keyboard('{Enter}');
  expect(input.value).toBe(`Option ${n}`);
  expect(screen.queryByRole('listbox')).toBeNull();
  await userEvent.keyboard('{ArrowDown}');
  expect(screen.getAllByRole('option')).toHaveLength(n);
  await userEvent.keyboard('{Escape}');
  expect([input.value, screen.queryByRole('listbox')]).toEqual([`Option ${n}`, null]);
});
