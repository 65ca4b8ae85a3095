import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AreaChart, niceMax, runs } from './Area';
import { Probabilities, YesNo } from './Probabilities';

beforeEach(() => { vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} }); });

const options = [{ key: 'a', label: 'Billing', p: 0.2 }, { key: 'b', label: 'Delivery', p: 0.7 }];
const bars = () => screen.getAllByRole('listitem').map((bar) => bar.textContent);

describe('probabilities', () => {
  it('stand in the order of the definition, with the chosen one named and insufficient information last', () => {
    render(<Probabilities label="topic" options={options} chosen="b" lacking={0.1} />);
    expect(bars()).toEqual(['Billing20%', 'Delivery (chosen)70%', 'Insufficient information10%']);
  });
  it('under one percent are folded, but never the chosen one', async () => {
    const small = ['x', 'y', 'z'].map((key) => ({ key, label: key, p: 0.003, hue: 3 }));
    render(<Probabilities label="topic" options={[...options, ...small]} chosen="x" />);
    expect(bars()).toEqual(['Billing20%', 'Delivery70%', 'x (chosen)0.3%']);
    await userEvent.click(screen.getByRole('button', { name: '2 options under 1%' }));
    expect(bars()).toEqual(['Billing20%', 'Delivery70%', 'x (chosen)0.3%', 'y0.3%', 'z0.3%']);
  });
  it('have a table of exact values one key press away', async () => {
    render(<YesNo label="refund" p={0.123456} no={0.3} yes={0.7} />);
    await userEvent.tab();
    await userEvent.keyboard('{Enter}');
    expect(screen.getByRole('row', { name: 'Yes 0.123456' })).toBeTruthy();
  });
});

describe('a chart over time', () => {
  it('reads its values by arrow keys, gaps as gaps', async () => {
    render(<AreaChart label="Calls" times={['2026-11-20', '2026-11-21', '2026-11-22']}
      series={[{ label: 'Results', values: [1200, null, 7] }]} />);
    screen.getByRole('img').focus();
    await userEvent.keyboard('{ArrowRight}');
    expect(screen.getByText('2026-11-20 UTC')).toBeTruthy();
    expect(screen.getByText('1,200')).toBeTruthy();
    await userEvent.keyboard('{ArrowRight}');
    expect(screen.getByText('–')).toBeTruthy();
  });
  it('is drawn up to a round number, also for nothing', () => {
    expect([0, 1, 3, 876, 0.015].map(niceMax)).toEqual([1, 1, 4, 1000, 0.02]);
  });
  it('leaves gaps open', () => {
    expect(runs([1, 2, null, 0, null, null, 3])).toEqual([[0, 2], [3, 4], [6, 7]]);
  });
});
