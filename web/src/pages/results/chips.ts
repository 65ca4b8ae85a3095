import { labelOf, type Question, titleOf } from '@/answers/words';
import type { Schemas } from '@/api';
import { wholePercent } from '@/design/numbers';
import { kindOf } from '@/questions';
import { type Condition, labelStates, parse, questionOf } from './conditions';
import { type Change, compact, localTime, type ResultsSearch } from './search';

/** What is filtered by: a parameter of the list, `labelled`, `time`, or `question topic`. */
export type About =
  | 'prism' | 'q' | 'status' | 'labelled' | 'version' | 'model' | 'key_id' | 'assignee' | 'run' | 'ref' | 'time'
  | 'other'
  | `question ${string}`;

/** A filter that is set, in words: `Topic is Billing`. */
export interface FilterChip {
  id: string;
  about: About;
  name: string;
  verb: string;
  values: { words: string; option?: string }[];
  question: Question | undefined;
  /** What takes it away. */
  without: Change;
}

/** The names of what is known by an id. */
export interface Names {
  prism: Schemas['Prism'] | undefined;
  key: (id: string) => string;
  /** Of a member, `me` or `none`. */
  assignee: (of: string) => string;
  run: (id: string) => string;
}

const names: Record<Exclude<About, `question ${string}`>, string> = {
  prism: 'Prism', q: 'Text', status: 'Status', labelled: 'Label', version: 'Version', model: 'Model', key_id: 'Key',
  assignee: 'Assigned', run: 'Run', ref: 'Reference', time: 'Time', other: '',
};

export const nameOf = (about: About): string =>
  about.startsWith('question ') ? titleOf(about.slice(9)) : names[about as Exclude<About, `question ${string}`>];

/** The search without its prism, and without what is about its answers. */
export const withoutPrism: ResultsSearch = { prism: undefined, where: undefined, sort: undefined, version: undefined };

/** The filters that are set, as chips, in the order in which they stand in the address. */
export function chipsOf(search: ResultsSearch, { prism, key, assignee, run }: Names, fixed: boolean): FilterChip[] {
  const one = (about: keyof typeof names & keyof ResultsSearch, words: string | undefined, verb = ''): FilterChip[] =>
    (words === undefined ? [] : [{
      id: about, about, name: names[about], verb, values: [{ words }], question: undefined,
      without: about === 'prism' ? withoutPrism : { [about]: undefined },
    }]);
  const conditions = (search.where ?? []).map((text, index): FilterChip => {
    const without = ({ where = [] }: ResultsSearch) => {
      const rest = where.filter((other) => other !== text);
      return { where: rest.length ? rest : undefined };
    };
    return { id: `where ${index}`, ...wordsOf(parse(text), prism), without };
  });
  return [
    ...(fixed ? [] : one('prism', search.prism && (prism?.name ?? search.prism))),
    ...one('q', search.q), ...(prism ? conditions : []), ...one('status', search.status),
    ...one('version', search.version === undefined ? undefined : String(search.version)), ...one('model', search.model),
    ...one('key_id', search.key_id && key(search.key_id)),
    ...one('assignee', search.assignee && assignee(search.assignee), 'to'), ...one('run', search.run && run(search.run)),
    ...one('ref', search.ref === '' ? 'empty' : search.ref), ...timeOf(search),
  ];
}

function timeOf({ from, to }: ResultsSearch): FilterChip[] {
  if (!from && !to) return [];
  const shown = (iso: string) => localTime(iso).replace('T', ' ');
  const words = from && to ? `${shown(from)} to ${shown(to)}` : from ? `since ${shown(from)}` : `before ${shown(to!)}`;
  return [{
    id: 'time', about: 'time', name: 'Time', verb: '', values: [{ words }], question: undefined,
    without: { from: undefined, to: undefined },
  }];
}

type Words = Pick<FilterChip, 'about' | 'name' | 'verb' | 'values' | 'question'>;

