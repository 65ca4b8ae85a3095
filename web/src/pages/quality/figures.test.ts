import { describe, expect, it } from 'vitest';
import { ApiError } from '@/api';
import { tooFew } from '@/data/quality';
import { worstPair } from './confused';
import {
  binWords, coverageWords, figure, fixed, leaning, leaningShort, milestone, outcome, rightWords, share, sharesOfCounts,
  sharesOfCoverage, verdictWords, writtenAs,
} from './figures';
import { labelSearch, qualitySearch } from './search';

const bin = (mean: number, low: number, high: number) => ({ n: 33, mean, rate: (low + high) / 2, low, high });

/** The counts of the API for labels, each with its probability of yes. */
const countsOf = (labels: [number, boolean][]) => Array.from({ length: 101 }, (_, i) => {
  const at = i / 100;
  const n = (yes: boolean, from: boolean) => labels.filter(([p, label]) => label === yes && (from ? p >= at : p <= at)).length;
  return { at, from_yes: n(true, true), from_no: n(false, true), to_yes: n(true, false), to_no: n(false, false) };
});

describe('words', () => {
  it('say a point of the diagram', () => {
    expect(binWords({ n: 33, mean: 0.8012, rate: 0.7101, low: 0.64, high: 0.78 }, 'choice')).toBe(
      'Answers near 80% were right 71% of the time, 64 to 78, of 33 labels.',
    );
    expect(binWords({ n: 1200, mean: 0.1, rate: 0.2, low: 0.1, high: 0.3 }, 'yes_no')).toBe(
      'Answers near 10% were yes 20% of the time, 10 to 30, of 1,200 labels.',
    );
  });
  it('say on which side of the diagonal points are', () => {
    expect(leaning([bin(0.5, 0.4, 0.6)], 'choice')).toMatch(/^All 1 point agree/);
    expect(leaning([bin(0.5, 0.4, 0.6), bin(0.9, 0.5, 0.8)], 'choice')).toBe('1 of 2 points is off the diagonal: too sure.');
    expect(leaning([bin(0.2, 0.3, 0.6), bin(0.9, 0.5, 0.8)], 'choice')).toBe(
      '2 of 2 points are off the diagonal: 1 too sure and 1 too hesitant.',
    );
  });
  it('say of a yes_no that it is too sure also where it is too sure of no', () => {
    const of = (mean: number, low: number, high: number) => leaningShort([bin(mean, low, high)], 'yes_no');
    expect([of(0.1, 0.2, 0.3), of(0.9, 0.6, 0.8), of(0.3, 0.1, 0.2), of(0.7, 0.8, 0.9), of(0.5, 0.4, 0.6)]).toEqual(
      ['too sure', 'too sure', 'too hesitant', 'too hesitant', 'yes'],
    );
  });
  it('say what a verdict is', () => {
    const none = { value: 0, low: -0.1, high: 0.1 };
    const [less, more] = [{ value: -0.2, low: -0.3, high: -0.1 }, { value: 0.2, low: 0.1, high: 0.3 }];
    for (const [verdict, p, onlyA, onlyB, brier, words] of [
      ['better', 0.001, 2, 20, less, 'Version 2 is better than version 1: more often right, with better probabilities.'],
      ['worse', 0.001, 20, 2, none, 'Version 2 is worse than version 1: less often right.'],
      ['better', 0.4, 5, 6, less,
        'The probabilities of version 2 are better than those of version 1; how often each is right is not distinguishable.'],
      ['not distinguishable with 83 labels', 0.4, 5, 6, none, 'Versions 1 and 2 are not distinguishable with 83 labels.'],
      ['not distinguishable with 83 labels', 0.0004, 2, 20, more,
        'Version 2 is more often right than version 1, and its probabilities are worse.'],
      ['not distinguishable with 83 labels', 0.0004, 20, 2, less,
        'Version 2 is less often right than version 1, and its probabilities are better.'],
    ] as const) {
      expect(verdictWords({
        a: { version: 1 }, b: { version: 2 }, verdict, mcnemar: { p, only_a: onlyA, only_b: onlyB }, differences: { brier },
      })).toBe(words);
    }
  });
  it('say what a verdict on several options together is', () => {
    const none = { value: 0, low: -0.1, high: 0.1 };
    const [less, more] = [{ value: -0.2, low: -0.3, high: -0.1 }, { value: 0.2, low: 0.1, high: 0.3 }];
    const retrieval = { precision: null, recall: null, f1: null };
    for (const [verdict, p, onlyA, onlyB, hamming_loss, words] of [
      ['better', 0.001, 2, 20, less,
        'Version 2 is better than version 1: all options are more often right, and fewer of its options are wrong.'],
      ['worse', 0.001, 20, 2, none, 'Version 2 is worse than version 1: all options are less often right.'],
      ['better', 0.3, 12, 20, less, 'Version 2 is better than version 1: fewer of its options are wrong.'],
      ['not distinguishable with 9 labels', 0.3, 12, 20, none, 'Versions 1 and 2 are not distinguishable with 9 labels.'],
      ['not distinguishable with 9 labels', 0.001, 2, 20, more,
        'Of version 2 all options are more often right than of version 1, but more of its options are wrong.'],
    ] as const) {
      expect(verdictWords({
        a: { version: 1 }, b: { version: 2 }, verdict, mcnemar: { p, only_a: onlyA, only_b: onlyB },
        differences: { brier: null, tags: { exact_match: none, hamming_loss, micro: retrieval, macro: retrieval } },
      })).toBe(words);
    }
  });
  it('say how often answers are right in whole percents', () => {
    expect(rightWords({ value: 0.2414, low: 0.1355, high: 0.3905 })).toBe('24% right, 14 to 39');
  });
  it('say figures with three digits, or shares as percentages, and their interval', () => {
    const of = { value: 0.8241, low: 0.79, high: 0.8549 };
    expect(figure(of)).toBe('0.824, 0.790 to 0.855');
    expect([figure(of, writtenAs('accuracy')), figure(of, writtenAs('brier'))]).toEqual(
      ['82.4%, 79.0 to 85.5%', '0.824, 0.790 to 0.855'],
    );
    expect([share(-0.0004), share(-0.25)]).toEqual(['0.0%', '−25.0%']);
    expect([fixed(-0.0004), fixed(-0.25)]).toEqual(['0.000', '−0.250']);
    expect(coverageWords({ at: 0.92, kept: 0.6, risk: 0.031 })).toMatch(
      /^Keeping answers from 92% up keeps 60% of them, of which 3.1% are wrong\./,
    );
  });
});

