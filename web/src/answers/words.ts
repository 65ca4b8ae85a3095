import type { Schemas } from '@/api';
import { shown } from '@/design/numbers';

export type Question = Schemas['Question'];
export type LensColumn = Schemas['Column'];
export type Shaped = string | number | null;

/** The thresholds of an answer: up to `no` a probability of yes is no, from `yes` it is yes. */
export interface Bounds {
  no: number;
  yes: number;
}

export const lackingKey = 'insufficient_information';

const hues = 8;

// The options and levels of questions by their keys. Lists of results look up one for each cell, among up to 255.
const indexes = new WeakMap<object, Map<string, { label: string; at: number }>>();

/** What a question lists: its options or levels. */
export const itemsOf = (question: Question): readonly { key: string; label: string }[] =>
  ('options' in question ? question.options : 'levels' in question ? question.levels : nothing);
const nothing: readonly never[] = [];

/** An option or level of a question, and its place in it. */
function itemOf(question: Question | undefined, key: string): { label: string; at: number } | undefined {
  if (!question) return undefined;
  const items = itemsOf(question);
  let index = indexes.get(items);
  if (!index) {
    // Of items with the same key, which only a draft has, the first one counts.
    index = new Map(items.map(({ key, label }, at) => [key, { label, at }] as const).reverse());
    indexes.set(items, index);
  }
  return index.get(key);
}

/** Whether what a question lists are options, which have hues. */
export const hasHues = (question: Question | undefined): boolean => question !== undefined && 'options' in question;

/**
 * The number of the hue of an option, 1 to 8: wherever an option is drawn it has that of its place in the question. Yes, no and
 * levels have none, and neither has insufficient information, which is hatched.
 */
export function hueOf(question: Question | undefined, key: string): number | undefined {
  const item = question && hasHues(question) ? itemOf(question, key) : undefined;
  return item && (item.at % hues) + 1;
}

/** A key in words, where there is no room for the question's text. */
export function titleOf(key: string): string {
  const words = key.replace(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What people call a key of a question's options or levels; yes, no and unsure are what they are. */
export function labelOf(question: Question | undefined, key: string): string {
  if (key === lackingKey) return 'Insufficient information';
  return itemOf(question, key)?.label ?? key;
}

/** The answers of a result in a few words, for lists of several prisms: the texts, else the numbers. */
export function summary(answers: Record<string, Shaped> | null): string {
  const values = Object.entries(answers ?? {});
  const texts = values.filter(([, value]) => typeof value === 'string');
  return (texts.length ? texts : values)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? shown(value) : (value ?? '–')}`)
    .join(' · ');
}

/** What a yes_no question is answered by a probability of yes. */
export function yesNo(p: number, { no, yes }: Bounds): 'Yes' | 'No' | 'Unsure' {
  return p >= yes ? 'Yes' : p <= no ? 'No' : 'Unsure';
}

/** What a chip says of a yes_no answer, `Yes`, `No`, or what it would rather be, `Unsure: No`, and the probability of that. */
export function saidOf(said: string, p: number): { words: string; p: number } {
  const yes = said === 'Unsure' ? p >= 0.5 : said === 'Yes';
  return { words: said === 'Unsure' ? `Unsure: ${yes ? 'Yes' : 'No'}` : said, p: yes ? p : 1 - p };
}

/** The texts that were sent, as one line. */
export function sentText(fields: Record<string, string> | undefined): string {
  return Object.values(fields ?? {}).map((value) => value.replace(/\s+/g, ' ').trim()).filter(Boolean).join(' · ');
}

/** The levels' values weighed by their probabilities. */
export function average(levels: { p: number; value: number }[]): number {
  return levels.reduce((sum, { p, value }) => sum + p * value, 0);
}
