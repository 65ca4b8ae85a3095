import type { Schemas } from '@/api';
import type { Layer } from '@/charts';
import { dayAfter, days } from '@/data/usage';
import { type Drawn, kindOf, othersKey } from '@/questions';
import { type Bounds, type Question, yesNo } from './words';

export type Distribution = Schemas['Distribution'];
type Row = Distribution['data'][number];

/**
 * The answers that a question can have, in its order: options in their hues, levels the darker the higher, and what is unsure
 * last, which is hatched.
 */
export const kindsOf = (question: Question): Drawn[] => kindOf(question).drawn(question);

/** How many answers of a time were what. Those of a yes_no question are told by its thresholds. */
function countsOf(row: Row, bounds: Bounds): Map<string, number> {
  if (!row.bins) return new Map(row.values.map(({ value, count }) => [String(value), count]));
  const counts = new Map<string, number>();
  row.bins.forEach((n, i) => {
    const key = yesNo(i / 100, bounds).toLowerCase();
    counts.set(key, (counts.get(key) ?? 0) + n);
  });
  return counts;
}

const places = 9; // answers that a picture has room for

/** Whether a question has more answers than a picture has room for. */
export const manyKinds = (question: Question): boolean => kindsOf(question).length > places;

/** What was answered on each day, and how many answers there were, of which some may have several options or none. */
interface Counted {
  days: string[];
  layers: Layer[];
  answers: number[];
}

/**
 * The answers of each day from `from` up to but without `to`, in the order of the question. Options that the question no longer
 * has are the last layer.
 */
export function allLayersOf(
  { data }: Pick<Distribution, 'data'>, question: Question, bounds: Bounds, from: string, to: string,
): Counted {
  const all = days(from, to);
  const rows = new Map(data.map((row) => [row.at.slice(0, 10), { answers: row.answers, counts: countsOf(row, bounds) }]));
  const known = all.map(() => 0);
  const layers = kindsOf(question).map((kind): Layer => ({ ...kind, values: all.map((day, i) => {
    const n = rows.get(day)?.counts.get(kind.key) ?? 0;
    known[i]! += n;
    return n;
  }) }));
  const answers = all.map((day) => rows.get(day)?.answers ?? 0);
  // Of any number of options in an answer, what is left over is no option that is gone.
  const rest = kindOf(question).several ? [] : answers.map((n, i) => n - known[i]!);
  const gone: Layer[] = rest.some((n) => n > 0) ? [{ key: othersKey, label: 'Others', values: rest, strength: 0.3 }] : [];
  return { days: all, layers: [...layers, ...gone], answers };
}

/**
 * The same as a picture has room for it: of many options the most frequent ones are drawn, in the order of the question, and the
 * others together. What is unsure always has a layer of its own.
 */
export function layersOf(...of: Parameters<typeof allLayersOf>): Counted {
  const { layers, ...whole } = allLayersOf(...of);
  const { days } = whole;
  const fold = foldOf(layers, total);
  if (!fold) return { ...whole, layers: apart(layers) };
  const rest = days.map((_, i) => fold.rest.reduce((sum, { values }) => sum + values[i]!, 0));
  const others = rest.some((n) => n > 0) ? [{ ...fold.others, values: rest }] : [];
  return { ...whole, layers: [...apart(fold.drawn), ...others] };
}

/** The answers that a picture draws and those that it draws together; undefined if there is room for all of them. */
function foldOf<T extends Drawn>(all: T[], size: (one: T) => number): { drawn: T[]; rest: T[]; others: Drawn } | undefined {
  const kinds = all.filter(({ key }) => key !== othersKey);
  if (kinds.length <= places) return undefined;
  const options = kinds.filter(({ lacking }) => !lacking);
  const room = places - 1 - (kinds.length - options.length);
  const sized = options.map((one) => ({ one, n: size(one) })).sort((a, b) => b.n - a.n);
  const most = new Set(sized.slice(0, room).map(({ one }) => one));
  const drawn = kinds.filter((one) => one.lacking || most.has(one));
  return {
    drawn, rest: all.filter((one) => !drawn.includes(one)),
    others: { key: othersKey, label: `${kinds.length - drawn.length} others`, strength: 0.3 },
  };
}

/** Options that share a hue, which the question has every eight places, as shades of it: the first one is full. */
function apart<T extends Drawn>(drawn: T[]): T[] {
  const seen = new Map<number, number>();
  return drawn.map((one) => {
    if (one.hue === undefined) return one;
    const before = seen.get(one.hue) ?? 0;
    seen.set(one.hue, before + 1);
    return before === 0 ? one : { ...one, strength: 0.7 ** before };
  });
}

