import type { Problem } from '@/api';
import { limits, mostGroups } from '@/api/limits';
import { inWords, texts } from '@/api/words';
import { typedNumber } from '@/design/numbers';
import { kindOf } from '@/questions';
import { boundsOf, type DraftColumn, optionsOf, reserved } from './lens';
import { type Definition, definitionOf, type Draft, type DraftField, type DraftQuestion } from './model';

const keyForm = /^[a-z][a-z0-9_]{0,63}$/;
const slugForm = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const nameForm = /^[A-Za-z0-9_ .-]{1,64}$/;

/**
 * Problems by the path of the member in the API's own form, such as `questions.0.options.1.key`. The paths of a draft are those
 * of the definition that it is sent as, since items keep their order.
 */
export type Problems = ReadonlyMap<string, string>;

type Keyed = Pick<DraftField, 'key' | 'auto'>;

/** How many options a question has at most: insufficient information is one of those that the API counts. */
export function mostOptions({ type, insufficient }: Pick<DraftQuestion, 'type' | 'insufficient'>): number {
  const { range, lacks } = kindOf({ type });
  return range!.most - (lacks && insufficient ? 1 : 0);
}

/** What can be known of a draft without asking the API, at once while typing. */
export function localProblems(draft: Draft, named: boolean): Problems {
  const found = new Map<string, string>();
  // A key that follows a text is lacking with it, and what lacks is the text.
  const key = (at: string, { key: value, auto }: Keyed, taken: Set<string>, text = 'label', clash = texts.twice) => {
    const path = `${at}.key`;
    if (!value) found.set(auto ? `${at}.${text}` : path, texts.required);
    else if (!keyForm.test(value)) found.set(path, texts.key);
    else if (taken.has(value)) found.set(path, clash);
    taken.add(value);
  };
  const need = (path: string, value: string) => { if (!value) found.set(path, texts.required); };
  const size = (path: string, n: number, { least, most }: { least: number; most: number }, what: string) => {
    if (n < least) found.set(path, `At least ${least} ${least === 1 ? what : `${what}s`}.`);
    if (n > most) found.set(path, `At most ${most} ${what}s.`);
  };
  if (named) {
    if (!draft.slug) found.set('slug', texts.required);
    else if (!slugForm.test(draft.slug)) found.set('slug', texts.slug);
  }
  if (draft.escalate?.to) {
    const below = typedNumber(draft.escalate.below);
    if (!(below > 0 && below <= 1)) found.set('escalate.below', 'A number above 0, at most 1.');
    if (draft.escalate.to === draft.model) found.set('escalate.to', texts.other);
    const known = new Set(draft.questions.map((q) => q.key));
    const unknown = (definitionOf(draft).escalate?.questions ?? []).find((key) => !known.has(key));
    if (unknown) found.set('escalate.questions', `There is no question ${unknown}.`);
  }
  size('fields', draft.fields.length, limits.fields, 'field');
  const names = new Set(reserved);
  draft.fields.forEach((f, i) => key(`fields.${i}`, f, names, 'label', texts.row));
  size('questions', draft.questions.length, limits.questions, 'question');
  const questions = new Set<string>();
  draft.questions.forEach((q, i) => {
    const at = `questions.${i}`;
    key(at, q, questions, 'text');
    need(`${at}.text`, q.text);
    const { lists, lacks, range } = kindOf(q);
    if (lists === 'options') {
      size(`${at}.options`, q.options.length, { least: range!.least, most: mostOptions(q) }, 'option');
      const keys = new Set(lacks && q.insufficient ? ['insufficient_information'] : []);
      q.options.forEach((o, j) => { key(`${at}.options.${j}`, o, keys); need(`${at}.options.${j}.label`, o.label); });
      const groups = new Set(q.options.flatMap((o) => (o.group?.trim() ? [o.group.trim()] : []))).size;
      if (groups > mostGroups) found.set(`${at}.options`, `At most ${mostGroups} groups, not ${groups}.`);
    } else if (lists === 'levels') {
      size(`${at}.levels`, q.levels.length, range!, 'level');
      const keys = new Set<string>();
      let before = -Infinity;
      q.levels.forEach((l, j) => {
        key(`${at}.levels.${j}`, l, keys);
        need(`${at}.levels.${j}.label`, l.label);
        const value = l.value.trim() ? typedNumber(l.value) : j + 1;
        if (!Number.isFinite(value)) found.set(`${at}.levels.${j}.value`, 'A number.');
        else if (value <= before) found.set(`${at}.levels.${j}.value`, `More than ${before}, the value of the level before.`);
        before = value;
      });
    }
  });
  return found;
}

