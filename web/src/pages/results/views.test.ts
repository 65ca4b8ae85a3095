import { describe, expect, it } from 'vitest';
import { resultsSearch } from './search';
import { changed, filtersOf, firstOf, searchOf, type View, viewsOf } from './views';

const view = (id: string, filters: View['filters'], more: Partial<View> = {}): View =>
  ({ id, name: id, filters, columns: null, default: false, created_at: '', ...more });
const angry = view('angry', { prism: 'support', where: ['topic:is:billing', 'topic:from:0.8'], sort: '-upset' });

describe('a view', () => {
  it('has the filters and the order of the address, and not its open row', () => {
    const search = { ...angry.filters, open: 'id', view: 'old' };
    expect(filtersOf(search)).toEqual(angry.filters);
  });

  it('is the whole address when it is opened', () => {
    const now = { q: 'refund', status: 'failed', open: 'id', sort: '@took' };
    expect(resultsSearch({ ...now, ...searchOf(angry) })).toEqual({ ...angry.filters, view: 'angry' });
  });

  it('is changed by another filter or order, and not by a row that is opened', () => {
    expect(changed(angry, { view: 'angry', open: 'id', ...angry.filters })).toBe(false);
    expect(changed(angry, { view: 'angry', ...angry.filters, sort: 'upset' })).toBe(true);
    expect(changed(angry, { view: 'angry', ...angry.filters, q: 'x' })).toBe(true);
    const since = view('since', { from: '2026-11-01T00:00:00Z' as never });
    expect(changed(since, { from: '2026-11-01T00:00:00.000Z' })).toBe(false);
  });
});

describe('the tabs', () => {
  const all = [angry, view('zero', {}), view('other', { prism: 'spam' }, { default: true }), view('all', {}, { default: true })];

  it('are every view of the account, and on the page of a prism its own', () => {
    expect(viewsOf(all, undefined).map(({ id }) => id)).toEqual(['all', 'angry', 'other', 'zero']);
    expect(viewsOf(all, 'support').map(({ id }) => id)).toEqual(['angry']);
  });

  it('begin with the default one of the page', () => {
    const first = [undefined, 'spam', 'support'].map((prism) => firstOf(all, prism)?.id);
    expect(first).toEqual(['all', 'other', undefined]);
  });
});
