import { fireEvent, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { type Column, type Sort, sortRows, Table } from './Table';

interface Row { id: string; n: number | null }

const rows: Row[] = [{ id: 'b', n: 2 }, { id: 'a', n: null }, { id: 'c', n: 10 }];
const columns: Column<Row>[] = [
  { id: 'id', head: 'Id', cell: (row) => row.id, sort: (row) => row.id },
  { id: 'n', head: 'N', cell: (row) => row.n, sort: (row) => row.n },
];

function Sortable({ onOpen }: { onOpen?: (row: Row) => void }) {
  const [sort, setSort] = useState<Sort>();
  return (
    <>
      <input aria-label="filter" />
      <Table label="Rows" columns={columns} rows={rows} rowKey={(row) => row.id} sort={sort} onSort={setSort} onOpen={onOpen} />
    </>
  );
}

const order = () => screen.getAllByRole('row').slice(1).map((row) => within(row).getAllByRole('cell')[0]!.textContent);
const focused = () => document.activeElement?.textContent;

describe('a table', () => {
  it('tells a text that it cut in the tooltip, and no other', () => {
    render(<Table label="Rows" columns={columns} rows={rows} rowKey={(row) => row.id} />);
    const [cut, whole] = screen.getAllByRole('cell') as [HTMLElement, HTMLElement];
    vi.spyOn(cut, 'scrollWidth', 'get').mockReturnValue(1);
    for (const cell of [cut, whole]) fireEvent.pointerEnter(cell);
    expect(cut.title).toBe('b');
    expect(whole.hasAttribute('title')).toBe(false);
  });
  it('moves with j and k from anywhere on the page and opens with Enter', async () => {
    const onOpen = vi.fn();
    render(<Sortable onOpen={onOpen} />);
    await userEvent.keyboard('jj');
    expect(focused()).toBe('a');
    await userEvent.keyboard('k{Enter}');
    expect(onOpen).toHaveBeenCalledExactlyOnceWith(rows[0]);
  });
  it('stays at its ends', async () => {
    render(<Sortable onOpen={() => {}} />);
    await userEvent.keyboard('jjjjj');
    expect(focused()).toBe('c10');
    await userEvent.keyboard('kkkkk');
    expect(focused()).toBe('b2');
  });
  it('moves with arrow keys once a row has the focus', async () => {
    render(<Sortable onOpen={() => {}} />);
    await userEvent.keyboard('j{ArrowDown}{ArrowDown}{ArrowUp}');
    expect(focused()).toBe('a');
  });
  it('leaves j to a field that has the focus', async () => {
    render(<Sortable onOpen={() => {}} />);
    const field = screen.getByLabelText('filter');
    await userEvent.type(field, 'jk');
    expect(field).toHaveProperty('value', 'jk');
    expect(document.activeElement).toBe(field);
  });
  it('leaves j alone under a dialog', () => {
    render(<><Sortable onOpen={() => {}} /><dialog open /></>);
    fireEvent.keyDown(document.body, { key: 'j' });
    expect(document.activeElement).toBe(document.body);
  });
  it('sorts up, down, and not, and says so', async () => {
    render(<Sortable />);
    const head = screen.getByRole('button', { name: 'N' });
    await userEvent.click(head);
    expect(order()).toEqual(['b', 'c', 'a']);
    expect(screen.getByRole('columnheader', { name: 'N' }).getAttribute('aria-sort')).toBe('ascending');
    await userEvent.click(head);
    expect(order()).toEqual(['c', 'b', 'a']);
    await userEvent.click(head);
    expect(order()).toEqual(['b', 'a', 'c']);
    expect(screen.getByRole('columnheader', { name: 'N' }).getAttribute('aria-sort')).toBeNull();
  });
  it('does not open a row by a press on a control in it', async () => {
    const onOpen = vi.fn();
    render(<Table label="Rows" columns={[{ id: 'x', head: 'X', cell: () => <button>Copy</button> }]} rows={rows}
      rowKey={(row) => row.id} onOpen={onOpen} />);
    await userEvent.click(screen.getAllByRole('button', { name: 'Copy' })[0]!);
    expect(onOpen).not.toHaveBeenCalled();
    await userEvent.click(screen.getAllByRole('row')[1]!);
    expect(onOpen).toHaveBeenCalledOnce();
  });
  it('shows what to do where there are no rows', () => {
    render(<Table label="Rows" columns={columns} rows={[]} rowKey={(row) => row.id} empty="Nothing yet" />);
    expect(screen.getByText('Nothing yet')).toBeTruthy();
  });
});

it('rows whose values are numbers in words are in their order', () => {
  const words = ['r10', 'r9', 'r1'].map((id) => ({ id, n: 0 }));
  expect(sortRows(words, columns, 'id').map((row) => row.id)).toEqual(['r1', 'r9', 'r10']);
});
