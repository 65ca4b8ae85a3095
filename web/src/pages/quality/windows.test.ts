import { describe, expect, it } from 'vitest';
import type { DriftWindow } from '@/data/quality';
import { filled, windowWords } from './windows';

const window = (from: string, more: Partial<DriftWindow> = {}): DriftWindow => ({
  from, to: from, results: 150, alarm: false, probability: { psi: 0.05, limit: 0.1, alarm: false },
  classes: { psi: 0.02, limit: 0.1, alarm: false }, ...more,
});

describe('drift', () => {
  it('has a gap for each hour or day without results', () => {
    const hours = filled([window('2026-11-23T01:00:00.000Z'), window('2026-11-23T03:00:00.000Z')], 1);
    expect(hours.map(({ at, window }) => [at.slice(11, 16), window !== undefined])).toEqual([
      ['01:00', true], ['02:00', false], ['03:00', true],
    ]);
    expect(filled([window('2026-11-20T00:00:00.000Z'), window('2026-11-23T00:00:00.000Z')], 24)).toHaveLength(4);
    expect(filled([], 1)).toEqual([]);
  });
  it('is said in words', () => {
    expect(windowWords(window(''))).toBe('no drift in 150 results');
    expect(windowWords(window('', { results: 12, probability: null, classes: null }))).toBe('12 results, too few to compare');
    expect(windowWords(window('', { alarm: true, classes: { psi: 0.31, limit: 0.12, alarm: true } }))).toBe(
      'drift of answers (0.31 above 0.12) in 150 results',
    );
  });
});
