import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test } from 'vitest';
import { EditingProvider, Text } from './Control';
import { Items } from './Items';

function List() {
  const [items, setItems] = useState([{ id: '1', key: 'a' }, { id: '2', key: 'b' }, { id: '3', key: 'c' }]);
  return (
    <Items items={items} onChange={setItems} noun="option" nameOf={(item) => item.key}>
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
  expect(screen.getByText('Required.')).toBeTruthy();
});
