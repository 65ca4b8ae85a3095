import type { Schemas } from '@/api';
import { percent, shown } from '@/design';

export type Question = Schemas['Question'];
export type LensColumn = Schemas['Column'];
export type Shaped = string | number | null;

export const lackingKey = 'insufficient_information';

const hues = 8;

// The options and levels of questions by their keys. Lists of results look up one for each cell, among up to 255.
const indexes = new WeakMap<object, Map<string, { label: string; at: number }>>();

/** An option or level of a question, and its place in it. */
function itemOf(question: Question | undefined, key: string): { label: string; at: number } | undefined {
  const items = question?.type === 'choice' ? question.options : question?.type === 'scale' ? question.levels : undefined;
  if (!items) return undefined;
  let index = indexes.get(items);
  if (!index) {
    // Of items with the same key, which only a draft has, the first one counts.
    index = new Map(items.map(({ key, label }, at) => [key, { label, at }] as const).reverse());
    indexes.set(items, index);
  }
  return index.get(key);
}

/**
 * The number of the hue of an option, 1 to 8: wherever an option is drawn it has that of its place in the question. Yes, no and
 * levels have none, and neither has insufficient information, which is hatched.
 */
export function hueOf(question: Question | undefined, key: string): number | undefined {
  const item = question?.type === 'choice' ? itemOf(question, key) : undefined;
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

/** A cell of a Lens column as people read it. */
export function cellText(value: Shaped | undefined, column: LensColumn | undefined, questions: Question[] | undefined): string {
  if (value == null) return '–';
  if (typeof value === 'number') {
    return column?.show === 'probability' || column?.show === 'confidence' ? percent(value) : shown(value);
  }
  return column?.show === 'answer' ? labelOf(questions?.find(({ key }) => key === column.question), value) : value;
}

/** The answers of a result in a few words, for lists of several prisms: the texts, else the numbers. */
export function summary(answers: Record<string, Shaped> | null): string {
  const values = Object.entries(answers ?? {});
  const texts = values.filter(([, value]) => typeof value === 'string');
  return (texts.length ? texts : values)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? shown(value) : (value ?? '–')}`)
    .join(' · ');
}

/** The thresholds of a yes_no question: those of the first Lens column that shows its answer by the stored probability. */
export function thresholds(question: string, columns: LensColumn[]): { no: number; yes: number } {
  const column = columns.find((one) => one.question === question && one.show === 'answer' && !one.calibrated);
  return { no: column?.no_at ?? 0.4, yes: column?.yes_at ?? 0.6 };
}

/** What a yes_no question is answered by a probability of yes. */
export function yesNo(p: number, { no, yes }: { no: number; yes: number }): 'Yes' | 'No' | 'Unsure' {
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
