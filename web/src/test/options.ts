import type { Question } from '@/answers/words';
import type { Schemas } from '@/api';

type Choice = Extract<Question, { type: 'choice' }>;

/** How many options tests of pages take: the fewest, as many as there are letters, and the most. */
export const sizes = [2, 26, 255] as const;

/** A choice of `n` options, `o1` labelled `Option 1` and so on; with more than 20, every ten are a group. */
export const choiceOf = (n: number, more: Partial<Choice> = {}): Choice => ({
  key: 'intent', type: 'choice', text: 'What is wanted?', insufficient_information: false, ...more,
  options: Array.from({ length: n }, (_, i) => ({
    key: `o${i + 1}`, label: `Option ${i + 1}`, description: null,
    ...(n > 20 && { group: `Group ${Math.floor(i / 10) + 1}` }),
  })),
});

/** An answer whose most probable option is the one at `at`; each one after it, around the end, has half of what is left. */
export function answerOf(question: Choice, at = 0): Extract<Schemas['Answer'], { type: 'choice' }> {
  const keys = question.options.map(({ key }) => key);
  const p = new Map<string, number>();
  keys.forEach((_, i) => p.set(keys[(at + i) % keys.length]!, 0.5 ** Math.min(i + 1, keys.length - 1)));
  return {
    type: 'choice', value: keys[at]!, confidence: 0.5, probabilities: Object.fromEntries(keys.map((key) => [key, p.get(key)!])),
  };
}

type Tags = Extract<Question, { type: 'tags' }>;

/** How many options a question of tags has in tests of pages. */
export const tagSizes = [2, 26, 100] as const;

/** A question of which any number of `n` options can be right: `o1` labelled `Option 1` and so on. */
export const tagsOf = (n: number): Tags => (
  { key: 'about', type: 'tags', text: 'What is it about?', options: choiceOf(n).options });

/** An answer with a probability for the options that are said, and a hundredth for the others. */
export function tagged(question: Tags, found: Record<string, number>): Extract<Schemas['Answer'], { type: 'tags' }> {
  const probabilities = Object.fromEntries(question.options.map(({ key }) => [key, found[key] ?? 0.01]));
  const values = Object.entries(probabilities).filter(([, p]) => p >= 0.5).sort((a, b) => b[1] - a[1]).map(([key]) => key);
  return { type: 'tags', values, probabilities };
}

/** A confusion in which each label is answered rightly 10 times, and the one at `i` as the next one `i` modulo 50 times. */
export const confusionOf = (question: Choice): NonNullable<Schemas['QuestionQuality']['confusion']> => ({
  values: question.options.map(({ key }) => key),
  counts: question.options.map((_, i, { length: n }) =>
    Array.from({ length: n }, (_, j) => (i === j ? 10 : j === (i + 1) % n ? i % 50 : 0))),
});
