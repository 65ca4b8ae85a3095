import { hueOf, labelOf, lackingKey, type Question } from '@/answers/words';
import type { Schemas } from '@/api';

type Answer = Schemas['Answer'];
export type RawAnswers = Record<string, Answer>;

/** The fields of a prism with a message in the one that messages belong in: the one that is named so, or else the last. */
export function fieldOf(fields: { key: string }[], message: string): Record<string, string> {
  const of = fields.find(({ key }) => ['message', 'text', 'body'].includes(key)) ?? fields.at(-1);
  return Object.fromEntries(fields.map(({ key }) => [key, key === of?.key ? message : '']));
}

export interface Part {
  label: string;
  p: number;
}

/** What was answered, and the other answers, the most probable first. */
export function partsOf(answer: Answer, question: Question): { chosen: Part; others: Part[] } {
  const of = answer.type === 'yes_no'
    ? [{ label: 'Yes', p: answer.probability }, { label: 'No', p: 1 - answer.probability }]
    : Object.entries(answer.probabilities).map(([key, p]) => ({ key, label: labelOf(question, key), p }));
  const key = answer.type === 'choice' ? answer.value : answer.type === 'scale' ? answer.level : undefined;
  const sorted = [...of].sort((a, b) => b.p - a.p);
  const chosen = sorted.find((part) => 'key' in part && part.key === key) ?? sorted[0]!;
  return { chosen, others: sorted.filter((part) => part !== chosen) };
}

/** The hue of an answer: that of its option. Other answers have that of a beam which leaves the mark, by the question's place. */
export function beamHue(answer: Answer | undefined, question: Question, place: number): number | undefined {
  if (question.type !== 'choice') return [6, 4, 3, 7, 2, 5, 8, 1][place % 8];
  if (answer?.type === 'choice') return answer.value === lackingKey ? undefined : hueOf(question, answer.value);
  return 1;
}