/** How often an answer was given, in some of the times. */
export const total = ({ values }: Pick<Layer, 'values'>, from = 0, to = values.length) =>
  values.slice(from, to).reduce((sum, n) => sum + n, 0);

/** How many answers there are, in some of the days. */
export const answered = (layers: Layer[], from?: number, to?: number) =>
  layers.reduce((sum, layer) => sum + total(layer, from, to), 0);

/** The part of answers that are unsure; undefined of a question that is never so, and without answers. */
export function unsure(layers: Layer[], from?: number, to?: number): number | undefined {
  const doubt = layers.find(({ lacking }) => lacking);
  const all = answered(layers, from, to);
  return doubt && all > 0 ? total(doubt, from, to) / all : undefined;
}

/** An answer with its share lately, and by how many parts of 1 that is more than it was before; undefined without one of both. */
export interface Lately extends Drawn {
  share: number;
  more: number | undefined;
}

export const late = 7; // days at the end that are compared with those before

/** How many answers there are in the last days and in those before: as many as the layers have together, or as said. */
function split(layers: Layer[], answers?: number[]): { begin: number; now: number; before: number } {
  const begin = Math.max(0, (layers[0]?.values.length ?? 0) - late);
  if (answers) return { begin, now: total({ values: answers }, begin), before: total({ values: answers }, 0, begin) };
  return { begin, now: answered(layers, begin), before: answered(layers, 0, begin) };
}

/** The share of each answer in the last days, and its difference to the days before. */
export function latelyOf(layers: Layer[], answers?: number[]): Lately[] {
  const { begin, now, before } = split(layers, answers);
  return layers.map((layer) => {
    const share = now ? total(layer, begin) / now : 0;
    return { ...layer, share, more: now && before ? share - total(layer, 0, begin) / before : undefined };
  });
}

const [few, points, deviations] = [50, 0.05, 3]; // what is less than these is no news

/** The answer that is given more often lately than before, by more than chance does it, and by how much. */
export function news(layers: Layer[], answers?: number[]): Lately | undefined {
  const { now, before } = split(layers, answers);
  if (now < few || before < few) return undefined;
  // Among many options chance moves one far more often: the limit grows about as it has to, so that it does so as seldom.
  const limit = Math.sqrt(deviations ** 2 + 2 * Math.log(Math.max(1, layers.length / places)));
  return latelyOf(layers, answers).filter(({ key, share, more = 0 }) => {
    const p = (share * now + (share - more) * before) / (now + before);
    return key !== othersKey && more >= points && more > limit * Math.sqrt(p * (1 - p) * (1 / now + 1 / before));
  }).sort((a, b) => b.more! - a.more!)[0];
}

/** The condition of results with an answer; undefined for what no condition says. */
export const whereOf = (question: Question, key: string, bounds: Bounds): string[] | undefined =>
  kindOf(question).where(question, key, bounds);

export type Share = Drawn & { share: number };

/**
 * Counts of results by their answers, as shares: of all of them, or of `results` where an answer has any number of options. A
 * yes_no question is counted by tenths, each on one side of a threshold.
 */
export function sharesOf(question: Question, counts: Schemas['ValueCount'][], bounds: Bounds, results?: number): Share[] {
  const several = kindOf(question).several !== undefined;
  const all = (several ? results : undefined) ?? counts.reduce((sum, { count }) => sum + count, 0);
  const kind = kindOf(question);
  const sums = new Map<string, number>();
  for (const { value, count } of counts) {
    const answer = kind.answerOf(value, bounds);
    sums.set(answer, (sums.get(answer) ?? 0) + count);
  }
  return kind.drawn(question).map((drawn) => ({ ...drawn, share: all ? (sums.get(drawn.key) ?? 0) / all : 0 }));
}

/** Shares as a bar has room for them: of many options the greatest ones, and the others together. */
export function foldedShares(shares: Share[]): Share[] {
  const fold = foldOf(shares, ({ share }) => share);
  if (!fold) return apart(shares);
  return [...apart(fold.drawn), { ...fold.others, share: fold.rest.reduce((sum, { share }) => sum + share, 0) }];
}

/** The question that a prism is about at first sight: its first choice, or else its first one. */
export const mainQuestion = (questions: Question[]): Question | undefined =>
  questions.find((question) => kindOf(question).leads) ?? questions[0];

const least = 7; // days that a picture shows

/** The first day of a picture up to a day: the first one with answers, as far as that is not too late. */
export function firstDay({ data }: Pick<Distribution, 'data'>, earliest: string, to: string): string {
  const first = data.map(({ at }) => at.slice(0, 10)).find((day) => day >= earliest) ?? to;
  return [first, dayAfter(to, -least)].sort()[0]!;
}
