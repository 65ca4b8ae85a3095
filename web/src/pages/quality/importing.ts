import type { Question } from '@/answers/words';
import { api, ask, type Schemas } from '@/api';
import { kindOf, type LabelValue } from '@/questions';
import { guess, guessRef } from '../runs/mapping';

type Column = NonNullable<Schemas['File']['columns']>[number];
type Cells = Schemas['FileRows']['data'][number];
type NewLabel = Schemas['NewLabel'];

/** The most rows of a file that the page takes; prismctl takes any number. */
export const mostRows = 10_000;

/** The most results, newest first, among which those of the rows are looked for. */
export const mostResults = 20_000;

const mostLabels = 1000; // of one call

/** Which column names the result of a row, by what, and which columns say what was right. '' is none. */
export interface LabelColumns {
  /** What the column has: the id or the reference of the result, or the text of the field with this key. */
  by: 'id' | 'ref' | `field ${string}`;
  column: string;
  /** By question. */
  labels: Record<string, string>;
}

const plain = (name: string) => name.normalize('NFKD').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

/** Guesses the columns: a result id, else the text of a field, else a reference; labels by a question's key or text. */
export function guessLabels({ fields, questions }: Schemas['Version'], columns: Column[]): LabelColumns {
  const labels = Object.fromEntries(questions.map(({ key, text }) =>
    [key, columns.find(({ name }) => [plain(key), plain(text)].includes(plain(name)))?.name ?? '']));
  const free = columns.filter(({ name }) => !Object.values(labels).includes(name));
  const id = free.find(({ name }) => /^(prism[_ ])?(result[_ ])?id$/i.test(name) && name.toLowerCase() !== 'id')?.name;
  if (id !== undefined) return { by: 'id', column: id, labels };
  const texts = guess(fields, free);
  const [field, column] = Object.entries(texts.fields).find(([, name]) => name) ?? [];
  if (column !== undefined) return { by: `field ${field!}`, column, labels };
  return { by: 'ref', column: guessRef(free), labels };
}

/** A text as rows and results are compared: line ends and white space around it do not count. */
const comparable = (text: string) => text.replace(/\r\n?/g, '\n').trim();

/** The label that a cell says (spec: label-value), or undefined for none. */
export function labelOfCell(question: Question, cell: string): LabelValue | undefined {
  const kind = kindOf(question);
  const values = kind.values(question).map(({ value, label }) => ({ value, key: String(value), label: label.trim() }));
  const find = (text: string) => {
    const folded = text.toLowerCase();
    const found = [
      values.filter(({ key }) => key === text),
      values.filter(({ label }) => label === text),
      values.filter(({ key, label }) => key.toLowerCase() === folded || label.toLowerCase() === folded),
    ].find(({ length }) => length > 0);
    return found?.length === 1 ? found[0]!.value : undefined;
  };
  const text = cell.trim();
  return kind.read ? kind.read(text, question, find) : find(text);
}

/** A result that a row may name. */
export interface Named {
  id: string;
  version: number;
}

/** The rows of a file, a page at a time. */
export async function readFileRows(id: string, rows: number, signal: AbortSignal): Promise<Cells[]> {
  const all: Cells[] = [];
  while (all.length < rows) {
    const query = { offset: all.length, limit: 100 };
    const { data } = await ask(api.GET('/v1/files/{file_id}/rows', { params: { path: { file_id: id }, query }, signal }));
    if (data.length === 0) break;
    all.push(...data);
  }
  return all;
}

/** The names that rows have for results, as results are compared with. */
const nameOf = (row: Cells, { column, by }: LabelColumns) => {
  const name = comparable(row[column] ?? '');
  return by === 'id' ? name.toLowerCase() : name;
};

/**
 * The newest result of a prism that is ok for each name of the rows. It reads the list until each is found, or to the end or the
 * bound. `told` gets how many results were looked at.
 */
