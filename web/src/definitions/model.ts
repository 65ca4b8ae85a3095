import type { Schemas } from '@/api';
import { typedNumber } from '@/design/numbers';
import { kindOf, type QuestionType } from '@/questions';

export type Definition = Pick<Schemas['NewVersion'], 'fields' | 'questions' | 'instructions' | 'model' | 'escalate' | 'examples'>;
export type Example = Schemas['Example'];
export type Label = Example['answers'][string];
export type Question = Schemas['Question'];
export type LensColumn = Schemas['Column'];

/** Items of a draft have an id of this page, which stays when they move: it keeps their inputs and the focus. */
interface Item {
  id: string;
  key: string;
  /** The key follows the label until it is typed. */
  auto?: boolean;
}

export interface DraftField extends Item {
  label: string;
}

export interface DraftOption extends Item {
  label: string;
  description: string;
  /** The options that a model without room for all of them is asked together; empty for none. */
  group?: string;
}

export interface DraftLevel extends Item {
  label: string;
  /** As typed; empty for the level's place. */
  value: string;
}

export interface DraftQuestion extends Item {
  type: QuestionType;
  text: string;
  insufficient: boolean;
  /** Kept when the type changes, so that changing it back loses nothing. */
  options: DraftOption[];
  levels: DraftLevel[];
}

/** The second model; none while `to` is empty. */
interface DraftEscalate {
  to: string;
  /** As typed. */
  below: string;
  /** Keys with commas between them; empty for all questions. */
  questions: string;
}

/** An input with its right answers, by the keys of fields and questions. */
export interface DraftExample {
  id: string;
  values: Record<string, string>;
  /** As typed: true and false are texts here, and a list stays a list. */
  answers: Record<string, Label>;
  /** The result that it was taken from. */
  result?: string;
}

/** A definition as it is being edited: every text as typed, also what is not valid yet. */
export interface Draft {
  slug: string;
  name: string;
  instructions: string;
  model: string;
  escalate?: DraftEscalate;
  fields: DraftField[];
  questions: DraftQuestion[];
  examples?: DraftExample[];
  /** A Lens that came with a pasted definition. */
  lens?: LensColumn[];
}

let last = 0;
const newId = () => `${Date.now().toString(36)}-${++last}`;

export const newField = (key = '', label = ''): DraftField => ({ id: newId(), key, label, auto: !key });
export const newOption = (key = '', label = '', description = '', group = ''): DraftOption => ({
  id: newId(), key, label, description, group, auto: !key,
});
export const newLevel = (key = '', label = '', value = ''): DraftLevel => ({ id: newId(), key, label, value, auto: !key });
export const newQuestion = (type: QuestionType = 'choice'): DraftQuestion => ({
  id: newId(), key: '', type, text: '', insufficient: false, auto: true, options: [newOption(), newOption()],
  levels: [newLevel(), newLevel()],
});

export const newExample = (values = {}, answers: Record<string, Label> = {}, result?: string): DraftExample => ({
  id: newId(), values, answers, ...(result && { result }),
});

export const blank = (): Draft => ({
  slug: '', name: '', instructions: '', model: '', fields: [newField('text', 'Text')], questions: [newQuestion()],
});

/** The group of an option; empty for none. */
export const groupOf = (option: object): string => (option as { group?: string | null }).group ?? '';

interface Named {
  slug?: string;
  name?: string | null;
}

export function draftOf(definition: Definition & Named & { lens?: { columns: LensColumn[] } | null }): Draft {
  return {
    slug: definition.slug ?? '',
    name: definition.name ?? '',
    instructions: definition.instructions ?? '',
    model: definition.model ?? '',
    ...(definition.escalate && {
      escalate: {
        to: definition.escalate.to, below: String(definition.escalate.below ?? ''),
        questions: (definition.escalate.questions ?? []).join(', '),
      },
    }),
    fields: definition.fields.map((f) => newField(f.key, f.label ?? '')),
    questions: definition.questions.map((q) => ({
      ...newQuestion(q.type), auto: false, key: q.key, text: q.text,
      insufficient: 'insufficient_information' in q && (q.insufficient_information ?? false),
      ...('options' in q && {
        options: q.options.map((o) => newOption(o.key, o.label, o.description ?? '', groupOf(o))),
      }),
      ...('levels' in q
        && { levels: q.levels.map((l) => newLevel(l.key, l.label, l.value == null ? '' : String(l.value))) }),
    })),
    ...(definition.examples && { examples: draftExamples(definition.examples) }),
    ...(definition.lens && { lens: definition.lens.columns }),
  };
}

/** Examples as they are edited, without those whose result was deleted, which have no content. */
export const draftExamples = (examples: Example[]): DraftExample[] => examples
  .filter(({ fields }) => Object.keys(fields).length > 0)
  .map(({ fields, answers, result_id }) => newExample({ ...fields }, { ...answers }, result_id ?? undefined));