/** What can be known of a Lens without asking the API. */
export function localLensProblems(columns: DraftColumn[], { fields, questions }: Definition): Problems {
  const found = new Map<string, string>();
  const taken = new Set([...reserved, ...fields.map((f) => f.key)]);
  if (columns.length < limits.columns.least) found.set('columns', `At least ${limits.columns.least} column.`);
  if (columns.length > limits.columns.most) found.set('columns', `At most ${limits.columns.most} columns.`);
  columns.forEach((c, i) => {
    const at = `columns.${i}`;
    if (!nameForm.test(c.name)) found.set(`${at}.name`, c.name ? texts.name : texts.required);
    else if (taken.has(c.name)) found.set(`${at}.name`, texts.row);
    taken.add(c.name);
    const question = questions.find((q) => q.key === c.question);
    if (!question) return void found.set(`${at}.question`, 'The latest version has no such question.');
    const { noun, shows, lists, chosen } = kindOf(question);
    const bounds = boundsOf(c, question);
    if (!shows.includes(c.show)) found.set(`${at}.show`, `A ${noun} has no ${c.show}.`);
    if (c.show === 'probability' && c.option && lists && !optionsOf(question).some((o) => o.key === c.option)) {
      found.set(`${at}.option`, 'The question has no such option.');
    }
    if (c.show === 'probability' && !c.option && lists && !chosen) found.set(`${at}.option`, 'Choose the option.');
    for (const [member, value] of [['yes_at', c.yesAt], ['no_at', c.noAt]] as const) {
      if (!(member in bounds)) continue;
      const n = typedNumber(value);
      if (value.trim() && !(n >= 0 && n <= 1)) found.set(`${at}.${member}`, 'A number from 0 to 1.');
    }
  });
  return found;
}

/**
 * The problems of a response, by path. `prefix` is where the definition stands in the body that was sent, such as `definition.`.
 */
export function problemsByPath(problems: Problem[], prefix = ''): Problems {
  const found = new Map<string, string>();
  for (const { path, message } of problems) {
    const place = path.startsWith(prefix) ? path.slice(prefix.length) : path;
    if (!found.has(place)) found.set(place, inWords(message));
  }
  return found;
}

/** The local problems, and those that only the API knows. */
export function together(local: Problems, api: Problems): Problems {
  return new Map([...api, ...local]);
}

/** Where a path is, in words: `questions.0.options.1.key` → `Question topic, option 2, key`. */
export function placeOf(path: string, draft: Draft): string {
  const parts = path.split('.');
  const item = (one: string, index: string | undefined, key: string | undefined) => `${one} ${key || Number(index) + 1}`;
  if (parts[0] === 'fields' && parts[1]) {
    return [item('Field', parts[1], draft.fields[+parts[1]]?.key), ...parts.slice(2)].join(', ');
  }
  if (parts[0] === 'questions' && parts[1]) {
    const question = draft.questions[+parts[1]];
    const inner = parts[2] === 'options' ? question?.options : parts[2] === 'levels' ? question?.levels : undefined;
    const rest = inner && parts[3]
      ? [item(parts[2] === 'options' ? 'option' : 'level', parts[3], inner[+parts[3]]?.key), ...parts.slice(4)] : parts.slice(2);
    return [item('Question', parts[1], question?.key), ...rest].join(', ');
  }
  if (parts[0] === 'examples' && parts[1]) return [item('Example', parts[1], undefined), ...parts.slice(2)].join(', ');
  return parts.join(', ').replace(/^./, (c) => c.toUpperCase());
}

/** The id of the control of a path in a document: labels and the list of problems refer to it. */
export const idOf = (path: string): string => `at-${path.replaceAll('.', '-')}`;
