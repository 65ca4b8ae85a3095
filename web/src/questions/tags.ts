import { hueOf, labelOf, type Question } from '@/answers/words';
import { limits } from '@/api/limits';
import { type Answer, type Kind, othersKey, type Part } from './kind';

type TagsQuestion = Extract<Question, { type: 'tags' }>;
type TagsAnswer = Extract<Answer, { type: 'tags' }>;

const usual = 0.5; // from which on an option is in the answer (spec: show-answer)
const none = 'None';
const between = '; ';

/** The options of an answer with their probabilities, the most probable first and else in the order of the question. */
const sorted = ({ probabilities }: TagsAnswer, question: Question | undefined): Part[] => Object.entries(probabilities)
  .map(([key, p]) => ({ key, label: labelOf(question, key), p })).sort((a, b) => b.p - a.p);

const wordsOf = (labels: string[]) => labels.join(', ') || none;

/** How sure the answer is of the option of which it is the least sure. */
const certainty = ({ probabilities }: TagsAnswer) => Math.min(1, ...Object.values(probabilities).map((p) => Math.max(p, 1 - p)));

/** The keys of a cell that shows an answer. */
export const keysIn = (text: string) => text.split(';').map((key) => key.trim()).filter(Boolean);

/** Any number of several options, each of which has a probability of its own. */
export const tags: Kind<TagsQuestion, TagsAnswer> = {
  type: 'tags', name: 'Tags: any number of options', noun: 'question of tags', ofYes: true,
  hint: 'Any number of the options can be right, also none. Each has a probability of its own.',
  lists: 'options', range: limits.tags,
  shows: ['answer', 'probability', 'count'],
  bounds: { yes_at: { label: 'In the answer from', usual } }, bounded: ['answer', 'count'],
  several: (answer, question, { yes }) => sorted(answer, question).filter(({ p }) => p >= yes),
  said: (answer, question, { yes }) => ({
    words: wordsOf(sorted(answer, question).filter(({ p }) => p >= yes).map(({ label }) => label)), p: certainty(answer),
  }),
  cell: (text, question) => keysIn(text).map((key) => labelOf(question, key)).join(between) || none,
  label: (value, question) => labelOf(question, value),
  shaped: (text, question, p) => ({ words: wordsOf(keysIn(text).map((key) => labelOf(question, key))), p }),
  parts: (answer, question, { yes }) => {
    const all = sorted(answer, question);
    const right = all.filter(({ p }) => p >= yes);
    const p = right.at(-1)?.p ?? 1 - (all[0]?.p ?? 0); // that of the least sure one, or that of none of them
    const chosen = { key: othersKey, label: wordsOf(right.map(({ label }) => label)), p };
    return { chosen, others: all.slice(right.length), sure: true };
  },
  values: ({ options }) => options.map(({ key, label, group }) => ({ value: key, label, ...(group && { more: group }) })),
  answered: (answer) => ({
    value: Object.entries(answer.probabilities).filter(([, p]) => p >= usual).map(([key]) => key), p: certainty(answer),
  }),
  right: (answer, label, { yes }) => Array.isArray(label) && same(
    Object.entries(answer.probabilities).filter(([, p]) => p >= yes).map(([key]) => key), label),
  cells: 'Several options with semicolons between them; none where no option is right.',
  // A list of JSON, or texts with semicolons between them; an option may have one in its name.
  read: (cell, { options }, find) => {
    const alone = find(cell);
    if (alone !== undefined) return [String(alone)];
    if (cell.toLowerCase() === 'none') return [];
    const found = textsOf(cell)?.map((text) => find(text.trim()));
    const right = new Set(found);
    return !found || right.has(undefined) ? undefined : options.map(({ key }) => key).filter((key) => right.has(key));
  },
  part: ({ key, text, options }, option) => {
    const label = options.find((one) => one.key === option)?.label;
    return label === undefined ? undefined : { key, type: 'yes_no', text: `${text} ${label}` };
  },
  without: ['confusion', 'coverage', 'thresholds', 'calibration'], moves: true,
  sort: () => undefined,
  width: 184, probability: 'Probability of an option, %',
  filters: ({ options }) => options.map(({ key, label }) => ({ value: key, label })),
  filterOf: String, answerOf: String,
  drawn: (question) => question.options.map(({ key, label }) => ({ key, label, hue: hueOf(question, key) })),
  where: ({ key }, option) => (option === othersKey ? undefined : [`${key}:is:${option}`]),
};

function textsOf(cell: string): string[] | undefined {
  if (!cell.startsWith('[')) return cell.split(';');
  try {
    const list: unknown = JSON.parse(cell);
    return Array.isArray(list) && list.every((one) => typeof one === 'string') ? list as string[] : undefined;
  } catch {
    return undefined;
  }
}

const same = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((key) => b.includes(key));
