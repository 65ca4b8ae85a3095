import type { Schemas } from '@/api';

export type Prism = Pick<Schemas['Prism'], 'slug' | 'name' | 'latest_version' | 'version' | 'lens'>;
type Question = Prism['version']['questions'][number];

/** Whether an example of a body has something of a prism. */
export const fillable = (example: unknown) =>
  /"(fields|questions|columns|definition|prism|labels)":/.test(JSON.stringify(example ?? null));

/** An example of a body with the fields, questions, Lens, slug and version of a prism in place of the document's. */
export function fill(example: unknown, prism: Prism): unknown {
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return example;
  const { version, lens, slug, latest_version: latest } = prism;
  const { fields, questions } = version;
  const definition: Record<string, unknown> = { instructions: version.instructions, model: version.model, fields, questions };
  return Object.fromEntries(Object.entries(example).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    if (name === 'prism') return [[name, slug]];
    if (name === 'version') return [[name, latest]];
    if (name === 'columns') return [[name, lens.columns]];
    if (name === 'lens') return [[name, lens]];
    if (name === 'definition') return [[name, fill(value, prism)]];
    if (name === 'labels') return [[name, labels(value, questions)]];
    if (name === 'text' && fields.length > 1) return [['fields', valuesOf({ text: value }, fields)]];
    if (name === 'fields' && !Array.isArray(value)) return [[name, valuesOf(value as object, fields)]];
    if ('questions' in example && name in definition) return definition[name] === null ? [] : [[name, definition[name]]];
    return [[name, value]];
  }));
}

// A value for each field: that of the example's field with its key, or at its place. An example that names each field's column by
// the field's key goes on to do so.
function valuesOf(example: object, fields: Prism['version']['fields']): Record<string, unknown> {
  const entries = Object.entries(example);
  const same = entries.every(([key, value]) => key === value);
  return Object.fromEntries(
    fields.map(({ key }, at) => [key, same ? key : entries.find(([of]) => of === key)?.[1] ?? entries[at]?.[1] ?? '']),
  );
}

function labels(example: unknown, questions: Question[]): unknown {
  const right = (question: Question) =>
    ('options' in question && question.options?.[0]?.key) || ('levels' in question && question.levels?.[0]?.key) || true;
  if (!Array.isArray(example)) return Object.fromEntries(questions.map((question) => [question.key, right(question)]));
  return example.map((one: object, at) => {
    const question = questions[at % questions.length]!;
    return { ...one, question: question.key, value: right(question) };
  });
}
