import { membersOf, objectsIn, type Reference, type Schema, slug, within } from './document';

export interface Entry {
  /** The anchor that the entry leads to. */
  id: string;
  title: string;
  /** Where it is: a method and path, a call, or the part of the page. */
  place: string;
  text: string;
}

/** Everything that can be found, in the order of the page. */
export function entriesOf({ chapters, groups, schemas }: Reference): Entry[] {
  // Objects with a name have their members where the schemas are; others have them in place.
  const members = (prefix: string, place: string, schema: Schema): Entry[] => membersOf(schema, schemas).flatMap((row) => {
    const id = `${prefix}.${row.name}`;
    const objects = objectsIn(row.schema, schemas);
    const inner = objects.flatMap((each, at) => (each.name ? [] : members(within(id, objects, at), row.name, each.schema)));
    return [{ id, title: row.name, place, text: row.description }, ...inner];
  });
  return [
    ...chapters.map(({ name, text }) => ({ id: slug(name), title: name, place: 'Guide', text })),
    ...groups.flatMap(({ operations }) => operations.flatMap((operation): Entry[] => {
      const { id, method, path, summary, description, parameters, body, errors } = operation;
      return [
        {
          id, title: summary, place: `${method} ${path}`,
          text: [id, description, ...errors.map((row) => `${row.code ?? ''} ${row.message}`)].join(' '),
        },
        ...parameters.map((parameter) => ({
          id: `${id}.${parameter.name}`, title: parameter.name, place: summary, text: parameter.description ?? '',
        })),
        ...members(`${id}.body`, summary, body?.schema ?? {}),
      ];
    })),
    ...Object.entries(schemas).flatMap(([name, schema]): Entry[] => [
      { id: `schema-${name}`, title: name, place: 'Schema', text: schema.description ?? '' },
      ...members(`schema-${name}`, name, schema),
    ]),
  ];
}

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
