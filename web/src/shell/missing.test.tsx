import { createRootRoute, createRoute, lazyRouteComponent, Outlet } from '@tanstack/react-router';
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { open } from '@/test/server';
import { Failed } from './Failed';

const reload = vi.fn();

beforeEach(() => {
  sessionStorage.clear();
  reload.mockReset();
  const { origin, href, pathname, search, hash } = window.location;
  vi.stubGlobal('location', { origin, href, pathname, search, hash, reload });
});
afterEach(() => {
  vi.unstubAllGlobals();
  document.body.innerHTML = '';
});

// As a replica of another release answers for the files of a page.
const missing = 'Unable to preload CSS for /console/assets/Runs-4f5a6b7c.css';

function tree(message: string) {
  const root = createRootRoute({ component: Outlet });
  return root.addChildren([createRoute({
    getParentRoute: () => root, path: '/runs', errorComponent: Failed,
    component: lazyRouteComponent(() => Promise.reject(new Error(message)), 'Runs'),
  })]);
}

// spec: console-missing-files
it('a page whose files are missing is loaded once more, and then says so', async () => {
  open(tree(missing), '/runs');
  await waitFor(() => expect(reload).toHaveBeenCalledOnce());
  document.body.innerHTML = '';
  open(tree(missing), '/runs');
  expect(await screen.findByRole('heading', { name: 'This page could not be loaded' })).toBeTruthy();
  expect(reload).toHaveBeenCalledOnce();
  fireEvent.click(screen.getByRole('button', { name: 'Reload' }));
  expect(reload).toHaveBeenCalledTimes(2);
});

// spec: console-missing-files
it('a page that the router loaded once more is not loaded a second time', async () => {
  const script = 'Failed to fetch dynamically imported module: /console/assets/Runs-4f5a6b7c.js';
  sessionStorage.setItem(`tanstack_router_reload:${script}`, '1');
  open(tree(script), '/runs');
  expect(await screen.findByRole('button', { name: 'Reload' })).toBeTruthy();
  expect(reload).not.toHaveBeenCalled();
  expect(sessionStorage.length).toBe(0);
});

it('a page that is wrong is not loaded again', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  open(tree('x is not a function'), '/runs');
  expect(await screen.findByRole('heading', { name: 'This page could not be shown' })).toBeTruthy();
  expect(reload).not.toHaveBeenCalled();
});

/** Loads the page anew, up to the event `load`, without some of its files. */
function load(...without: ('script' | 'stylesheet')[]) {
  document.body.innerHTML = '<div id="root"></div>';
  new Function(readFileSync('public/start.js', 'utf8'))();
  for (const what of without) {
    const file = what === 'script'
      ? document.createElement('script') : Object.assign(document.createElement('link'), { rel: 'stylesheet' });
    document.body.append(file);
    file.dispatchEvent(new Event('error'));
  }
  dispatchEvent(new Event('load'));
}

// spec: console-missing-files
it('an app whose files are missing is loaded once more, and then says so instead of staying empty', () => {
  load('stylesheet', 'script');
  expect(reload).toHaveBeenCalledOnce();
  expect(screen.queryByRole('alert')).toBeNull();
  load('script');
  expect(reload).toHaveBeenCalledOnce();
  expect(screen.getByRole('heading', { name: 'Prism could not be loaded' })).toBeTruthy();
  expect(screen.getByRole('alert').textContent).toContain('reload the page in a moment');
  fireEvent.click(screen.getByRole('button', { name: 'Reload' }));
  expect(reload).toHaveBeenCalledTimes(2);
});

it('an app that loads is loaded once more the next time too, and never for what is missing later', () => {
  load('script');
  load();
  document.body.append(Object.assign(document.createElement('script')));
  document.querySelector('script')!.dispatchEvent(new Event('error'));
  expect(reload).toHaveBeenCalledOnce();
  load('script');
  expect(reload).toHaveBeenCalledTimes(2);
});

it('an app without a style sheet alone is shown as it is', () => {
  load('stylesheet');
  load('stylesheet');
  expect(reload).toHaveBeenCalledOnce();
  expect(document.getElementById('root')!.textContent).toBe('');
});
