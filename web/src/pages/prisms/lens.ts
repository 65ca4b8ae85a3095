import { typedNumber } from '@/design/numbers';
import type { Definition, LensColumn, Question } from './model';

export type Show = LensColumn['show'];

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

/** The column in the API's form, with only what its `show` takes. */
export function columnOf(c: DraftColumn, questions: Question[]): LensColumn {
  const type = questions.find((q) => q.key === c.question)?.type;
  return {
    name: c.name, question: c.question, show: c.show,
    ...(c.show === 'probability' && type !== 'yes_no' && c.option && { option: c.option }),
    ...(c.show === 'answer' && type === 'yes_no' && c.yesAt.trim() && { yes_at: numberOf(c.yesAt) }),
    ...(c.show === 'answer' && type === 'yes_no' && c.noAt.trim() && { no_at: numberOf(c.noAt) }),
    ...(c.calibrated && { calibrated: true }),
  };
}

export const shows: Record<Show, string> = {
  answer: 'Answer', probability: 'Probability', average: 'Average', confidence: 'Confidence',
};

/** What a column shows, in words: `Probability of Billing`, `Answer, yes from 0.6, no up to 0.4`. */
export function columnWords(c: DraftColumn, questions: Question[]): string {
  const question = questions.find((q) => q.key === c.question);
  const option = optionsOf(question).find((o) => o.key === c.option)?.label ?? c.option;
  return [
    `${shows[c.show] ?? c.show}${c.show === 'probability' && option && question?.type !== 'yes_no' ? ` of ${option}` : ''}`,
    ...(c.show === 'answer' && question?.type === 'yes_no'
      ? [`yes from ${c.yesAt.trim() || '0.6'}`, `no up to ${c.noAt.trim() || '0.4'}`] : []),
    ...(c.calibrated ? ['calibrated'] : []),
  ].join(', ');
}

/** What a question of a type can show. */
export function showsOf(type: Question['type'] | undefined): Show[] {
  const shows: Show[] = ['answer', 'probability'];
  if (type === 'scale') shows.push('average');
  if (type === 'choice') shows.push('confidence');
  return shows;
}

/** The options or levels whose probability a column can show. */
export function optionsOf(question: Question | undefined): { key: string; label: string }[] {
  if (question?.type === 'scale') return question.levels;
  if (question?.type !== 'choice') return [];
  return question.insufficient_information
    ? [...question.options, { key: 'insufficient_information', label: 'Insufficient information' }] : question.options;
}

/** The Lens that Prism derives from questions (spec: derived-lens). */
export function derived(questions: Question[]): LensColumn[] {
  return questions.flatMap((q): LensColumn[] => [
    { name: q.key, question: q.key, show: 'answer' },
    q.type === 'scale' ? { name: `${q.key}_average`, question: q.key, show: 'average' }
      : { name: `${q.key}_probability`, question: q.key, show: 'probability' },
  ]);
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
  if (!question || !showsOf(question.type).includes(c.show)) return false;
  if (c.option != null && !optionsOf(question).some((o) => o.key === c.option)) return false;
  return question.type === 'yes_no' || (c.yes_at == null && c.no_at == null);
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
