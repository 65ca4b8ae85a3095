import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Schemas } from '@/api';
import { useFile } from '@/data/runs';
import { type Call, refusal, serve } from '@/test/server';
import { FileReading } from './FileReading';
import { type Choices, optionsOf, rowProblem, skippedOf } from './reading';

type File_ = Schemas['File'];

const file: File_ = {
  id: '01a20558-8efb-7b51-b1f5-71d32ed809fb', name: 'tickets.csv', format: 'csv', bytes: 90, sha256: null, status: 'ready',
  part_bytes: 8388608, parts: 1, missing: null, rows: 2, columns: [
    { name: 'Report', filled: 2, longest: 2 }, { name: 'column_2', filled: 1, longest: 4 },
  ],
  delimiter: ';', encoding: 'windows-1252', encoding_sure: false, header_row: 1, proposed_header_row: 3, sheet: null, bad_rows: 0,
  notes: ['3 empty rows were skipped.', 'The file was read as windows-1252, which is a guess: look at the texts.'],
  error: null, created_at: '2026-11-27T08:00:00.000Z', expires_at: '2026-12-27T08:00:00.000Z',
};
const reading: File_ = {
  ...file, status: 'reading', rows: null, columns: null, delimiter: null, encoding: null, encoding_sure: null, header_row: null,
  proposed_header_row: null, bad_rows: null, notes: null,
};
const read: File_ = {
  ...file, encoding: 'windows-1251', encoding_sure: true, header_row: 3, proposed_header_row: null,
  notes: ['2 rows above the header were skipped.'],
};

afterEach(() => vi.unstubAllGlobals());

function Shown() {
  const { data } = useFile(file.id);
  return data ? <FileReading file={data} /> : null;
}

/** Shows a file, which is another one after it was read again. */
async function show(first: File_, then: File_ | Response): Promise<Call[]> {
  let now = first;
  const calls = await serve('owner', ({ method, path }) => {
    if (path.endsWith('/rows')) {
      return Response.json({ data: [{ Report: 'a', column_2: now === first ? 'êîò' : 'кот' }, { Report: 'c', column_2: '' }] });
    }
    if (method === 'POST') {
      if (then instanceof Response) return then;
      now = then;
      return Response.json(reading, { status: 202 });
    }
    return Response.json(now);
  });
  render(<QueryClientProvider client={new QueryClient()}><Shown /></QueryClientProvider>);
  await screen.findByRole('form', { name: 'How the file is read' });
  return calls;
}

const value = (label: string) => (screen.getByLabelText(label) as HTMLInputElement).value;
const sent = (calls: Call[]) => calls.filter(({ method }) => method === 'POST').map(({ body }) => body);
const readAgain = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Read again' });