/** A condition in words, with the labels of the newest version. */
function wordsOf(condition: Condition, prism: Schemas['Prism'] | undefined): Words {
  const { name, operator, value } = condition;
  const key = questionOf(condition);
  const question = prism?.version.questions.find((known) => known.key === key);
  if (key === undefined) {
    const verb = verbOf(operator);
    return name === '@labelled'
      ? { about: 'labelled', name: 'Label', verb, values: [{ words: value === 'yes' ? 'any' : 'none' }], question }
      : { about: 'other', name: titleOf(name.slice(1)), verb, values: [{ words: value }], question };
  }
  const [, option, measure] = /^[^.@]+(?:\.([^@]+))?(?:@(.+))?$/.exec(name) ?? [];
  const about = `question ${key}` as const;
  const of = option ? `${titleOf(key)}: ${labelOf(question, option)}` : measure ? `${titleOf(key)}: ${measure}` : titleOf(key);
  if (operator in labelStates) {
    return {
      about, name: of, verb: labelStates[operator as keyof typeof labelStates], values: [], question,
    };
  }
  const values = operator === 'is' || operator === 'not'
    ? folded(value.split(',').map((part) => ({ words: answerLabel(question, part), option: part })))
    : [{ words: measure === 'average' || measure === 'count' ? value : wholePercent(Number(value)) }];
  return { about, name: of, verb: verbOf(operator), values, question };
}

const most = 4; // values of a chip that are named

/** Values as a chip has room for them: of many the first ones, and how many more there are. */
const folded = (values: FilterChip['values']): FilterChip['values'] => (values.length <= most ? values
  : [...values.slice(0, most - 1), { words: `${values.length - most + 1} more` }]);

/** An answer as people say it, `yes` and `no` too. */
const answerLabel = (question: Question | undefined, value: string) =>
  (question ? kindOf(question).label(value, question) : value);

const verbOf = (operator: string) => ({ is: 'is', not: 'is not', from: '≥', to: '≤' })[operator] ?? operator;

/** A chip as one text, for assistive technology and titles. */
export const chipText = ({ name, verb, values }: FilterChip) =>
  [name, verb, values.map(({ words }) => words).join(' or ')].filter(Boolean).join(' ');

/**
 * What the rows are sorted by, in words; nothing for the newest first. The level of a scale that comes first is named: the most
 * can be the happiest or the angriest.
 */
export function sortWords(sort: string | undefined, questions: Question[] = []): string | undefined {
  if (sort === undefined || sort === '-@created') return undefined;
  const [down, name] = sort.startsWith('-') ? [true, sort.slice(1)] : [false, sort];
  if (name === '@created') return 'oldest first';
  if (name === '@took') return `by time taken, ${down ? 'longest' : 'shortest'} first`;
  const [question = '', option] = name.split(/[.@]/);
  const of = option && option !== 'average' ? `${titleOf(question)}: ${option}` : titleOf(question);
  const asked = questions.find(({ key }) => key === question);
  const levels = option === 'average' && asked ? kindOf(asked).values(asked) : [];
  const level = levels.at(down ? -1 : 0)?.label;
  if (level !== undefined) return `by ${of}, “${level.length > 40 ? `${level.slice(0, 40).trim()}…` : level}” first`;
  return `by ${of}, ${down ? 'most' : 'least'} first`;
}

/** What can be filtered by, in the order of the menu. Answers and labels of a prism only where searches find its results. */
export function aboutsOf(prism: Schemas['Prism'] | undefined, fixed: boolean): About[] {
  const searched = prism?.searchable === false ? undefined : prism;
  const questions = (searched?.version.questions ?? []).map(({ key }) => `question ${key}` as const);
  return [
    ...(fixed ? [] : ['prism' as const]), ...questions, ...(searched ? ['labelled' as const] : []),
    'status', 'time', 'version', 'model', 'key_id', 'assignee', 'run', 'ref',
  ];
}

/** The search without the filters about something, so that its values are counted as if it were not set. */
export function elsewhere(search: ResultsSearch, about: About): ResultsSearch {
  if (about === 'time') return { ...search, from: undefined, to: undefined };
  const key = about.startsWith('question ') ? about.slice(9) : undefined;
  if (key === undefined && about !== 'labelled') return compact({ ...search, [about]: undefined });
  const where = search.where?.filter((text) => {
    const one = parse(text);
    return key === undefined ? one.name !== '@labelled' : !(one.name === key && ['is', 'not'].includes(one.operator));
  });
  return compact({ ...search, where: where?.length ? where : undefined });
}
