import { type Definition, groupOf, type LensColumn, type Question } from './model';

/** A difference between two definitions. `before` and `after` are texts to read, for a change of a text. */
export interface Change {
  kind: 'added' | 'removed' | 'changed' | 'moved';
  /** What is different: "Question urgent", "Option billing of topic: label". */
  what: string;
  before?: string;
  after?: string;
}

/**
 * What changed between two definitions: items are matched by their keys, so that a renamed label is a change and no replacement.
 */
export function changes(before: Definition, after: Definition): Change[] {
  return [
    ...text('Instructions', before.instructions, after.instructions),
    ...text('Model', before.model, after.model, 'the default'),
    ...text('Second model', secondModel(before.escalate), secondModel(after.escalate)),
    ...list('Field', before.fields, after.fields, (f) => f.label ?? '', (name, a, b) => text(`${name}: label`, a.label, b.label)),
    ...list('Question', before.questions, after.questions, (q) => q.text, question),
    ...list('Example', numbered(before), numbered(after), (e) => e.says, () => []),
  ];
}

/** Examples have no keys: the same content is the same example. */
const numbered = ({ examples }: Definition) => (examples ?? []).map(({ fields, answers }) => {
  const answer = Object.values(answers).map((label) => (Array.isArray(label) ? label.join(', ') : String(label))).join(', ');
  const says = `${Object.values(fields).join(' · ')} → ${answer}`;
  return { key: says.slice(0, 60), says };
});

/** What changed between two Lenses, whose columns are matched by their names. */
export function lensChanges(before: LensColumn[], after: LensColumn[]): Change[] {
  const named = (columns: LensColumn[]) => columns.map((column) => ({ key: column.name, column }));
  return list('Column', named(before), named(after), (c) => columnText(c.column),
    (name, a, b) => text(name, columnText(a.column), columnText(b.column)));
}

/** A column in words: `probability of billing, of topic`. */
export function columnText(c: LensColumn): string {
  const limits = [
    c.yes_at != null && `yes from ${c.yes_at}`, c.no_at != null && `no up to ${c.no_at}`, c.calibrated && 'calibrated',
  ].filter(Boolean).join(', ');
  const show = c.option ? `${c.show} of ${c.option}` : c.show;
  return `${show}, of ${c.question}${limits && ` (${limits})`}`;
}

function question(name: string, a: Question, b: Question): Change[] {
  if (a.type !== b.type) {
    return [{ kind: 'changed', what: `${name}: type`, before: a.type, after: b.type }, ...text(`${name}: text`, a.text, b.text)];
  }
  return [
    ...text(`${name}: text`, a.text, b.text),
    ...flag(`${name}: insufficient information`, lacks(a), lacks(b)),
    ...('options' in a && 'options' in b ? [
      ...list(`${name}: option`, a.options, b.options, (o) => [o.label, o.description].filter(Boolean).join(': '),
        (option, x, y) => [
          ...text(`${option}: label`, x.label, y.label), ...text(`${option}: description`, x.description, y.description),
          ...text(`${option}: group`, groupOf(x), groupOf(y))]),
    ] : []),
    ...('levels' in a && 'levels' in b
      ? list(`${name}: level`, levels(a.levels), levels(b.levels), (l) => l.label, (level, x, y) => [
        ...text(`${level}: label`, x.label, y.label), ...text(`${level}: value`, String(x.value), String(y.value))])
      : []),
  ];
}

const lacks = (q: Question) => 'insufficient_information' in q && q.insufficient_information;

/** Levels with the values that they have without a value of their own. */
const levels = (all: { key: string; label: string; value?: number | null }[]) =>
  all.map((l, i) => ({ ...l, value: l.value ?? i + 1 }));

function text(what: string, before: string | null | undefined, after: string | null | undefined, none = 'none'): Change[] {
  const [a, b] = [before ?? '', after ?? ''];
  return a === b ? [] : [{ kind: 'changed', what, before: a || none, after: b || none }];
}

function secondModel(escalate: Definition['escalate']): string {
  return escalate
    ? `${escalate.to} below ${escalate.below}${escalate.questions?.length ? ` of ${escalate.questions.join(', ')}` : ''}` : '';
}

function flag(what: string, before: boolean | null | undefined, after: boolean | null | undefined): Change[] {
  const word = (on: boolean | null | undefined) => (on ? 'on' : 'off');
  return text(what, word(before), word(after));
}

function list<T extends { key: string }>(
  kind: string, before: T[], after: T[], say: (item: T) => string, inside: (name: string, a: T, b: T) => Change[],
): Change[] {
  const old = new Map(before.map((item) => [item.key, item]));
  const now = new Set(after.map((item) => item.key));
  const kept = before.filter((item) => now.has(item.key)).map((item) => item.key);
  const order = after.filter((item) => old.has(item.key)).map((item) => item.key);
  const stayed = common(kept, order);
  return [
    ...before.filter((item) => !now.has(item.key))
      .map((item): Change => ({ kind: 'removed', what: `${kind} ${item.key}`, before: say(item) })),
    ...after.flatMap((item): Change[] => {
      const was = old.get(item.key);
      const name = `${kind} ${item.key}`;
      if (!was) return [{ kind: 'added', what: name, after: say(item) }];
      return [...(stayed.has(item.key) ? [] : [{ kind: 'moved' as const, what: name }]), ...inside(name, was, item)];
    }),
  ];
}

/** The longest common subsequence of two lists: what did not move. */
function common(a: string[], b: string[]): Set<string> {
  return new Set(sequence(a, b).filter((part) => part.kind === 'same').map((part) => part.text));
}

export interface Part {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

const longest = 400; // words; beyond it two texts are shown whole, since the table of a comparison grows with the product

/** Two texts as one, with the words that were removed and added. */
export function wordChanges(before: string, after: string): Part[] {
  const words = (s: string) => s.match(/\s+|[^\s]+/g) ?? [];
  const [a, b] = [words(before), words(after)];
  if (a.length > longest || b.length > longest) return [{ kind: 'removed', text: before }, { kind: 'added', text: after }];
  return sequence(a, b).reduce<Part[]>((parts, part) => {
    const end = parts.at(-1);
    if (end?.kind === part.kind) end.text += part.text;
    else parts.push({ ...part });
    return parts;
  }, []);
}

function sequence(a: string[], b: string[]): Part[] {
  // lengths[i][j] is the length of the longest common subsequence of a from i and b from j.
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i]![j] = a[i] === b[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  const parts: Part[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      parts.push({ kind: 'same', text: a[i++]! });
      j++;
    } else if (j >= b.length
      || (i < a.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!)) parts.push({ kind: 'removed', text: a[i++]! });
    else parts.push({ kind: 'added', text: b[j++]! });
  }
  return parts;
}
