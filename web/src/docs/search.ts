import { membersOf, type Reference, slug } from './document';

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
  return [
    ...chapters.map(({ name, text }) => ({ id: slug(name), title: name, place: 'Guide', text })),
    ...groups.flatMap(({ operations }) => operations.flatMap((operation): Entry[] => {
      const { id, method, path, summary, description, parameters, body, errors } = operation;
      const of = (prefix: string, name: string, text: string) => ({ id: `${prefix}.${name}`, title: name, place: summary, text });
      return [
        { id, title: summary, place: `${method} ${path}`, text: [id, description, ...errors.map((row) => `${row.code ?? ''} ${row.message}`)].join(' ') },
        ...parameters.map((parameter) => of(id, parameter.name, parameter.description ?? '')),
        ...membersOf(body?.schema ?? {}, schemas).map((row) => of(`${id}.body`, row.name, row.description)),
      ];
    })),
    ...Object.entries(schemas).flatMap(([name, schema]): Entry[] => [
      { id: `schema-${name}`, title: name, place: 'Schema', text: schema.description ?? '' },
      ...membersOf(schema, schemas).map((row) => ({ id: `schema-${name}.${row.name}`, title: row.name, place: name, text: row.description })),
    ]),
  ];
}

/** The entries that hold every word, best first: those that begin with the words, then titles, then places, then texts. */
export function find(entries: Entry[], query: string, most = 12): Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return entries.flatMap((entry, at) => {
    const [title, place, text] = [entry.title, entry.place, entry.text].map((part) => part.toLowerCase()) as [string, string, string];
    if (!words.every((word) => title.includes(word) || place.includes(word) || text.includes(word))) return [];
    const rank = title === words.join(' ') ? 0 : title.startsWith(words[0]!) ? 1 : words.every((word) => title.includes(word)) ? 2
      : words.every((word) => title.includes(word) || place.includes(word)) ? 3 : 4;
    return [{ entry, rank, at }];
  }).sort((a, b) => a.rank - b.rank || a.at - b.at).slice(0, most).map(({ entry }) => entry);
}
