import type { QueuedResult } from '@/data/quality';
import { kindOf, type LabelValue } from '@/questions';

/** What the model answered, as measures count it. */
export const answered = (answer: QueuedResult['answers'][string] | undefined): { value: LabelValue; p: number } | undefined =>
  answer && kindOf(answer).answered(answer);

const half = { no: 0.5, yes: 0.5 };

/** The values that the model answered, each with its probability: one, or of several right options each of them. */
export function saidBy(answer: QueuedResult['answers'][string] | undefined): Map<string, number> {
  if (!answer) return new Map();
  const several = kindOf(answer).several?.(answer, undefined, half);
  if (several) return new Map(several.map(({ key, p }) => [key, p]));
  const { value, p } = kindOf(answer).answered(answer);
  return new Map([[String(value), p]]);
}

/** Whether two labels say the same. */
export const alike = (a: LabelValue, b: LabelValue): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The labels that were made here, by result and question. */
export type Made = Record<string, Record<string, LabelValue>>;

interface Step {
  result: string;
  question: string;
  before: LabelValue | undefined;
}

export interface Labelling {
  /** The place in the queue. */
  at: number;
  /** The question that keys answer, as its place among those that are asked. */
  asked: number;
  made: Made;
  /** What undo takes back, the newest last. */
  steps: Step[];
}

export const begin: Labelling = { at: 0, asked: 0, made: {}, steps: [] };

/** Labels the current question, and goes on to the next one without a label, or else to the next result. */
export function label(now: Labelling, result: string, asked: string[], value: LabelValue): Labelling {
  const question = asked[now.asked]!;
  const before = now.made[result]?.[question];
  const made = { ...now.made, [result]: { ...now.made[result], [question]: value } };
  const steps = [...now.steps, { result, question, before }];
  const open =
    [...asked.keys()].map((i) => (now.asked + 1 + i) % asked.length).find((i) => made[result]![asked[i]!] === undefined);
  // A label that is changed goes on too: the rest of the result has labels.
  return open === undefined ? { at: now.at + 1, asked: 0, made, steps } : { ...now, asked: open, made, steps };
}

/** Takes the newest label back and goes to its result; undefined if there is none. */
export function undo(now: Labelling, results: string[], asked: string[]): { next: Labelling; step: Step } | undefined {
  const step = now.steps.at(-1);
  if (!step) return undefined;
  const { [step.question]: _, ...others } = now.made[step.result] ?? {};
  const labels = step.before === undefined ? others : { ...others, [step.question]: step.before };
  const at = results.indexOf(step.result);
  return {
    step,
    next: {
      at: at < 0 ? now.at : at, asked: Math.max(0, asked.indexOf(step.question)), made: { ...now.made, [step.result]: labels },
      steps: now.steps.slice(0, -1),
    },
  };
}

const window = 5 * 60_000; // milliseconds of which the rate is
const pause = 60_000; // a longer one is not part of the rate

/** Labels in a minute, of the last 5 minutes without pauses of more than a minute; undefined before the third label. */
export function rate(times: number[]): number | undefined {
  const last = times.at(-1) ?? 0;
  const recent = times.filter((at) => at > last - window);
  let took = 0;
  let n = 0;
  for (let i = 1; i < recent.length; i++) {
    const gap = recent[i]! - recent[i - 1]!;
    if (gap > pause) continue;
    took += gap;
    n++;
  }
  return n < 2 || took === 0 ? undefined : (n / took) * 60_000;
}
