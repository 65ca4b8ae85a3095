import type { Bin } from '@/charts';
import type { Comparison, Costs, Figure, Measured, Threshold, Thresholds } from '@/data/quality';
import { count, percent, shown } from '@/design';
import { kindOf } from '@/questions';

/** The names of measures, in the order of the API, with what they say in a sentence and which way is better. */
export const measures = [
  ['accuracy', 'Right', 'How often the answer is what the label says.', 'more'],
  ['log_loss', 'Log loss', 'How little probability the right answers had: the mean of −ln p, 0 if each had all of it.', 'less'],
  ['brier', 'Brier score', 'How far the probabilities were from what was right, squared: 0 is perfect.', 'less'],
  ['macro_f1', 'Macro F1', 'How well options are found and told from the others, each counting alike: 1 is perfect.', 'more'],
  ['rps', 'Ranked probability score',
    'How far the probabilities were from the right level, far levels counting more: 0 is perfect.', 'less'],
  ['mae', 'Mean absolute error', 'How many levels the answer was from the right one, on average.', 'less'],
  ['kappa', 'Weighted kappa', 'How far levels agree beyond chance, near misses counting a little: 1 is perfect.', 'more'],
  ['ece', 'Calibration error', 'How far probabilities were from how often they came true, without what chance adds.', 'less'],
  ['ece_plain', 'Calibration error, plain', 'The same with what chance adds, which is more with few labels.', 'less'],
] as const;

/** The measures of several options together, likewise, and where each of their figures is. */
export const measuresOfSeveral: readonly (readonly [string, string, 'more' | 'less', (of: Tags) => Figure | null])[] = [
  ['Exact match', 'How often an answer has every right option, and no other one.', 'more', (of) => of.exact_match],
  ['Hamming loss', 'Of all options of all answers, how many are wrong.', 'less', (of) => of.hamming_loss],
  ['Precision, micro', 'Of the options that were answered, how many are right.', 'more', (of) => of.micro.precision],
  ['Recall, micro', 'Of the options that are right, how many were answered.', 'more', (of) => of.micro.recall],
  ['F1, micro', 'Precision and recall in one number, frequent options weighing more.', 'more', (of) => of.micro.f1],
  ['F1, macro', 'Precision and recall in one number, each option weighing alike.', 'more', (of) => of.macro.f1],
];
type Tags = NonNullable<Comparison['a']['tags']>;

export type Measure = (typeof measures)[number][0];

const shares: readonly Measure[] = ['accuracy', 'ece', 'ece_plain'];

/** How the values of a measure are written: shares as percentages, others with three digits. */
export function writtenAs(measure: Measure): (value: number) => string {
  return shares.includes(measure) ? share : fixed;
}

/** `0.6`, with at most three digits behind the point. */
export function rounded(value: number): string {
  return shown(Math.round(value * 1000) / 1000);
}

/** `0.820`, with three digits behind the point, so that figures stand below each other; their intervals are wider than that. */
export function fixed(value: number): string {
  return (Math.round(value * 1000) / 1000 || 0).toFixed(3).replace('-', '−');
}

/** `82.4%`, so that figures stand below each other. */
export function share(value: number): string {
  return `${((Math.round(value * 1000) || 0) / 10).toFixed(1).replace('-', '−')}%`;
}

/** `0.788 to 0.855`. */
export function interval({ low, high }: { low: number; high: number }, written = fixed): string {
  return `${written(low).replace('%', '')} to ${written(high)}`;
}

/** `0.824, 0.788 to 0.855` */
export function figure(f: Figure, written = fixed): string {
  return `${written(f.value)}, ${interval(f, written)}`;
}

/** A part of 1 as a whole number of hundredths. */
export const whole = (p: number) => Math.round(p * 100);

/** `79 to 85` */
export const around = ({ low, high }: { low: number; high: number }) => `${whole(low)} to ${whole(high)}`;

/** `82% right, 79 to 85` */
export function rightWords(of: Figure, right = 'right'): string {
  return `${whole(of.value)}% ${right}, ${around(of)}`;
}

/** How often answers are right, and in which words: of several options that may be right, all of them. */
export function rightOf({ accuracy, tags }: Pick<Measured, 'accuracy' | 'tags'>): { figure: Figure; words: string } | undefined {
  if (accuracy) return { figure: accuracy, words: 'right' };
  return tags ? { figure: tags.exact_match, words: 'with all options right' } : undefined;
}