/** The definition that a draft stands for, in the API's form; what is empty is left out. */
export function definitionOf(draft: Draft): Definition {
  return {
    ...(draft.instructions && { instructions: draft.instructions }),
    ...(draft.model && { model: draft.model }),
    ...(draft.escalate?.to && { escalate: escalateOf(draft.escalate) }),
    fields: draft.fields.map(({ key, label }) => ({ key, ...(label && { label }) })),
    questions: draft.questions.map(questionOf),
    ...(draft.examples?.length && { examples: draft.examples.map((example) => exampleOf(example, draft)) }),
  };
}

/** An example in the order of the fields and questions. What it has of others is left out. */
function exampleOf({ values, answers, result }: DraftExample, { fields, questions }: Draft): Example {
  const labels = questions.flatMap(({ key, type }): [string, Label][] => {
    const label = answers[key];
    if (label === undefined || label === '') return [];
    return [[key, type === 'yes_no' && (label === 'true' || label === 'false') ? label === 'true' : label]];
  });
  return {
    fields: Object.fromEntries(fields.map(({ key }) => [key, values[key] ?? ''])), answers: Object.fromEntries(labels),
    ...(result && { result_id: result }),
  };
}

function escalateOf({ to, below, questions }: DraftEscalate): Schemas['Escalate'] {
  const keys = questions.split(',').map((key) => key.trim()).filter(Boolean);
  return { to, below: numberOf(below), ...(keys.length > 0 && { questions: keys }) };
}

function questionOf({ key, type, text, options, levels, insufficient }: DraftQuestion): Question {
  const { lists, lacks } = kindOf({ type });
  return {
    key, type, text,
    ...(lists === 'options' && {
      options: options.map((o) => ({
        key: o.key, label: o.label, ...(o.description && { description: o.description }),
        ...(o.group?.trim() && { group: o.group.trim() }),
      })),
    }),
    ...(lists === 'levels' && {
      levels: levels.map((l) => ({ key: l.key, label: l.label, ...(l.value.trim() && { value: numberOf(l.value) }) })),
    }),
    ...(lacks && insufficient && { insufficient_information: true }),
  } as Question;
}

// A text that is no number is sent as it is, so that the API names the problem at its path.
const numberOf = (text: string): number => {
  const number = typedNumber(text);
  return Number.isFinite(number) ? number : (text as unknown as number);
};

/**
 * A definition without the members that say nothing: no nulls, no empty texts, no defaults, and every member in one order. Two
 * definitions mean the same if these are equal.
 */
export function plain(definition: Definition): Definition {
  const levelValues = (q: Question) => ('levels' in q && q.levels.every((l, i) => l.value == null || l.value === i + 1));
  return definitionOf(draftOf({
    ...definition,
    questions: definition.questions.map((q) => 'levels' in q && levelValues(q)
      ? { ...q, levels: q.levels.map(({ key, label }) => ({ key, label })) } : q),
  }));
}

export const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A key out of words: "Is it urgent?" → `is_it_urgent`. */
export function keyOf(words: string): string {
  const key =
    words.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^[^a-z]+|_+$/g, '');
  return key.slice(0, 40).replace(/_+$/, '');
}

/**
 * A key out of words that is none of those of the others, with a number if it must be. `noun` stands for words in which nothing
 * is a part of a key, such as those of another script.
 */
export function freeKey(words: string, noun: string, others: string[]): string {
  if (!words.trim()) return '';
  const key = keyOf(words) || noun;
  for (let n = 1; ; n++) {
    const found = n === 1 ? key : `${key}_${n}`;
    if (!others.includes(found)) return found;
  }
}

/**
 * Options of the lines of a pasted list, each a label and, behind tabs, when it is right and its group. Lines whose label is
 * there already are only counted.
 */
export function optionsOfLines(text: string, others: DraftOption[], taken: string[]): { options: DraftOption[]; again: number } {
  const keys = [...others.map(({ key }) => key), ...taken];
  const labels = new Set(others.map(({ label }) => label));
  const options: DraftOption[] = [];
  let again = 0;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [label = '', description = '', group = ''] = line.split('\t').map((cell) => cell.trim());
    if (!label) continue;
    if (labels.has(label)) { again++; continue; }
    const key = freeKey(label, 'option', keys);
    keys.push(key);
    labels.add(label);
    options.push({ ...newOption('', label, description, group), key });
  }
  return { options, again };
}

/** A slug out of words: "Help desk (EU)" → `help-desk-eu`. */
export function slugOf(words: string): string {
  return words.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+/, '').slice(0, 63)
    .replace(/-+$/, '');
}

/** The list with the item at `from` moved by `by` places; the same list if that is beyond its ends. */
export function moved<T>(list: T[], from: number, by: number): T[] {
  const to = from + by;
  if (from < 0 || to < 0 || from >= list.length || to >= list.length) return list;
  const next = [...list];
  next.splice(to, 0, ...next.splice(from, 1));
  return next;
}