describe('the histogram', () => {
  it('of coverage has every answer once, at its least probability', () => {
    const shares = sharesOfCoverage([{ at: 1, kept: 0.1 }, { at: 0.9, kept: 0.5 }, { at: 0.61, kept: 1 }], 10);
    expect(shares.map((share) => Math.round(share * 100) / 100)).toEqual([0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0.5]);
  });
  it('of counts has every label once, that with probability 1 too', () => {
    const shares = sharesOfCounts(countsOf([[0, false], [0.049, false], [0.05, true], [0.5, true], [1, true]]));
    expect(shares[0]).toBeCloseTo(0.4);
    expect([shares[1], shares[10], shares[19]]).toEqual([expect.closeTo(0.2), expect.closeTo(0.2), expect.closeTo(0.2)]);
    expect(shares.reduce((a, b) => a + b)).toBeCloseTo(1);
  });
});

describe('what thresholds do', () => {
  const labels: [number, boolean][] = [[0.1, false], [0.3, true], [0.5, true], [0.5, false], [0.7, false], [0.9, true]];
  const costs = { false_yes: 5, false_no: 2, unsure: 0.5 };
  // As the API computes it, label by label.
  const expected = (yesAt: number, noAt: number) => {
    const made = { yes: 0, no: 0, unsure: 0, false_yes: 0, false_no: 0 };
    for (const [p, label] of labels) {
      if (p >= yesAt) {
        made.yes++;
        if (!label) made.false_yes++;
      } else if (p <= noAt) { made.no++; if (label) made.false_no++; } else made.unsure++;
    }
    const total = made.false_yes * 5 + made.false_no * 2 + made.unsure * 0.5;
    return { yes_at: yesAt, no_at: noAt, ...made, total, mean: total / labels.length };
  };
  it.each([[0.6, 0.4], [0.5, 0.3], [0.5, 0.5], [0, 0], [1, 1], [1, 0], [0.7, 0.69]])('from %d and up to %d is what the API says',
    (yesAt, noAt) => {
      expect(outcome(countsOf(labels), costs, yesAt, noAt)).toEqual(expected(yesAt, noAt));
    });
});

it('the next labels are needed for measures, the diagram, and calibrations', () => {
  expect([0, 30, 100].map((n) => milestone(n, 'choice')?.need)).toEqual([30, 100, undefined]);
  expect([0, 99, 100, 200, 1000].map((n) => milestone(n, 'yes_no')?.need)).toEqual([30, 100, 200, 1000, undefined]);
});

it('too few labels are read out of the error', () => {
  expect(tooFew(new ApiError(409, 'conflict', 'Too few labels: 12 of 30.'))).toEqual({ have: 12, need: 30 });
  expect(tooFew(new ApiError(409, 'conflict', 'Too few labels of one class: 7 of 20.'))).toEqual({ have: 7, need: 20 });
  expect(tooFew(new ApiError(409, 'conflict', 'No calibration is better than none.'))).toBeUndefined();
});

it('the most frequent mistake is off the diagonal', () => {
  expect(worstPair([[50, 3, 0], [9, 20, 1], [0, 9, 4]])).toEqual({ label: 1, answer: 0, n: 9 });
  expect(worstPair([[5, 0], [0, 2]])).toBeUndefined();
});

it('addresses that somebody may have typed are read', () => {
  expect(qualitySearch({
    version: '2', question: 'topic', tab: 'coverage', calibrated: 'true', yes_at: '0.613', false_yes: -1, unsure: 0, with: 'x',
  }))
    .toEqual({ version: 2, question: 'topic', tab: 'coverage', calibrated: true, yes_at: 0.61, unsure: 0 });
  expect(qualitySearch({ tab: 'nothing', version: 0 })).toEqual({});
  expect(labelSearch({ question: 'topic', order: 'uncertain', answers: true, version: 'a' })).toEqual({
    question: 'topic', order: 'uncertain', answers: true,
  });
  expect(labelSearch({ order: 'random' })).toEqual({});
});
