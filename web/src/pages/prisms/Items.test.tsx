import { act, fireEvent, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test, vi } from 'vitest';
import { EditingProvider, Text } from './Control';
import { Items } from './Items';
import { placeAt } from './useDrag';

function List({ most = 4 }: { most?: number }) {
  const [items, setItems] = useState([{ id: '1', key: 'a' }, { id: '2', key: 'b' }, { id: '3', key: 'c' }]);
  return (
    <Items items={items} onChange={setItems} noun="option" nameOf={(item) => item.key}
      add={{ label: 'Add option', most, enter: true, make: () => ({ id: crypto.randomUUID(), key: '' }) }}>
      {(item, _, update, buttons) => (
        <>
          <input aria-label={item.key} value={item.key} onChange={(event) => update({ ...item, key: event.target.value })} />
          {buttons}
        </>
      )}
    </Items>
  );
}

const order = () => screen.getAllByRole('textbox').map((input) => (input as HTMLInputElement).value).join('');

test('Alt and the arrows move an item and keep the focus in it', async () => {
  const user = userEvent.setup();
  render(<List />);
  await user.click(screen.getByLabelText('a'));
  await user.keyboard('{Alt>}{ArrowDown}{ArrowDown}{ArrowDown}{/Alt}');
  expect(order()).toBe('bca');
  expect(document.activeElement).toBe(screen.getByLabelText('a'));
  expect(screen.getByText('option a is now 3 of 3')).toBeTruthy();
});

test('Enter adds an item below and goes there, up to the most', async () => {
  const user = userEvent.setup();
  render(<List />);
  await user.click(screen.getByLabelText('a'));
  await user.keyboard('{Enter}');
  const inputs = screen.getAllByRole('textbox');
  await waitFor(() => expect(document.activeElement).toBe(inputs[1]));
  await user.keyboard('x');
  expect(order()).toBe('axbc');
  await user.keyboard('{Enter}');
  expect(order()).toBe('axbc');
});

test('a handle drags an item past the middles of others, until it is let go', () => {
  render(<List />);
  // Rows of 40 px, in the order in which they stand.
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(function (this: Element) {
    const at = [...this.parentElement!.children].indexOf(this);
    return { top: at * 40, bottom: at * 40 + 40 } as DOMRect;
  });
  const to = (clientY: number) => document.dispatchEvent(new MouseEvent('pointermove', { clientY }));
  act(() => void screen.getByTitle('Drag option a').dispatchEvent(
    new MouseEvent('pointerdown', { bubbles: true, cancelable: true, button: 0 }),
  ));
  act(() => void to(55));
  expect(order()).toBe('abc');
  act(() => void to(65));
  expect(order()).toBe('bac');
  act(() => void to(119));
  expect(order()).toBe('bca');
  act(() => void document.dispatchEvent(new MouseEvent('pointerup')));
  act(() => void to(0));
  expect(order()).toBe('bca');
  expect(placeAt(0, [{ top: 0, bottom: 40 }, { top: 40, bottom: 400 }], 1)).toBe(0);
});

// spec: console-many-options
test('with what they use, only the items that change are drawn again, and each changes the newest list', () => {
  const drawn: number[] = [];
  let now: { id: string; key: string }[] = [];
  function Many() {
    const [items, setItems] = useState(Array.from({ length: 255 }, (_, i) => ({ id: `${i}`, key: `${i}` })));
    now = items;
    return (
      <Items items={items} onChange={setItems} noun="option" nameOf={(item) => item.key} uses={[]}>
        {(item, i, update) => {
          drawn.push(i);
          return <input data-at={i} value={item.key} onChange={(event) => update({ ...item, key: event.target.value })} />;
        }}
      </Items>
    );
  }
  render(<Many />);
  expect(drawn).toHaveLength(255);
  const change = (at: number, value: string) =>
    fireEvent.change(document.querySelector(`[data-at="${at}"]`)!, { target: { value } });
  change(7, 'x');
  change(200, 'y');
  expect(drawn.slice(255)).toEqual([7, 200]);
  expect([now[7]!.key, now[200]!.key]).toEqual(['x', 'y']);
});

test('buttons move and remove an item', async () => {
  const user = userEvent.setup();
  render(<List />);
  await user.click(screen.getByRole('button', { name: 'Move option b up' }));
  expect(order()).toBe('bac');
  await user.click(screen.getByRole('button', { name: 'Remove option a' }));
  expect(order()).toBe('bc');
});

test('a problem of an empty control is shown when it was left', async () => {
  const user = userEvent.setup();
  render(
    <EditingProvider value={{ problems: new Map([['slug', 'Required.']]), all: false, disabled: false }}>
      <Text path="slug" label="Slug" value="" onChange={() => {}} />
    </EditingProvider>,
  );
  expect(screen.queryByText('Required.')).toBeNull();
  await user.click(screen.getByLabelText('Slug'));
  await user.tab();
  expect(await screen.findByText('Required.')).toBeTruthy();
});

test('a press that leaves an empty control keeps its click: the problem is shown behind it', async () => {
  const user = userEvent.setup();
  render(
    <EditingProvider value={{ problems: new Map([['slug', 'Required.']]), all: false, disabled: false }}>
      <Text path="slug" label="Slug" value="" onChange={() => {}} />
      <button>Below</button>
    </EditingProvider>,
  );
  await user.click(screen.getByLabelText('Slug'));
  const at = { target: screen.getByRole('button', { name: 'Below' }) };
  await user.pointer({ keys: '[MouseLeft>]', ...at });
  expect(document.activeElement).toBe(at.target);
  await new Promise((done) => setTimeout(done));
  expect(screen.queryByText('Required.')).toBeNull();
  await user.pointer({ keys: '[/MouseLeft]', ...at });
  expect(await screen.findByText('Required.')).toBeTruthy();
});