/** A point of the reliability diagram: `Answers near 80% were right 71% of the time, 64 to 78, of 33 labels.` */
export function binWords(bin: Bin, type: Measured['type']): string {
  return `Answers near ${whole(bin.mean)}% were ${kindOf({ type }).ofYes ? 'yes' : 'right'} ${whole(bin.rate)}% of the time, `
    + `${around(bin)}, of ${shown(bin.n)} labels.`;
}

/** How many points the interval leaves off the diagonal, on the side that is too sure and on the other one. */
function off(bins: Bin[], type: Measured['type']): { sure: number; hesitant: number } {
  const found = bins.filter((bin) => bin.low > bin.mean || bin.high < bin.mean);
  // Of a yes_no, too sure is too near to no below a half, and too near to yes from there on.
  const sure = found.filter((bin) => (bin.high < bin.mean) === (!kindOf({ type }).ofYes || bin.mean >= 0.5)).length;
  return { sure, hesitant: found.length - sure };
}

/** Whether answers are as sure as they are right: `yes`, or what they are in place of it. */
export function leaningShort(bins: Bin[], type: Measured['type']): string {
  const { sure, hesitant } = off(bins, type);
  if (sure && hesitant) return 'too sure and too hesitant';
  return sure ? 'too sure' : hesitant ? 'too hesitant' : 'yes';
}

/** Whether probabilities are too sure, too hesitant or neither, of the points whose interval leaves out the diagonal. */
export function leaning(bins: Bin[], type: Measured['type']): string {
  const { sure, hesitant } = off(bins, type);
  if (sure + hesitant === 0) {
    return `All ${count(bins.length, 'point')} agree with the diagonal: `
      + 'the probabilities mean what they say, as far as these labels tell.';
  }
  const how = sure && hesitant ? `${sure} too sure and ${hesitant} too hesitant` : leaningShort(bins, type);
  return `${sure + hesitant} of ${count(bins.length, 'point')} ${sure + hesitant === 1 ? 'is' : 'are'} off the diagonal: ${how}.`;
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

/** `Keeping answers from 92% up keeps 60% of them, of which 3% are wrong.` */
export function coverageWords({ at, kept, risk }: { at: number; kept: number; risk: number }): string {
  return `Keeping answers from ${percent(at)} up keeps ${percent(kept)} of them, of which ${percent(risk)} are wrong. `
    + 'The others are left to people.';
}

/**
 * What a comparison says of two versions: of how often each is right (McNemar's test at 2.5%), of the probabilities (the paired
 * interval of the Brier score), and of both where they say the opposite. Of several options together the Hamming loss has the
 * place of the Brier score.
 */
export function verdictWords({ a, b, verdict, mcnemar, differences }: Compared): string {
  const right = mcnemar.p >= 0.025 ? undefined : mcnemar.only_b > mcnemar.only_a;
  const second = differences.tags?.hamming_loss ?? differences.brier;
  const closer = !second || (second.low <= 0 && second.high >= 0) ? undefined : second.high < 0;
  const versions = `than version ${a.version}`;
  if (differences.tags) return wordsOfSeveral(a.version, b.version, verdict, right, closer);
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
  & { differences: Pick<Comparison['differences'], 'brier' | 'tags'> };

/** Of several options together: whether more answers have all of them right, and whether fewer options are wrong. */
function wordsOfSeveral(a: number, b: number, verdict: string, right: boolean | undefined, closer: boolean | undefined): string {
  const all = right === undefined ? undefined : `all options are ${right ? 'more' : 'less'} often right`;
  const wrong = closer === undefined ? undefined : `${closer ? 'fewer' : 'more'} of its options are wrong`;
  if (all && wrong && right !== closer) return `Of version ${b} ${all} than of version ${a}, but ${wrong}.`;
  if (verdict !== 'better' && verdict !== 'worse') return `Versions ${a} and ${b} are ${verdict}.`;
  return `Version ${b} is ${verdict} than version ${a}: ${[all, wrong].filter(Boolean).join(', and ')}.`;
}

export const fewest = 30; // labels that measures need

/** The labels that the next thing needs: what they are for, and how many. */
export function milestone(counted: number, type: Measured['type']): { need: number; words: string } | undefined {
  const { ofYes } = kindOf({ type });
  const steps: [number, string][] = [
    [fewest, 'for measures'],
    [100, ofYes ? 'for the reliability diagram' : 'for the reliability diagram and a calibration'],
    ...(ofYes ? [[200, 'for a calibration'], [1000, 'for an isotonic calibration']] as [number, string][] : []),
  ];
  const next = steps.find(([need]) => counted < need);
  return next && { need: next[0], words: next[1] };
}
