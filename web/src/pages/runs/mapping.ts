import type { Schemas } from '@/api';

type File_ = Schemas['File'];
type Field = Schemas['Field'];

/** Which column has the values of each field, the refs and the contexts. '' is none. */
export interface Mapping {
  fields: Record<string, string>;
  ref: string;
}

const plain = (name: string) => name.normalize('NFKD').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
const parts = (name: string) => name.normalize('NFKD').toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/**
 * Guesses the columns from their names: the key or label of a field itself, then a name that has it as a word. If one field and
 * no name is left over, it is the column with the longest texts. No column serves twice.
 */
export function guess(fields: Field[], columns: NonNullable<File_['columns']>): Mapping {
  const found: Record<string, string> = {};
  const free = () => columns.filter(({ name }) => !Object.values(found).includes(name));
  const names = ({ key, label }: Field) => [key, ...(label ? [label] : [])];
  const pass = (fits: (column: string, field: string) => boolean) => {
    for (const field of fields) {
      if (found[field.key]) continue;
      const column = free().find(({ name }) => names(field).some((one) => fits(name, one)));
      if (column) found[field.key] = column.name;
    }
  };
  pass((column, field) => column === field);
  pass((column, field) => plain(column) !== '' && plain(column) === plain(field));
  pass((column, field) => parts(column).includes(plain(field)) || parts(field).includes(plain(column)));
  const ref = guessRef(free());
  const left = fields.filter(({ key }) => !found[key]);
  if (left.length === 1) {
    const longest = free().filter(({ name }) => name !== ref).sort((a, b) => b.longest - a.longest)[0];
    if (longest && longest.longest > 0) found[left[0]!.key] = longest.name;
  }
  return { fields: Object.fromEntries(fields.map(({ key }) => [key, found[key] ?? ''])), ref };
}

/** A column that names the rows: `ref`, `id`, or one that ends so, with short values. */
export function guessRef(columns: NonNullable<File_['columns']>): string {
  const short = columns.filter(({ filled, longest }) => filled > 0 && longest > 0 && longest <= 200);
  const by = (fits: (words: string[]) => boolean) => short.find(({ name }) => fits(parts(name)));
  return (by((words) => words.join('') === 'ref') ?? by((words) => words.join('') === 'id')
    ?? by((words) => ['ref', 'id', 'reference', 'key'].includes(words.at(-1) ?? '')))?.name ?? '';
}

/** What is wrong with a mapping, by field; an empty object if nothing is. */
export function problemsOf({ fields, ref }: Mapping, columns: NonNullable<File_['columns']>): Record<string, string> {
  const longest = columns.find(({ name }) => name === ref)?.longest ?? 0;
  return {
    ...Object.fromEntries(
      Object.entries(fields).filter(([, column]) => !column).map(([key]) => [key, 'Choose the column that has its values.']),
    ),
    ...(longest > 200 && { ref: 'Some refs of this column have more than 200 characters. Those rows are invalid.' }),
  };
}

/** The format that a name's extension says, or undefined. */
export function formatOf(name: string): Schemas['FileFormat'] | undefined {
  const extension = /\.([a-z]+)(\.(gz|zst|zip))?$/i.exec(name)?.[1]?.toLowerCase();
  return ({
    csv: 'csv', tsv: 'tsv', tab: 'tsv', jsonl: 'jsonl', ndjson: 'jsonl', xlsx: 'xlsx', xlsm: 'xlsx', parquet: 'parquet',
  } as const)[extension ?? ''];
}

/** How the program that wrote a file of another format writes one that is read, as a sentence behind a space; '' for others. */
export function adviceOf(name: string): string {
  const extension = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase();
  return ({
    xls: ' In Excel, save it as .xlsx.', xlsb: ' In Excel, save it as .xlsx.', ods: ' In LibreOffice, save it as .xlsx.',
    numbers: ' In Numbers, export it to Excel, as .xlsx.',
  } as Record<string, string>)[extension ?? ''] ?? '';
}
