/** Pairs of label and answer, as a table with a row for each label. */
export type Counts = readonly (readonly number[])[];

/** How often each value was mistaken for another one, or another one for it. */
export function mistakesOf(counts: Counts): number[] {
  const sums = counts.map(() => 0);
  counts.forEach((row, label) => row.forEach((n, answer) => {
    if (label === answer) return;
    sums[label]! += n;
    sums[answer]! += n;
  }));
  return sums;
}

const inOrder = (places: number[]) => places.sort((a, b) => a - b);

/** The places of the values that are mistaken most often, in their order. */
export function mostConfused(counts: Counts, most: number): number[] {
  const sums = mistakesOf(counts);
  return inOrder([...sums.keys()].sort((a, b) => sums[b]! - sums[a]!).slice(0, most));
}

/** The place of a value and of those that it is mistaken for, or that are mistaken for it, most often, in their order. */
export function confusedWith(counts: Counts, at: number, most: number): number[] {
  const n = (other: number) => counts[at]![other]! + counts[other]![at]!;
  const others = [...counts.keys()].filter((other) => other !== at && n(other) > 0).sort((a, b) => n(b) - n(a));
  return inOrder([at, ...others.slice(0, most - 1)]);
}

/** The table of some values, with a last row and column of all others; `right` is how many of those others were right. */
export function folded(counts: Counts, places: number[]): { counts: number[][]; right: number } {
  const kept = new Map(places.map((place, i) => [place, i]));
  const last = places.length;
  const table = Array.from({ length: last + 1 }, () => Array<number>(last + 1).fill(0));
  let right = 0;
  counts.forEach((row, label) => row.forEach((n, answer) => {
    table[kept.get(label) ?? last]![kept.get(answer) ?? last]! += n;
    if (label === answer && !kept.has(label)) right += n;
  }));
  return { counts: table, right };
}

/** The label and answer that are most often taken for each other, the first of several. */
export function worstPair(counts: Counts): { label: number; answer: number; n: number } | undefined {
  let worst: { label: number; answer: number; n: number } | undefined;
  counts.forEach((row, label) => row.forEach((n, answer) => {
    if (label !== answer && n > (worst?.n ?? 0)) worst = { label, answer, n };
  }));
  return worst;
}
