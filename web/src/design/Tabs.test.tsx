import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { fireEvent, screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { open } from '@/test/server';
import { Tabs } from './Page';

afterEach(() => vi.restoreAllMocks());

it('tabs that do not fit have the current one in view, and say at which ends there are more', async () => {
  vi.spyOn(HTMLElement.prototype, 'scrollWidth', 'get').mockReturnValue(600);
  const width = vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(300);
  vi.spyOn(HTMLElement.prototype, 'offsetWidth', 'get').mockReturnValue(60);
  vi.spyOn(HTMLElement.prototype, 'offsetLeft', 'get')
    .mockImplementation(function (this: HTMLElement) { return this.className === 'active' ? 270 : 0; });
  const root = createRootRoute({ component: Outlet });
  open(root.addChildren([createRoute({ getParentRoute: () => root, path: '/', component: () => (
    <Tabs label="Parts" tabs={[
      { label: 'First', to: '/', current: false }, { label: 'Second', to: '/', current: true },
      { label: 'Third', to: '/', current: false },
    ]} />
  ) })]), '/');
  const nav = await screen.findByRole('navigation', { name: 'Parts' });
  const ends = () => ['data-before', 'data-after'].filter((end) => nav.hasAttribute(end));
  expect(nav.scrollLeft).toBe(150);
  expect(ends()).toEqual(['data-before', 'data-after']);
  nav.scrollLeft = 300;
  fireEvent.scroll(nav);
  expect(ends()).toEqual(['data-before']);
  nav.scrollLeft = 0;
  fireEvent.scroll(nav);
  expect(ends()).toEqual(['data-after']);
  width.mockReturnValue(600); // the phone is turned
  fireEvent(window, new Event('resize'));
  expect(ends()).toEqual([]);
});
