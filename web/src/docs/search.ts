import { membersOf, objectsIn, type Operation, type Reference, type Schema, slug, within } from './document';

export interface Entry {
  /** The anchor that the entry leads to. */
  id: string;
  title: string;
  /** Where it is: a method and path, a call, or the part of the page. */
  place: string;
  text: string;
}

// Objects with a name have their members where the schemas are; others have them in place.
function membersIn(prefix: string, place: string, schema: Schema, schemas: Record<string, Schema>): Entry[] {
  return membersOf(schema, schemas).flatMap((row) => {
    const id = `${prefix}.${row.name}`;
    const objects = objectsIn(row.schema, schemas);
    const inner = objects.flatMap((each, at) =>
      (each.name ? [] : membersIn(within(id, objects, at), row.name, each.schema, schemas)));
    return [{ id, title: row.name, place, text: row.description }, ...inner];
  });
}

/** What can be found of a call, itself first. */
export function operationEntries(operation: Operation, schemas: Record<string, Schema>): Entry[] {
  const { id, method, path, summary, description, parameters, body, errors } = operation;
  return [
    {
      id, title: summary, place: `${method} ${path}`,
      text: [id, description, ...errors.map((row) => `${row.code ?? ''} ${row.message}`)].join(' '),
    },
    ...parameters.map((parameter) => ({
      id: `${id}.${parameter.name}`, title: parameter.name, place: summary, text: parameter.description ?? '',
    })),
    ...membersIn(`${id}.body`, summary, body?.schema ?? {}, schemas),
  ];
}

/** What can be found of a schema, itself first. */
export const schemaEntries = (name: string, schemas: Record<string, Schema>): Entry[] => [
  { id: `schema-${name}`, title: name, place: 'Schema', text: schemas[name]?.description ?? '' },
  ...membersIn(`schema-${name}`, name, schemas[name] ?? {}, schemas),
];

/** Everything that can be found, in the order of the page. */
export const entriesOf = ({ chapters, groups, schemas }: Reference): Entry[] => [
  ...chapters.map(({ name, text }) => ({ id: slug(name), title: name, place: 'Guide', text })),
  ...groups.flatMap(({ operations }) => operations.flatMap((operation) => operationEntries(operation, schemas))),
  ...Object.keys(schemas).flatMap((name) => schemaEntries(name, schemas)),
];

/** The entries that hold every word, best first: those that begin with the words, then titles, then places, then texts. */
export function find(entries: Entry[], query: string, most = 12): Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return entries.flatMap((entry, at) => {
    const [title, place, text] =
      [entry.title, entry.place, entry.text].map((part) => part.toLowerCase()) as [string, string, string];
    if (!words.every((word) => title.includes(word) || place.includes(word) || text.includes(word))) return [];
    const rank = title === words.join(' ') ? 0 : title.startsWith(words[0]!) ? 1 : words.every((word) => title.includes(word)) ? 2
      : words.every((word) => title.includes(word) || place.includes(word)) ? 3 : 4;
    return [{ entry, rank, at }];
  }).sort((a, b) => a.rank - b.rank || a.at - b.at).slice(0, most).map(({ entry }) => entry);
}