export async function findResults(
  prism: string, rows: Cells[], columns: LabelColumns, told: (results: number) => void, signal: AbortSignal,
): Promise<{ found: Map<string, Named>; whole: boolean }> {
  const open = new Set(rows.map((row) => nameOf(row, columns)).filter(Boolean));
  const found = new Map<string, Named>();
  const field = columns.by.startsWith('field ') ? columns.by.slice(6) : undefined;
  let cursor: string | undefined;
  for (let looked = 0; open.size > 0 && looked < mostResults;) {
    const query = { prism, status: 'ok' as const, limit: 100, cursor, ...(field !== undefined && { fields: 'true' as const }) };
    const page = await ask(api.GET('/v1/results', { params: { query }, signal })) as Schemas['ResultPage'];
    for (const result of page.data) {
      const value = columns.by === 'id' ? result.id : columns.by === 'ref' ? result.ref : result.fields?.[field!];
      const name = value == null ? '' : comparable(value);
      if (open.delete(name)) found.set(name, { id: result.id, version: result.version });
    }
    looked += page.data.length;
    told(looked);
    cursor = page.next_cursor ?? undefined;
    if (cursor === undefined) return { found, whole: true };
  }
  return { found, whole: open.size === 0 };
}

/** A row that stores nothing, or not all that it says; the first row behind the head is 1. */
interface BadRow {
  row: number;
  message: string;
}

/** What an import will do. */
export interface Plan {
  labels: NewLabel[];
  /** How many results get a label. */
  results: number;
  /** Rows whose result is not there. */
  unmatched: BadRow[];
  /** Cells that are no label. */
  invalid: BadRow[];
  /** Labels that a later row says again, of which the later one stays. */
  repeated: number;
}

/** Plans the labels of rows, by the version that answered each result. An empty cell is no label. */
export function plan(
  rows: Cells[], columns: LabelColumns, found: Map<string, Named>, versions: Map<number, Schemas['Version']>,
): Plan {
  const labels = new Map<string, NewLabel>();
  const unmatched: BadRow[] = [];
  const invalid: BadRow[] = [];
  let said = 0;
  for (const [at, row] of rows.entries()) {
    const cells = Object.entries(columns.labels).filter(([, column]) => column && (row[column] ?? '').trim() !== '');
    const name = nameOf(row, columns);
    const result = found.get(name);
    if (cells.length === 0) continue;
    if (!result) {
      unmatched.push({ row: at + 1, message: name === '' ? 'The cell that names the result is empty.' : shorten(name) });
      continue;
    }
    for (const [key, column] of cells) {
      const question = versions.get(result.version)?.questions.find((one) => one.key === key);
      const value = question && labelOfCell(question, row[column]!);
      if (value === undefined) {
        const why = question ? `${shorten(row[column]!.trim())} is no answer` : `version ${result.version} does not ask this`;
        invalid.push({ row: at + 1, message: `${key}: ${why}.` });
        continue;
      }
      said++;
      labels.set(`${result.id} ${key}`, { result_id: result.id, question: key, value });
    }
  }
  const all = [...labels.values()];
  return {
    labels: all, results: new Set(all.map(({ result_id }) => result_id)).size, unmatched, invalid, repeated: said - all.length,
  };
}

const shorten = (text: string) => (text.length > 120 ? `${text.slice(0, 119)}…` : text);

/** What became of labels: those that were refused have been deleted or changed since they were found. */
export interface Stored {
  labelled: number;
  refused: number;
}

/** Stores labels, 1,000 with each call. Calls can be made again. */
export async function storeLabels(
  prism: string, labels: NewLabel[], sample: Schemas['LabelSample'] | undefined, told: (labels: number) => void,
): Promise<Stored> {
  let labelled = 0;
  for (let at = 0; at < labels.length; at += mostLabels) {
    const body = { labels: labels.slice(at, at + mostLabels), ...(sample && { sample }) };
    labelled += (await ask(api.POST('/v1/prisms/{prism}/labels', { params: { path: { prism } }, body }))).labelled;
    told(Math.min(at + mostLabels, labels.length));
  }
  return { labelled, refused: labels.length - labelled };
}
