import { hueOf, type Question } from '@/answers/words';
import { type Answer, kindOf } from '@/questions';

export type RawAnswers = Record<string, Answer>;

/** The fields of a prism with a message in the one that messages belong in: the one that is named so, or else the last. */
export function fieldOf(fields: { key: string }[], message: string): Record<string, string> {
  const of = fields.find(({ key }) => ['message', 'text', 'body'].includes(key)) ?? fields.at(-1);
  return Object.fromEntries(fields.map(({ key }) => [key, key === of?.key ? message : '']));
}

/** The hue of an answer: that of its option. Other answers have that of a beam which leaves the mark, by the question's place. */
export function beamHue(answer: Answer | undefined, question: Question, place: number): number | undefined {
  const { option } = kindOf(question);
  if (!option) return [6, 4, 3, 7, 2, 5, 8, 1][place % 8];
  return answer?.type === question.type ? hueOf(question, option(answer)) : 1;
}
