import type { Question } from '@/answers/words';
import { kindOf } from './index';
import type { Value } from './kind';

/** A value that a question can be labelled with. */
export interface Choice extends Value {
  /** The key that does so; undefined of a question that has more values than there are keys: one is found by its words. */
  keys: string | undefined;
}

// Letters that do something else on the page: g begins pairs, and j, k, m, n, s, u and y are keys of their own.
const letters = '123456789' + 'abcdefhilopqrtvwxz';

/** What a question can be labelled with, in the order of the definition. */
export function choicesOf(question: Question): Choice[] {
  const values = kindOf(question).values(question);
  const keyed = values.length <= letters.length;
  return values.map((value, i) => ({ ...value, keys: value.keys ?? (keyed ? letters[i] : undefined) }));
}

/** Whether a question has more values than there are keys, so that one is found by its words. */
export const sought = (choices: Choice[]): boolean => choices.length > letters.length;

/** Options with one more, or without it, in the order of the question. */
export function toggled(question: Question, picked: readonly string[], value: string): string[] {
  const next = new Set(picked);
  if (!next.delete(value)) next.add(value);
  return kindOf(question).values(question).map((one) => String(one.value)).filter((key) => next.has(key));
}
