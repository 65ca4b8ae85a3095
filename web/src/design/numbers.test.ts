import { describe, expect, it } from 'vitest';
import {
  ago, count, duration, exactly, exactTime, money, percent, short, shown, typedNumber, wholePercent,
} from './numbers';

describe('numbers', () => {
  it.each([['0.5', 0.5], ['0,5', 0.5], [' 12 ', 12], ['1000', 1000], ['1,000', NaN], ['1,5,0', NaN], ['', NaN], ['a', NaN]])(
    'that are typed as %j are %j', (text, value) => expect(typedNumber(text)).toBe(value));
  it('have 4 significant digits unless they are whole', () => {
    expect(shown(0.123456)).toBe('0.1235');
    expect(shown(12.345678)).toBe('12.35');
    expect(shown(1234567)).toBe('1,234,567');
    expect(shown(0)).toBe('0');
  });
  it('are exact in titles', () => {
    expect(exactly(0.000000000001)).toBe('0.000000000001');
    expect(exactly(1234.5678)).toBe('1,234.5678');
  });
  it('of parts never read as all or nothing unless they are', () => {
    expect(percent(0)).toBe('0%');
    expect(percent(0.0004)).toBe('<0.1%');
    expect(percent(0.9996)).toBe('>99.9%');
    expect(percent(1)).toBe('100%');
    expect(percent(0.756)).toBe('75.6%');
  });
  it('of money carry the sign of the currency, or its code if it has none', () => {
    expect(money(1234.5, 'USD')).toBe('$1,235');
    expect(money(0.004801, 'USD')).toBe('$0.004801');
    expect(money(2, 'credits')).toBe('2 credits');
    expect(money(2.5, null)).toBe('2.5');
  });
  it('are short on axes', () => expect([short(1500), short(2_000_000)]).toEqual(['1.5K', '2M']));
  it('count things', () => expect([count(1, 'result'), count(1200, 'result'), count(2, 'entry', 'entries')]).toEqual([
    '1 result', '1,200 results', '2 entries',
  ]));
});

describe('times', () => {
  const now = Date.parse('2026-11-22T12:00:00.000Z');
  const before = (seconds: number) => ago(now - seconds * 1000, now);
  it('are said as people say them', () => {
    expect(before(3)).toBe('now');
    expect(before(42)).toBe('42 seconds ago');
    expect(before(60)).toBe('1 minute ago');
    expect(before(3600)).toBe('1 hour ago');
    expect(before(86_400)).toBe('yesterday');
    expect(before(-3 * 86_400)).toBe('in 3 days');
    expect(before(400 * 86_400)).toBe('last year');
  });
  it('never round up to a whole larger unit', () => {
    expect(before(59.7)).toBe('1 minute ago');
    expect(before(23.6 * 3600)).toBe('yesterday');
  });
  it('are exact in UTC as the API has them', () =>
    expect(exactTime('2026-11-22T12:00:00.123Z')).toContain('2026-11-22 12:00:00.123 UTC\n'));
  it('that pass have two units at most', () => {
    expect([duration(850), duration(1240), duration(185_000), duration(7_800_000), duration(60_000)]).toEqual([
      '850 ms', '1.2 s', '3 min 5 s', '2 h 10 min', '1 min',
    ]);
  });
});

it('says a part without room, and never that a part is all or nothing', () => {
  expect([0, 0.001, 0.005, 0.456, 0.994, 0.996, 1].map(wholePercent)).toEqual(['0%', '<1%', '1%', '46%', '99%', '>99%', '100%']);
});
