import type { Schemas } from '@/api';

type File_ = Schemas['File'];
type Options = Schemas['FileOptions'];

/** What the form shows. '' is what Prism finds out. */
export interface Choices {
  encoding: NonNullable<Options['encoding']> | '';
  delimiter: NonNullable<Options['delimiter']> | '';
  headerRow: string;
  sheet: string;
  badRows: NonNullable<Options['on_bad_row']>;
}

const only = (...formats: File_['format'][]) => ({ format }: File_) => formats.includes(format);

/** Which options the format of a file has, as the API says. */
export const has = {
  encoding: only('csv', 'tsv', 'jsonl'), delimiter: only('csv', 'tsv'), headerRow: only('csv', 'tsv', 'xlsx'),
  sheet: only('xlsx'),
};

/** The encodings in the words of people. */
export const encodings: Record<Exclude<Choices['encoding'], '' | 'auto'>, string> = {
  'utf-8': 'UTF-8', 'utf-16le': 'UTF-16', 'utf-16be': 'UTF-16, big-endian',
  'windows-1252': 'Western European (Windows)', 'iso-8859-15': 'Western European (ISO)', ibm850: 'Western European (DOS)',
  macintosh: 'Western European (Mac)',
  'windows-1250': 'Central European (Windows)', 'iso-8859-2': 'Central European (ISO)', 'windows-1257': 'Baltic (Windows)',
  'windows-1251': 'Cyrillic (Windows)', 'iso-8859-5': 'Cyrillic (ISO)', 'koi8-r': 'Cyrillic (KOI8-R)', ibm866: 'Cyrillic (DOS)',
  'windows-1253': 'Greek (Windows)', 'iso-8859-7': 'Greek (ISO)', 'windows-1254': 'Turkish (Windows)',
  'windows-1255': 'Hebrew (Windows)', 'windows-1256': 'Arabic (Windows)', 'windows-874': 'Thai (Windows)',
  'windows-1258': 'Vietnamese (Windows)',
  shift_jis: 'Japanese (Shift-JIS)', 'euc-jp': 'Japanese (EUC-JP)', gb18030: 'Simplified Chinese (GB18030)',
  big5: 'Traditional Chinese (Big5)', 'euc-kr': 'Korean (EUC-KR)',
};

export const delimiters: Record<Exclude<Choices['delimiter'], ''>, string> = {
  ',': 'Comma ,', ';': 'Semicolon ;', '\t': 'Tab', '|': 'Vertical bar |', ':': 'Colon :',
};

/** What a file was read with. */
export const choicesOf = (file: File_): Choices => ({
  encoding: (file.encoding ?? '') as Choices['encoding'], delimiter: (file.delimiter ?? '') as Choices['delimiter'],
  headerRow: String(file.header_row ?? ''), sheet: file.sheet ?? '', badRows: 'invalid',
});

/**
 * The options that read a file with what was changed, and else as it was: the API forgets earlier options. A guess stays a guess,
 * and another sheet has another header.
 */
export function optionsOf(file: File_, changed: Partial<Choices>): Options {
  const was = choicesOf(file);
  if (file.encoding_sure === false) was.encoding = '';
  if (changed.sheet !== undefined) was.headerRow = '';
  const { encoding, delimiter, headerRow, sheet, badRows } = { ...was, ...changed };
  return {
    ...(has.encoding(file) && encoding && { encoding }), ...(has.delimiter(file) && delimiter && { delimiter }),
    ...(has.headerRow(file) && headerRow.trim() && { header_row: Number(headerRow) }),
    ...(has.sheet(file) && sheet.trim() && { sheet }), ...(badRows === 'refuse' && { on_bad_row: badRows }),
  };
}

/** How many empty rows of a file were skipped, which a note of the API counts. */
export function skippedOf({ notes }: Pick<File_, 'notes'>): number {
  const found = (notes ?? []).map((note) => /^(\d+) empty rows? (?:was|were) skipped\.$/.exec(note)?.[1]).find(Boolean);
  return Number(found ?? 0);
}

/** A note of the API without what to do about the header by a call: for a page that has a button for it. */
export const withoutOption = (note: string): string => note.replace(/ Read the file again with header_row \d+\.$/, '');

/** What is wrong with the header row that was typed, which may be empty. */
export function rowProblem(text: string): string | undefined {
  const row = Number(text);
  return text.trim() === '' || (Number.isInteger(row) && row >= 1 && row <= 10_000_000) ? undefined
    : 'A whole number from 1 to 10,000,000.';
}

/** The options as those of prismctl. */
export const flagsOf = (options: Options, word: (text: string) => string): string => Object.entries(options)
  .map(([name, value]) => ` --${name.replaceAll('_', '-')} ${word(String(value))}`).join('');
