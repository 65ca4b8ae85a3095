import type { DriftWindow } from '@/data/quality';
import { count } from '@/design';
import { rounded } from './figures';

/** What a window says, in words. */
export function windowWords({ results, alarm, probability, classes }: DriftWindow): string {
  const n = count(results, 'result');
  if (!probability || !classes) return `${n}, too few to compare`;
  if (!alarm) return `no drift in ${n}`;
  const what = [
    probability.alarm && `probabilities (${rounded(probability.psi)} above ${rounded(probability.limit)})`,
    classes.alarm && `answers (${rounded(classes.psi)} above ${rounded(classes.limit)})`,
  ].filter(Boolean).join(' and ');
  return `drift of ${what} in ${n}`;
}

/** Each time from the first window to the last one, those without results too. */
export function filled(windows: DriftWindow[], hours: number): { at: string; window: DriftWindow | undefined }[] {
  const [first, last] = [windows[0], windows.at(-1)];
  if (!first || !last) return [];
  const by = new Map(windows.map((window) => [Date.parse(window.from), window]));
  const all: { at: string; window: DriftWindow | undefined }[] = [];
  for (let at = Date.parse(first.from); at <= Date.parse(last.from); at += hours * 3_600_000) {
    all.push({ at: new Date(at).toISOString(), window: by.get(at) });
  }
  return all;
}
