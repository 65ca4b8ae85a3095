import { lackingKey, labelOf, type Question } from '@/answers/words';
import type { Bin } from '@/charts';
import { percent, shown } from '@/design';
import type { Comparison, Costs, Figure, Measured, Threshold, Thresholds } from './calls';

/** The names of measures, in the order of the API, with what they say and which way is better. */
export const measures = [
  ['accuracy', 'Accuracy', 'Share of answers that are right', 'more'],
  ['log_loss', 'Log loss', 'Mean of −ln p of the label', 'less'],
  ['brier', 'Brier score', 'Squared error of the probabilities', 'less'],
  ['macro_f1', 'Macro F1', 'Mean of F1 over the options', 'more'],
  ['rps', 'Ranked probability score', 'Squared error of the cumulated probabilities', 'less'],
  ['mae', 'Mean absolute error', 'Distance of level and label, in levels', 'less'],
  ['kappa', 'Weighted kappa', 'Agreement beyond chance, 1 is perfect', 'more'],
  ['ece', 'Calibration error', 'Distance from the diagonal, debiased', 'less'],
  ['ece_plain', 'Calibration error, plain', 'The same, too high with few labels', 'less'],
] as const;

/** `0.6`, with at most three digits behind the point. */
export function rounded(value: number): string {
  return shown(Math.round(value * 1000) / 1000);
}

/** `0.820`, with three digits behind the point, so that figures stand below each other; their intervals are wider than that. */
export function fixed(value: number): string {
  return (Math.round(value * 1000) / 1000 || 0).toFixed(3).replace('-', '−');
}

/** `0.788 to 0.855`. */
export function interval({ low, high }: { low: number; high: number }): string {
  return `${fixed(low)} to ${fixed(high)}`;
}

/** `0.824, 0.788 to 0.855` */
export function figure(f: Figure): string {
  return `${fixed(f.value)}, ${interval(f)}`;
}

const whole = (p: number) => Math.round(p * 100);

/** A point of the reliability diagram: `Answers near 0.8 were right 71% of the time, 64 to 78, of 33 labels.` */
export function binWords(bin: Bin, type: Measured['type']): string {
  const near = shown(Math.round(bin.mean * 100) / 100);
  return `Answers near ${near} were ${type === 'yes_no' ? 'yes' : 'right'} ${whole(bin.rate)}% of the time, `
    + `${whole(bin.low)} to ${whole(bin.high)}, of ${shown(bin.n)} labels.`;
}

/** Whether probabilities are too high, too low or neither, of the bins whose interval leaves out the diagonal. */
export function leaning(bins: Bin[]): string {
  const above = bins.filter((bin) => bin.low > bin.mean).length;
  const below = bins.filter((bin) => bin.high < bin.mean).length;
  const off = above + below;
  if (off === 0) {
    return `All ${bins.length} points agree with the diagonal: `
      + 'the probabilities mean what they say, as far as these labels tell.';
  }
  const where = above === 0 ? 'below it, where probabilities are too high'
    : below === 0 ? 'above it, where probabilities are too low' : `${below} below it (too high) and ${above} above it (too low)`;
  return `${off} of ${bins.length} points ${off === 1 ? 'is' : 'are'} off the diagonal: ${where}.`;
}

/**
 * How many answers have which confidence, in equal steps from 0 to 1, of the points of coverage. Each part of the answers counts
 * at the least probability that it has, which is right up to one in 50 answers.
 */
export function sharesOfCoverage(coverage: { at: number; kept: number }[], steps = 20): number[] {
  const shares = Array<number>(steps).fill(0);
  let before = 0;
  for (const { at, kept } of coverage) {
    shares[Math.min(steps - 1, Math.floor(at * steps + 1e-9))]! += kept - before;
    before = kept;
  }
  return shares;
}

