import type { Thresholds } from '@/data/quality';
import { around, whole } from './figures';

/** How many answers are no, left to a person, and yes. */
export interface Zones {
  no: number;
  unsure: number;
  yes: number;
}

export type Zone = keyof Zones;

/** What an answer whose probability of yes is `hundredths` becomes; yes is looked at before no. */
export function zoneOf(hundredths: number, yesAt: number, noAt: number): Zone {
  if (hundredths >= Math.round(yesAt * 100)) return 'yes';
  return hundredths <= Math.round(noAt * 100) ? 'no' : 'unsure';
}

/** How many answers of which probability, in hundredths, are in each zone. */
export function zonesOf(bins: number[], yesAt: number, noAt: number): Zones {
  const zones: Zones = { no: 0, unsure: 0, yes: 0 };
  bins.forEach((n, i) => { zones[zoneOf(i, yesAt, noAt)] += n; });
  return zones;
}

/** The answers of all rows of a distribution, by their probability in hundredths. */
export function sumOf(rows: { bins: number[] | null }[]): number[] {
  const sum = Array<number>(101).fill(0);
  for (const { bins } of rows) bins?.forEach((n, i) => { sum[i]! += n; });
  return sum;
}

/** The labels by their probability, from one hundredth to the next one. */
export function binsOf(counts: Thresholds['counts']): number[] {
  const from = counts.map((c) => c.from_yes + c.from_no);
  return from.map((n, i) => n - (from[i + 1] ?? 0));
}

/** The share of `k` in `n` with its 95% interval by Wilson, as the API computes that of accuracy; undefined without any. */
export function wilson(k: number, n: number): { value: number; low: number; high: number } | undefined {
  if (n === 0) return undefined;
  const z = 1.959963984540054;
  const [p, by] = [k / n, 1 + (z * z) / n];
  const middle = (p + (z * z) / (2 * n)) / by;
  const half = (z / by) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return { value: p, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** `4% of 53 labels wrong, 2 to 6` */
export function wrongWords(wrong: number, all: number): string {
  const of = wilson(wrong, all);
  return of ? `${whole(of.value)}% of ${all} labels wrong, ${around(of)}` : 'no labels';
}
