import { labelOf, type Question } from '@/answers/words';
import { limits } from '@/api/limits';
import { strengthOf } from '@/charts/ramp';
import { decimal, keyed } from './keyed';
import { type Answer, type Kind, othersKey } from './kind';

type ScaleQuestion = Extract<Question, { type: 'scale' }>;
type ScaleAnswer = Extract<Answer, { type: 'scale' }>;

/** One of several levels, which have an order and values. */
export const scale: Kind<ScaleQuestion, ScaleAnswer> = {
  type: 'scale', name: 'Scale of levels', noun: 'scale',
  lists: 'levels', range: limits.levels,
  shows: ['answer', 'probability', 'average'], derived: 'average', chosen: 'the chosen level',
  ...keyed<ScaleQuestion, ScaleAnswer>(({ level }) => level, ({ levels }) => levels),
  // A number is that of a level, unless levels are named by numbers.
  read: (cell, { levels }, find) => {
    const found = find(cell);
    const numbers = levels.some(({ key, label }) => decimal.test(key) || decimal.test(label.trim()));
    return found ?? (numbers || !decimal.test(cell) ? undefined : levels.find(({ value }) => value === Number(cell))?.key);
  },
  without: ['thresholds', 'confusion'],
  sort: ({ key }) => `${key}@average`,
  drawn: (question) => question.levels.map(({ key }, i) => (
    { key, label: labelOf(question, key), strength: strengthOf(i, question.levels.length) })),
  where: ({ key }, answer) => (answer === othersKey ? undefined : [`${key}:is:${answer}`]),
};
