import { describe, expect, it } from 'vitest';
import { between, fit, type FitColumn } from './fit';

const column = (id: string, width: number, rank: number, more: Partial<FitColumn<unknown>> = {}): FitColumn<unknown> => ({
  id, width, rank, head: id, cell: () => null, ...more,
});
const columns = [
  column('time', 100, 0), column('ref', 100, 2), column('status', 100, 0), column('first', 100, 1, { grow: 1 }),
  column('last', 100, 3),
];
const ids = (width: number) => fit(columns, width).map((one) => one.column.id);

describe('the columns of a table', () => {
  it('stand in their order, whatever their ranks', () => {
    expect(ids(500)).toEqual(['time', 'ref', 'status', 'first', 'last']);
  });

  it('leave out the highest ranks first', () => {
    expect(ids(480)).toEqual(['time', 'ref', 'status', 'first']);
    expect(ids(320)).toEqual(['time', 'status', 'first']);
  });

  it('of rank 0 stay where there is no room at all', () => {
    expect(ids(50)).toEqual(['time', 'status']);
  });

  it('fill the width and no more', () => {
    expect(fit(columns, 450).map((one) => one.width)).toEqual([100, 100, 100, 150]);
  });

  it('are narrower in a narrow table', () => {
    const narrow = [column('a', 200, 0, { narrow: 60, grow: 1 }), column('b', 200, 1, { narrow: 60 })];
    expect(fit(narrow, 300).map((one) => one.width)).toEqual([240, 60]);
  });
});

describe('a range of rows', () => {
  it('goes both ways', () => {
    expect(between(['a', 'b', 'c', 'd'], 'b', 'd')).toEqual(['b', 'c', 'd']);
    expect(between(['a', 'b', 'c', 'd'], 'd', 'b')).toEqual(['b', 'c', 'd']);
  });

  it('is the row itself without another end', () => {
    expect(between(['a', 'b'], undefined, 'b')).toEqual(['b']);
    expect(between(['a', 'b'], 'gone', 'b')).toEqual(['b']);
    expect(between(['a', 'b'], 'a', 'gone')).toEqual([]);
  });
});
