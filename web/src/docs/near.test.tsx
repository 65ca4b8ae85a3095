import { readFileSync } from 'node:fs';
import { act, cleanup, render } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type OpenApi, read } from './document';
import { Schemas } from './Members';
import { OperationArticle } from './OperationArticle';

const { groups, schemas } = read(JSON.parse(readFileSync('../services/gateway/internal/apidoc/openapi.json', 'utf8')) as OpenApi);
const operations = groups.flatMap((group) => group.operations);

let seen: (part: Element) => void;

beforeEach(() => {
  seen = () => {};
  vi.stubGlobal('IntersectionObserver', class {
    constructor(told: (entries: { isIntersecting: boolean; target: Element }[]) => void) {
      seen = (target) => told([{ isIntersecting: true, target }]);
    }
    observe() {}
    unobserve() {}
  });
  vi.stubGlobal('CSS', { supports: () => true });
});
afterEach(() => { cleanup(); location.hash = ''; vi.unstubAllGlobals(); });

const show = () => render(
  <Schemas value={schemas}>{operations.map((each) => <OperationArticle key={each.id} operation={each} />)}</Schemas>,
);
const part = (id: string) => document.getElementById(id)!;
const drawn = () => operations.filter(({ id }) => !part(id).querySelector('.in-words')).map(({ id }) => id);

// spec: docs-page
test('a call is in words until it comes near, in an element for hundreds', () => {
  show();
  expect(drawn()).toEqual([]);
  expect(document.querySelectorAll('article *').length / operations.length).toBeLessThan(12);
  const words = part('createResult').textContent;
  for (const said of ['idempotency_key', 'Prism not found']) expect(words).toContain(said);
  act(() => seen(part('createResult')));
  expect(drawn()).toEqual(['createResult']);
  expect(part('createResult.body.idempotency_key')).toBeTruthy();
  expect(part('createResult').querySelector('.errors table')).toBeNull();
  expect(part('createResult').querySelector('.errors')!.textContent).toContain('Prism not found');
});

test('a call is drawn when the address names something in it', () => {
  show();
  act(() => { location.hash = '#createResult.body.idempotency_key'; dispatchEvent(new Event('hashchange')); });
  expect(drawn()).toEqual(['createResult']);
});

test('all calls are drawn for print', () => {
  show();
  act(() => { dispatchEvent(new Event('beforeprint')); });
  expect(drawn()).toHaveLength(operations.length);
});
