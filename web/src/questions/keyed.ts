import { labelOf, type Question } from '@/answers/words';
import type { Answer, Kind, Part } from './kind';

export const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

type Shared = 'bounds' | 'bounded' | 'said' | 'cell' | 'label' | 'shaped' | 'parts' | 'values' | 'answered' | 'right' | 'ofYes'
  | 'width' | 'probability' | 'filters' | 'filterOf' | 'answerOf';

interface Item {
  key: string;
  label: string;
  group?: string | null;
}

type KeyedAnswer = Extract<Answer, { type: 'choice' | 'scale' }>;

/** What a choice and a scale have in common, whose answer is one of their keys: that key, and what has the keys. */
export function keyed<Q extends Question, A extends KeyedAnswer>(
  chosenIn: (answer: A) => string, items: (question: Q) => readonly Item[],
): Pick<Kind<Q, A>, Shared> {
  const p = (answer: A) => answer.probabilities[chosenIn(answer)] ?? 0;
  const named = (question: Q) => items(question).map(({ key }) => ({ value: key, label: labelOf(question, key) }));
  return {
    ofYes: false, bounds: {}, bounded: [], width: 136, probability: 'Probability of the answer, %',
    said: (answer, question) => ({ words: labelOf(question, chosenIn(answer)), p: p(answer) }),
    cell: (text, question) => labelOf(question, text), label: (value, question) => labelOf(question, value),
    shaped: (text, question, p) => ({ words: labelOf(question, text), p }),
    parts: (answer, question) => partsOf(answer, question, chosenIn(answer)),
    values: (question) => items(question).map(({ key, label, group }) => ({ value: key, label, ...(group && { more: group }) })),
    answered: (answer) => ({ value: chosenIn(answer), p: p(answer) }),
    right: (answer, label) => label === chosenIn(answer),
    filters: named, filterOf: String, answerOf: String,
  };
}

/** The options or levels of an answer by their probabilities, and which of them was chosen. */
function partsOf(answer: KeyedAnswer, question: Question, key: string): { chosen: Part; others: Part[]; sure: boolean } {
  const sorted = Object.entries(answer.probabilities)
    .map(([one, p]): Part => ({ key: one, label: labelOf(question, one), p })).sort((a, b) => b.p - a.p);
  const chosen = sorted.find((part) => part.key === key) ?? sorted[0]!;
  return { chosen, others: sorted.filter((part) => part !== chosen), sure: true };
}
