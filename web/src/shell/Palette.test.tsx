import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { open, serve } from '@/test/server';
import { useActions } from './actions';
import { KeyList, Palette } from './Palette';

afterEach(() => { vi.unstubAllGlobals(); });

const id = '0193a3f0-0000-7000-8000-000000000000';
const root = createRootRoute({ component: Outlet });
const tree =
  root.addChildren([createRoute({ getParentRoute: () => root, path: '$', component: () => <Palette onClose={() => {}} /> })]);

it.each([
  ['a prism by its name', 'supp', 'Support messages', '/prisms/support'],
  ['a prism by its slug', 'upport', 'Support messages', '/prisms/support'],
  ['a result by its id', ` ${id.toUpperCase()} `, id, `/results/${id}`],
])('the palette finds %s, from any page', async (_, typed, label, address) => {
  await serve('reader', ({ path }) => path === '/v1/prisms'
    ? Response.json({ data: [{ id: 'p', slug: 'support', name: 'Support messages' }], next_cursor: null }) : undefined);
  const router = open(tree, '/anywhere');
  fireEvent.change(await screen.findByRole('combobox'), { target: { value: typed } });
  const found = await screen.findAllByText(label);
  fireEvent.click(found[0]!);
  await waitFor(() => expect(router.state.location.pathname).toBe(address));
});

it('the list of keys leaves out what a page has for itself', () => {
  const Page = () => {
    useActions([{ id: 'down', group: 'Label', label: 'Next question', keys: 'j', run: () => {} }]);
    return <KeyList onClose={() => {}} />;
  };
  render(<Page />);
  const keys = [...document.querySelectorAll('.keys dl > div')].map((line) => line.textContent);
  expect(keys).toEqual(['Find anythingCtrl K', 'Previous rowk', 'Open the rowEnter', 'Close one layerEsc', 'Next questionj']);
});
