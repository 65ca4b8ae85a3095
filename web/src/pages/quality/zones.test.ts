import { describe, expect, it } from 'vitest';
import { binsOf, sumOf, wilson, wrongWords, zonesOf } from './zones';

const bins = (at: Record<number, number>) => Array.from({ length: 101 }, (_, i) => at[i] ?? 0);

// spec: console-quality-page
describe('the zones of two thresholds', () => {
  it.each([
    ['that leave some to people', 0.6, 0.4, { no: 12, unsure: 5, yes: 40 }],
    ['that meet, where yes is looked at first', 0.5, 0.5, { no: 12, unsure: 0, yes: 45 }],
    ['that leave everything to people', 1, 0, { no: 0, unsure: 57, yes: 0 }],
    ['of which all are yes', 0, 0, { no: 0, unsure: 0, yes: 57 }],
  ])('%s have each answer once', (_, yes, no, zones) => {
    expect(zonesOf(bins({ 10: 2, 40: 10, 50: 5, 60: 30, 99: 10 }), yes, no)).toEqual(zones);
  });
});

it('a distribution is summed over its rows, of which one without bins adds nothing', () => {
  expect(sumOf([{ bins: bins({ 0: 1, 100: 2 }) }, { bins: null }, { bins: bins({ 100: 3 }) }])).toEqual(bins({ 0: 1, 100: 5 }));
});

it('labels are counted at the hundredth from which on they are', () => {
  const labels = [0, 0.2, 0.2, 1];
  const counts = Array.from({ length: 101 }, (_, i) => ({
    at: i / 100, from_yes: labels.filter((p) => p >= i / 100).length, from_no: 0, to_yes: 0, to_no: 0,
  }));
  expect(binsOf(counts)).toEqual(bins({ 0: 1, 20: 2, 100: 1 }));
});

describe('a share of labels', () => {
  it('has the interval that the API gives', () => {
    expect(wilson(412, 500)).toEqual({
      value: 0.824, low: expect.closeTo(0.78818582871064, 12), high: expect.closeTo(0.854873598670274, 12),
    });
    expect(wilson(0, 0)).toBeUndefined();
  });
  it('is said in whole percents, or that there is none', () => {
    expect(wrongWords(2, 50)).toBe('4% of 50 labels wrong, 1 to 13');
    expect(wrongWords(0, 0)).toBe('no labels');
  });
});
