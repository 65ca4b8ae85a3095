import { describe, expect, it } from 'vitest';
import { adviceOf, formatOf, guess, problemsOf } from './mapping';

const column = (name: string, longest = 20, filled = 10) => ({ name, longest, filled });
const fields = (...keys: string[]) => keys.map((key) => ({ key, label: null }));

describe('the guess of columns', () => {
  it('takes names that are the same', () => {
    expect(guess(fields('subject', 'message'), [column('message'), column('subject')]).fields).toEqual({
      subject: 'subject', message: 'message',
    });
  });

  it('sees through case, spaces and underscores', () => {
    expect(guess(fields('customer_question'), [column('Id'), column('Customer Question')]).fields).toEqual({
      customer_question: 'Customer Question',
    });
  });

  it('takes labels as names', () => {
    expect(
      guess([{ key: 'text', label: 'Kundenfrage' }, { key: 'b', label: null }], [column('b'), column('kundenfrage')]).fields.text,
    ).toBe('kundenfrage');
  });

  it('prefers the same name over one that has it as a word', () => {
    expect(guess(fields('message'), [column('message id'), column('message')]).fields).toEqual({ message: 'message' });
    expect(guess(fields('message', 'other'), [column('full message'), column('x')]).fields.message).toBe('full message');
  });

  it('takes the longest texts for the only field that is left, and not the refs', () => {
    expect(guess(fields('text'), [column('id', 190), column('body', 150), column('n', 3)])).toEqual({
      fields: { text: 'body' }, ref: 'id',
    });
  });

  it('uses no column twice and leaves what it does not know', () => {
    expect(guess(fields('text', 'title', 'author'), [column('text')]).fields).toEqual({ text: 'text', title: '', author: '' });
  });

  it('takes refs from a column of ids with short values', () => {
    const text = column('text', 500);
    expect(guess(fields('text'), [text, column('order_id'), column('ref')]).ref).toBe('ref');
    expect(guess(fields('text'), [text, column('ticket-ID')]).ref).toBe('ticket-ID');
    expect(guess(fields('text'), [text, column('id', 201)]).ref).toBe('');
    expect(guess(fields('text'), [text, column('id', 0, 0)]).ref).toBe('');
    expect(guess(fields('text'), [text, column('valid')]).ref).toBe('');
  });
});

it('names fields without a column, and refs that are too long', () => {
  expect(Object.keys(problemsOf({ fields: { a: 'x', b: '' }, ref: 'x' }, [column('x', 201)]))).toEqual(['b', 'ref']);
  expect(problemsOf({ fields: { a: 'x' }, ref: '' }, [column('x', 201)])).toEqual({});
});

it('knows the format by the extension', () => {
  expect(['a.csv', 'A.XLSX', 'x.tab', 'x.ndjson', 'x.parquet', 'x.csv.gz', 'x.xlsm', 'csv'].map(formatOf)).toEqual([
    'csv', 'xlsx', 'tsv', 'jsonl', 'parquet', 'csv', 'xlsx', undefined,
  ]);
});

it('says how a file of another program becomes one that is read', () => {
  expect(['old.XLS', 'a.xlsx.ods', 'a.numbers', 'a.pdf', 'xls'].map(adviceOf)).toEqual([
    ' In Excel, save it as .xlsx.', ' In LibreOffice, save it as .xlsx.', ' In Numbers, export it to Excel, as .xlsx.', '', '',
  ]);
});
