import { describe, expect, it } from 'vitest';
import { lines, type Row, rowOf, textOf } from './rows';
import { newRunSearch, runSearch, runsSearch } from './search';

describe('a row of a download', () => {
  it('has its cells, what became of it, and the answers apart', () => {
    expect(rowOf(
      '{"subject":"a","message":"b","prism_row":7,"prism_result_id":"id",'
      + '"prism_status":"ok","prism_error":"","topic":"delivery"}',
    )).toEqual({
      row: 7, result: 'id', status: 'ok', error: '', cells: [['subject', 'a'], ['message', 'b']],
      answers: [['topic', 'delivery']],
    });
  });

  it('is read where the file has columns of the same names', () => {
    const row = rowOf(
      '{"prism_row":"mine","prism_status":"x","prism_prism_row":1,"prism_result_id":null,'
      + '"prism_prism_status":"invalid","prism_error":"too long"}',
    );
    expect([row.row, row.result, row.status, row.error]).toEqual([1, '', 'invalid', 'too long']);
    expect(row.cells).toEqual([['prism_row', 'mine'], ['prism_status', 'x']]);
  });
});

it('keeps a line that is not whole', () => {
  expect(lines('{"a":1}\n{"b":2}\n{"c"')).toEqual({ whole: ['{"a":1}', '{"b":2}'], rest: '{"c"' });
  expect(lines('{"a":1}\n')).toEqual({ whole: ['{"a":1}'], rest: '' });
});

it('reads the search of URLs of runs', () => {
  expect(runsSearch({ status: 'paused', prism: 'p', x: 1 })).toEqual({ status: 'paused', prism: 'p' });
  expect(runsSearch({ status: 'gone' })).toEqual({});
  expect(newRunSearch({ prism: 'p', file: 'f' })).toEqual({ prism: 'p', file: 'f' });
  expect(runSearch({ only: 'invalid', row: 3 })).toEqual({ only: 'invalid', row: 3 });
  expect(runSearch({ only: 'all', row: -1 })).toEqual({});
});

it('takes the column with most text for what a person reads', () => {
  const row = (...cells: [string, unknown][]): Row => ({ row: 1, result: '', status: 'ok', error: '', cells, answers: [] });
  expect(textOf([row(['id', 1234567890], ['subject', 'Hi'], ['message', 'Where is my parcel?'])])).toBe(2);
  expect(textOf([row(['a', 'x'], ['b', null]), row(['a', ''], ['b', 'longer'])])).toBe(1);
  expect(textOf([row()])).toBeUndefined();
  expect(textOf([])).toBeUndefined();
});