/** How many answers have which probability of yes, in equal steps from 0 to 1, of counts at each hundredth. */
export function sharesOfCounts(counts: Thresholds['counts'], steps = 20): number[] {
  const from = counts.map((c) => c.from_yes + c.from_no);
  const all = Math.max(1, from[0] ?? 0);
  const each = (counts.length - 1) / steps;
  return Array.from({ length: steps }, (_, i) =>
    ((from[i * each] ?? 0) - (i === steps - 1 ? 0 : from[(i + 1) * each] ?? 0)) / all);
}

/** What thresholds on hundredths do to the labels, as the API computes it: yes is looked at before no. */
export function outcome(counts: Thresholds['counts'], costs: Costs, yesAt: number, noAt: number): Threshold {
  const [first, yes, no] = [counts[0]!, counts[Math.round(yesAt * 100)]!, counts[Math.round(noAt * 100)]!];
  const n = first.from_yes + first.from_no;
  // Where no ends at or above the begin of yes, everything below yes is no.
  const below = noAt >= yesAt
    ? { yes: first.from_yes - yes.from_yes, no: first.from_no - yes.from_no }
    : { yes: no.to_yes, no: no.to_no };
  const [yeses, noes] = [yes.from_yes + yes.from_no, below.yes + below.no];
  const unsure = n - yeses - noes;
  const total = yes.from_no * costs.false_yes + below.yes * costs.false_no + unsure * costs.unsure;
  return {
    yes_at: yesAt, no_at: noAt, yes: yeses, no: noes, unsure, false_yes: yes.from_no, false_no: below.yes, total,
    mean: n ? total / n : 0,
  };
}

/** A class as people read it. */
export function valueLabel(value: string | boolean, question: Question | undefined): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return value === lackingKey ? 'Insufficient information' : labelOf(question, value);
}

/** `Keeping answers from 0.92 up keeps 60% of them, of which 3% are wrong.` */
export function coverageWords({ at, kept, risk }: { at: number; kept: number; risk: number }): string {
  return `Keeping answers from ${rounded(at)} up keeps ${percent(kept)} of them, of which ${percent(risk)} are wrong. `
    + 'The others are left to people.';
}

/**
 * What a comparison says of two versions: of how often each is right (McNemar's test at 2.5%), of the probabilities (the paired
 * interval of the Brier score), and of both where they say the opposite.
 */
export function verdictWords({ a, b, verdict, mcnemar, differences }: Compared): string {
  const right = mcnemar.p >= 0.025 ? undefined : mcnemar.only_b > mcnemar.only_a;
  const brier = differences.brier;
  const closer = !brier || (brier.low <= 0 && brier.high >= 0) ? undefined : brier.high < 0;
  const versions = `than version ${a.version}`;
  if (right !== undefined && closer !== undefined && right !== closer) {
    return `Version ${b.version} is ${right ? 'more' : 'less'} often right ${versions}, and its probabilities are ${
      closer ? 'better' : 'worse'}.`;
  }
  if (verdict !== 'better' && verdict !== 'worse') return `Versions ${a.version} and ${b.version} are ${verdict}.`;
  if (right === undefined) {
    return `The probabilities of version ${b.version} are ${verdict} than those of version ${a.version}; how often each is right `
      + 'is not distinguishable.';
  }
  return `Version ${b.version} is ${verdict} ${versions}: ${right ? 'more' : 'less'} often right${
    closer === undefined ? '' : `, with ${verdict} probabilities`}.`;
}

type Compared = Pick<Comparison, 'verdict' | 'mcnemar'> & Record<'a' | 'b', Pick<Comparison['a'], 'version'>>
  & { differences: Pick<Comparison['differences'], 'brier'> };

export const fewest = 30; // labels that measures need

/** The labels that the next thing needs: what they are for, and how many. */
export function milestone(counted: number, type: Measured['type']): { need: number; words: string } | undefined {
  const steps: [number, string][] = [
    [fewest, 'for measures'],
    [100, type === 'yes_no' ? 'for the reliability diagram' : 'for the reliability diagram and a calibration'],
    ...(type === 'yes_no' ? [[200, 'for a calibration'], [1000, 'for an isotonic calibration']] as [number, string][] : []),
  ];
  const next = steps.find(([need]) => counted < need);
  return next && { need: next[0], words: next[1] };
}