describe('how a file is read', () => {
  it('is shown with what was done to it, and its first rows', async () => {
    await show(file, read);
    expect([value('Encoding'), value('Between cells'), value('Header row')]).toEqual(['windows-1252', ';', '1']);
    expect(screen.getByText('A guess. If letters look wrong, choose another.')).toBeTruthy();
    expect(screen.queryByLabelText('Sheet')).toBeNull();
    expect(screen.getByRole('list', { name: 'What was done to the file' }).textContent).toContain('3 empty rows were skipped.');
    const table = within(screen.getByRole('table'));
    expect(await table.findByText('êîò')).toBeTruthy();
    expect(table.getByText('empty')).toBeTruthy();
    expect(readAgain().disabled).toBe(true);
  });

  it('is changed, and the first rows are those of the new way', async () => {
    const calls = await show(file, read);
    fireEvent.change(screen.getByLabelText('Encoding'), { target: { value: 'windows-1251' } });
    expect(screen.getByText(/prismctl files read .* --encoding windows-1251 --delimiter ';' --header-row 1/)).toBeTruthy();
    fireEvent.change(screen.getByLabelText('Header row'), { target: { value: '3' } });
    fireEvent.click(readAgain());
    expect(await screen.findByText('Prism reads the file again.')).toBeTruthy();
    expect(sent(calls)).toEqual([{ encoding: 'windows-1251', delimiter: ';', header_row: 3 }]);
    expect(await within(screen.getByRole('table')).findByText('кот', {}, { timeout: 5000 })).toBeTruthy();
    expect([value('Encoding'), value('Header row')]).toEqual(['windows-1251', '3']);
    expect(screen.queryByText(/A guess/)).toBeNull();
    expect(readAgain().disabled).toBe(true);
  });

  it('takes the row that looks like the header with one press, and leaves a guess a guess', async () => {
    const note = 'Row 3 looks like the header, and row 1 like a title above it.';
    const calls = await show({ ...file, notes: [`${note} Read the file again with header_row 3.`] }, read);
    expect(screen.getByRole('list', { name: 'What was done to the file' }).textContent).toBe(note);
    fireEvent.click(screen.getByRole('button', { name: 'Use row 3' }));
    await waitFor(() => expect(sent(calls)).toEqual([{ delimiter: ';', header_row: 3 }]));
  });

  it('is mended in a file that cannot be used', async () => {
    const unusable = { status: 'unusable', columns: null, rows: null, error: 'More than 1000 rows are bad.' } as const;
    const calls = await show({ ...file, ...unusable }, read);
    expect(screen.getByText(/Prism cannot use this file. More than 1000 rows are bad./)).toBeTruthy();
    expect(screen.queryByRole('table')).toBeNull();
    fireEvent.change(screen.getByLabelText('Between cells'), { target: { value: '\t' } });
    fireEvent.click(readAgain());
    expect(await screen.findByRole('table', {}, { timeout: 5000 })).toBeTruthy();
    expect(sent(calls)).toEqual([{ delimiter: '\t', header_row: 1 }]);
  });

  it('cannot be changed once a run has the file', async () => {
    await show(file, refusal(409, 'conflict', 'This file is used by a run.'));
    fireEvent.change(screen.getByLabelText('Rows that cannot be read'), { target: { value: 'refuse' } });
    fireEvent.click(readAgain());
    expect(await screen.findByText(/A run has this file, which stays as it was read./)).toBeTruthy();
    expect(value('Rows that cannot be read')).toBe('refuse');
  });

  it('takes no row that is none', async () => {
    const calls = await show(file, read);
    fireEvent.change(screen.getByLabelText('Header row'), { target: { value: '0' } });
    fireEvent.submit(screen.getByRole('form'));
    expect(readAgain().disabled).toBe(true);
    expect(sent(calls)).toEqual([]);
    expect(['', ' ', '1', '10000000'].map(rowProblem)).toEqual([undefined, undefined, undefined, undefined]);
    expect(['0', '1.5', 'x', '10000001'].every(rowProblem)).toBe(true);
  });
});

describe('the options of a reading', () => {
  const book = { format: 'xlsx', encoding: null, encoding_sure: null, delimiter: null, sheet: 'Data', header_row: 4 } as const;
  const sheet: File_ = { ...file, ...book };
  it.each<[string, File_, Partial<Choices>, Schemas['FileOptions']]>([
    ['what was found stays', { ...file, encoding_sure: true }, { headerRow: '2' },
      { encoding: 'windows-1252', delimiter: ';', header_row: 2 }],
    ['what is to be found out is not sent', file, { encoding: '', delimiter: '', headerRow: ' ' }, {}],
    ['bad rows are refused', sheet, { badRows: 'refuse' }, { header_row: 4, sheet: 'Data', on_bad_row: 'refuse' }],
    ['another sheet has another header', sheet, { sheet: 'More' }, { sheet: 'More' }],
    ['another sheet with its header', sheet, { sheet: 'More', headerRow: '2' }, { header_row: 2, sheet: 'More' }],
    ['Parquet has none but these', { ...sheet, format: 'parquet', sheet: null, header_row: null }, { badRows: 'refuse' },
      { on_bad_row: 'refuse' }],
    ['jsonl has an encoding', { ...file, format: 'jsonl', header_row: null, delimiter: null }, { encoding: 'utf-16le' },
      { encoding: 'utf-16le' }],
  ])('%s', (_, of, changed, want) => expect(optionsOf(of, changed)).toEqual(want));
});

it('the empty rows that were skipped are counted by a note', () => {
  expect(skippedOf(file)).toBe(3);
  expect(skippedOf({ notes: ['1 empty row was skipped.'] })).toBe(1);
  expect([skippedOf(read), skippedOf(reading)]).toEqual([0, 0]);
});
