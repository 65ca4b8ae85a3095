import { describe, expect, it } from 'vitest';
import { byDay, days, type Sum, totals, whole } from '@/data/usage';
import { usageSearch } from './search';

const sum = (part: Partial<Sum>): Sum => ({
  results: 1, failed: 0, input_tokens: 10, output_tokens: 1, cost: null, currency: null, ...part,
});

describe('the address of usage', () => {
  it('keeps filters as they are', () => {
    const search = { from: '2026-11-01', to: '2026-11-22', by: 'prism' as const, prism: 'tickets', sort: '-results' };
    expect(usageSearch(search)).toEqual(search);
  });
  it('leaves out what is no filter', () => {
    expect(usageSearch({ from: 'yesterday', by: 'hour', prism: 3, other: 'x', model: '' })).toEqual({});
  });
});

describe('sums', () => {
  it('of one day in two currencies are one day with two costs', () => {
    const found = totals([
      sum({ day: '2026-11-21', cost: 0.5, currency: 'USD' }), sum({ day: '2026-11-21', cost: 2, currency: 'EUR' }),
      sum({ day: '2026-11-21' }),
    ]);
    expect(found).toEqual([{
      name: '2026-11-21', results: 3, failed: 0, inputTokens: 30, outputTokens: 3, costs: { USD: 0.5, EUR: 2 },
    }]);
  });
  it('of a day without results are zero', () => {
    expect(byDay([sum({ day: '2026-11-21', results: 4 })], '2026-11-20', '2026-11-23').map((t) => [t.name, t.results])).toEqual([
      ['2026-11-20', 0], ['2026-11-21', 4], ['2026-11-22', 0],
    ]);
  });
  it('of a model that is not known stay apart', () => {
    expect(totals([sum({ model: null }), sum({ model: 'm' })]).map((t) => t.name)).toEqual([null, 'm']);
  });
  it('of costs are decimals', () => {
    const cents = [0.1, 0.2, 1e-12].map((cost) => sum({ cost, currency: 'USD' }));
    expect(whole(cents).costs).toEqual({ USD: 0.300000000001 });
  });
  it('add up', () =>
    expect(whole([sum({ failed: 1 }), sum({ results: 5 })])).toMatchObject({ results: 6, failed: 1, inputTokens: 20 }));
});

it('days go over the end of a month and a change of clocks', () => {
  expect(days('2026-10-24', '2026-10-27')).toEqual(['2026-10-24', '2026-10-25', '2026-10-26']);
  expect(days('2026-02-27', '2026-03-02')).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
});
