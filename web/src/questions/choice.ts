import { hueOf, labelOf, lackingKey, type Question } from '@/answers/words';
import { limits } from '@/api/limits';
import { keyed } from './keyed';
import { type Answer, type Kind, othersKey } from './kind';

type ChoiceQuestion = Extract<Question, { type: 'choice' }>;
type ChoiceAnswer = Extract<Answer, { type: 'choice' }>;

const items = ({ options, insufficient_information: lacks }: ChoiceQuestion) => (
  lacks ? [...options, { key: lackingKey, label: labelOf(undefined, lackingKey) }] : options);

/** One of several options. */
export const choice: Kind<ChoiceQuestion, ChoiceAnswer> = {
  type: 'choice', name: 'Choice of options', noun: 'choice',
  lists: 'options', lacks: true, range: limits.options,
  shows: ['answer', 'probability', 'confidence'], derived: 'probability', chosen: 'the chosen option',
  ...keyed<ChoiceQuestion, ChoiceAnswer>(({ value }) => value, items),
  option: ({ value }) => value,
  without: ['thresholds'], leads: true, moves: true,
  sort: ({ key }) => key,
  drawn: (question) => [
    ...question.options.map(({ key }) => ({ key, label: labelOf(question, key), hue: hueOf(question, key) })),
    ...(question.insufficient_information ? [{ key: lackingKey, label: labelOf(question, lackingKey), lacking: true }] : []),
  ],
  where: ({ key }, answer) => (answer === othersKey ? undefined : [`${key}:is:${answer}`]),
};
