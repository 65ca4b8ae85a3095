import { itemsOf, labelOf, lackingKey } from '@/answers/words';
import { typedNumber } from '@/design/numbers';
import { type Kind, kindOf, type Show } from '@/questions';
import type { Definition, LensColumn, Question } from './model';

/** A column of a Lens as it is being edited. Numbers are as typed; empty is the default. */
export interface DraftColumn {
  id: string;
  name: string;
  question: string;
  show: Show;
  option: string;
  yesAt: string;
  noAt: string;
  calibrated: boolean;
}

let last = 0;

export function draftColumn(c: LensColumn): DraftColumn {
  return {
    id: `column-${++last}`, name: c.name, question: c.question, show: c.show, option: c.option ?? '',
    yesAt: c.yes_at == null ? '' : String(c.yes_at), noAt: c.no_at == null ? '' : String(c.no_at),
    calibrated: c.calibrated === true,
  };
}

// A text that is no number is sent as it is, so that the API names the problem at its path.
const numberOf = (text: string): number => {
  const number = typedNumber(text);
  return Number.isFinite(number) ? number : (text as unknown as number);
};

/** Whether probabilities of a question are those of something that it lists; of one that is gone too. */
const named = (question: Question | undefined) => !question || kindOf(question).lists !== undefined;

type Bounds = Kind['bounds'];

/** The thresholds that a column has. */
export const boundsOf = (c: Pick<DraftColumn, 'show'>, question: Question | undefined): Bounds =>
  (question && kindOf(question).bounded.includes(c.show) ? kindOf(question).bounds : {});

export const boundsIn = (bounds: Bounds) => Object.entries(bounds) as [keyof Bounds, NonNullable<Bounds[keyof Bounds]>][];

/** The column in the API's form, with only what its `show` takes. */
export function columnOf(c: DraftColumn, questions: Question[]): LensColumn {
  const question = questions.find((q) => q.key === c.question);
  const bounds = boundsOf(c, question);
  return {
    name: c.name, question: c.question, show: c.show,
    ...(c.show === 'probability' && named(question) && c.option && { option: c.option }),
    ...('yes_at' in bounds && c.yesAt.trim() && { yes_at: numberOf(c.yesAt) }),
    ...('no_at' in bounds && c.noAt.trim() && { no_at: numberOf(c.noAt) }),
    ...(c.calibrated && { calibrated: true }),
  };
}

export const shows: Record<Show, string> = {
  answer: 'Answer', probability: 'Probability', average: 'Average', confidence: 'Confidence', count: 'Count',
};

/** What a column shows, in words: `Probability of Billing`, `Answer, yes from 0.6, no up to 0.4`. */
export function columnWords(c: DraftColumn, questions: Question[]): string {
  const question = questions.find((q) => q.key === c.question);
  const option = optionsOf(question).find((o) => o.key === c.option)?.label ?? c.option;
  const bounds = boundsOf(c, question);
  return [
    `${shows[c.show] ?? c.show}${c.show === 'probability' && option && named(question) ? ` of ${option}` : ''}`,
    ...boundsIn(bounds).map(([member, { label, usual }]) =>
      `${label.toLowerCase()} ${(member === 'yes_at' ? c.yesAt : c.noAt).trim() || usual}`),
    ...(c.calibrated ? ['calibrated'] : []),
  ].join(', ');
}

/** What a question can show. */
export const showsOf = (question: Question | undefined): readonly Show[] =>
  (question ? kindOf(question).shows : ['answer', 'probability']);

/** The options or levels whose probability a column can show. */
export function optionsOf(question: Question | undefined): readonly { key: string; label: string }[] {
  if (!question) return [];
  const lacks = 'insufficient_information' in question && question.insufficient_information;
  return lacks ? [...itemsOf(question), { key: lackingKey, label: labelOf(question, lackingKey) }] : itemsOf(question);
}

/** The Lens that Prism derives from questions (spec: derived-lens). */
export function derived(questions: Question[]): LensColumn[] {
  return questions.flatMap((q): LensColumn[] => {
    const second = kindOf(q).derived;
    return [
      { name: q.key, question: q.key, show: 'answer' },
      ...(second ? [{ name: `${q.key}_${second}`, question: q.key, show: second }] : []),
    ];
  });
}

/** A column without the members that say nothing. */
export function plainColumn(c: LensColumn): LensColumn {
  return {
    name: c.name, question: c.question, show: c.show,
    ...(c.option != null && { option: c.option }), ...(c.yes_at != null && { yes_at: c.yes_at }),
    ...(c.no_at != null && { no_at: c.no_at }),
    ...(c.calibrated && { calibrated: true }),
  };
}

/** Whether a column can be shown of these questions. */
function fits(c: LensColumn, questions: Question[]): boolean {
  const question = questions.find((q) => q.key === c.question);
  if (!question || !showsOf(question).includes(c.show)) return false;
  if (c.option != null && !optionsOf(question).some((o) => o.key === c.option)) return false;
  const { bounds } = kindOf(question);
  return (c.yes_at == null || 'yes_at' in bounds) && (c.no_at == null || 'no_at' in bounds);
}

/**
 * The Lens for a new version: the columns of the old one that still fit, in their order, and the derived columns of questions
 * that the old version did not have. A new version would otherwise replace a Lens that was made by hand.
 */
export function carried(old: LensColumn[], before: Definition, after: Definition): LensColumn[] {
  const taken = new Set([...after.fields.map((f) => f.key), ...reserved]);
  const kept = old.filter((c) => fits(c, after.questions) && !taken.has(c.name)).map(plainColumn);
  kept.forEach((c) => taken.add(c.name));
  const known = new Set(before.questions.map((q) => q.key));
  const added = derived(after.questions.filter((q) => !known.has(q.key))).filter((c) => !taken.has(c.name));
  const all = [...kept, ...added];
  return all.length ? all : derived(after.questions);
}

/** Names of a tabular row that no field and no column has. */
export const reserved = ['result_id', 'ref', 'version', 'status', 'error', 'created_at'];

/** A name for a new column that is not taken yet. */
export function freeName(wanted: string, columns: { name: string }[], fields: { key: string }[]): string {
  const taken = new Set([...columns.map((c) => c.name), ...fields.map((f) => f.key), ...reserved]);
  if (!taken.has(wanted)) return wanted;
  for (let n = 2; ; n++) if (!taken.has(`${wanted}_${n}`)) return `${wanted}_${n}`;
}
