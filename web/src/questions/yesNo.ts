import { type Question, saidOf, titleOf, yesNo as saidBy } from '@/answers/words';
import { type Answer, type Kind, type Part, unsureKey } from './kind';

type YesNoQuestion = Extract<Question, { type: 'yes_no' }>;
type YesNoAnswer = Extract<Answer, { type: 'yes_no' }>;

const cells: Record<string, boolean> = { true: true, yes: true, 1: true, false: false, no: false, 0: false };

/** Yes or no, of which the probability of yes is stored. */
export const yesNo: Kind<YesNoQuestion, YesNoAnswer> = {
  type: 'yes_no', name: 'Yes or no', noun: 'yes or no question', ofYes: true,
  shows: ['answer', 'probability'], derived: 'probability', 
  bounds: { yes_at: { label: 'Yes from', usual: 0.6 }, no_at: { label: 'No up to', usual: 0.4 } }, bounded: ['answer'],
  said: ({ probability }, _, bounds) => saidOf(saidBy(probability, bounds), probability),
  cell: (text) => text, label: titleOf, shaped: (text, _, p) => saidOf(titleOf(text), p),
  parts: ({ probability }, _, bounds) => {
    const both: Part[] = [{ key: 'yes', label: 'Yes', p: probability }, { key: 'no', label: 'No', p: 1 - probability }];
    const [chosen, other] = both.sort((a, b) => b.p - a.p) as [Part, Part];
    return { chosen, others: [other], sure: saidBy(probability, bounds) !== 'Unsure' };
  },
  values: () => [{ value: true, label: 'Yes', keys: 'y' }, { value: false, label: 'No', keys: 'n' }],
  answered: ({ probability }) => ({ value: probability >= 0.5, p: Math.max(probability, 1 - probability) }),
  right: ({ probability }, label, bounds) => saidBy(probability, bounds) === (label ? 'Yes' : 'No'),
  read: (cell) => cells[cell.toLowerCase()],
  without: [],
  sort: ({ key }) => key,
  width: 104, probability: 'Probability of yes, %',
  filters: () => [{ value: 'yes', label: 'Yes' }, { value: 'no', label: 'No' }],
  filterOf: (value) => (Number(value) >= 0.5 ? 'yes' : 'no'),
  drawn: () => [
    { key: 'yes', label: 'Yes' }, { key: 'no', label: 'No', strength: 0.3 },
    { key: unsureKey, label: titleOf(unsureKey), lacking: true },
  ],
  where: ({ key }, answer, { yes, no }) => (answer === 'yes' ? [`${key}:from:${yes}`] : answer === 'no' ? [`${key}:to:${no}`]
    : [`${key}:from:${no}`, `${key}:to:${yes}`]),
  answerOf: (value, bounds) => saidBy(Number(value) + 0.05, bounds).toLowerCase(),
};
