import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ticksOf } from './axes';
import { AreaChart, niceMax, runs } from './Area';
import { answerOf, choiceOf, sizes } from '@/test/options';
import { Probabilities, Scale, YesNo } from './Probabilities';
import { ShareBar, stack, Stacked } from './Stacked';

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
  it.each(sizes)('of %i options are 8 bars at most, and the others one press away', async (n) => {
    const question = choiceOf(n);
    const { probabilities } = answerOf(question, n - 2);
    const parts = question.options.map(({ key, label }) => ({ key, label, p: probabilities[key]! }));
    render(<Probabilities label="intent" options={parts} chosen={question.options[n - 2]!.key} />);
    // The most probable ones are the last two and the first ones, each with half of the one before: six from 1% up.
    const last = [`Option ${n - 1} (chosen)`, `Option ${n}`];
    const first = ['Option 1', 'Option 2', 'Option 3', 'Option 4', 'Option 5', 'Option 6'];
    const labels = [...document.querySelectorAll('.bar-label')].map((bar) => bar.textContent);
    expect(labels).toEqual(n === 2 ? ['Option 1 (chosen)', 'Option 2'] : n === 26 ? [...first.slice(0, 4), ...last]
      : [...last, ...first]);
    if (n === 2) return;
    await userEvent.click(screen.getByRole('button', { name: n === 26 ? '20 options under 1%' : '247 more options' }));
    expect(bars()).toHaveLength(n);
    expect(screen.queryByRole('list', { name: 'All options: intent' }) !== null).toBe(n > 26);
    await userEvent.click(screen.getByRole('button', { name: n === 26 ? 'Fold those under 1%' : 'Only the 8 most probable' }));
    expect(bars()).toHaveLength(n === 26 ? 6 : 8);
  });
  it('that are all as probable are the first 8, with how many more', async () => {
    const many = Array.from({ length: 40 }, (_, i) => ({ key: `${i}`, label: `${i}`, p: 1 / 40 }));
    render(<Probabilities label="intent" options={many} chosen="20" />);
    expect(bars()).toHaveLength(9);
    await userEvent.click(screen.getByRole('button', { name: '31 more options' }));
    expect(bars()).toHaveLength(40);
    await userEvent.click(screen.getByRole('button', { name: 'Only the 8 most probable' }));
    expect(bars()).toHaveLength(9);
  });
  it('of levels are as high as they are, so that two scales can be compared', () => {
    const { container } = render(<Scale label="mood" levels={[{ ...options[0]!, value: 1 }, { ...options[1]!, value: 2 }]} />);
    expect([...container.querySelectorAll<HTMLElement>('.column')].map(({ style }) => style.height)).toEqual(['20%', '70%']);
    const drawn = [...container.querySelectorAll<HTMLElement>('.column')];
    expect(drawn.map(({ style }) => style.getPropertyValue('--strength'))).toEqual(['0.3', '1']);
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
  it('has times of UTC below it, and words as they are', async () => {
    render(<AreaChart label="Drift" times={['2026-11-20 10:00', 'the last hour']}
      series={[{ label: 'Index', values: [0.1, 0.2] }]} />);
    expect(screen.getByText('11-20 10:00')).toBeTruthy();
    expect(screen.getByText('the last hour')).toBeTruthy();
    screen.getByRole('img').focus();
    await userEvent.keyboard('{ArrowLeft}');
    expect(screen.getByText('the last hour', { selector: 'span' })).toBeTruthy();
  });
  it('is drawn up to a round number, also for nothing', () => {
    expect([0, 1, 3, 876, 0.015].map(niceMax)).toEqual([1, 1, 4, 1000, 0.02]);
  });
  it('is red for failures alone', () => {
    const { container } = render(<AreaChart label="Results" times={['2026-11-20']}
      series={[{ label: 'Results', values: [3] }, { label: 'Failed', values: [1], bad: true }]} />);
    expect([...container.querySelectorAll('svg > g[class^=series]')].map((drawn) => drawn.getAttribute('class'))).toEqual(
      ['series-1', 'series-bad']);
  });
  it('leaves gaps open', () => {
    expect(runs([1, 2, null, 0, null, null, 3])).toEqual([[0, 2], [3, 4], [6, 7]]);
  });
});

describe('counts that stand on each other', () => {
  const days = ['2026-11-20', '2026-11-21'];
  const layers = [
    { key: 'a', label: 'Billing', hue: 1, values: [3, 4] }, { key: '', label: 'Unsure', lacking: true, values: [1, 0] },
  ];
  it('end where those below them and they are together', () => {
    expect(stack(layers, 2)).toEqual([[3, 4], [4, 4]]);
  });
  it('read their values by arrow keys, and name days', async () => {
    render(<Stacked label="Topics" days={days} layers={layers} marks={[
      { day: '2026-11-21', label: 'version 2' }, { day: '2026-01-01', label: 'version 1' },
    ]} />);
    screen.getByRole('img').focus();
    await userEvent.keyboard('{ArrowLeft}');
    expect(screen.getByText('2026-11-21 UTC').parentElement!.textContent).toBe('Billing 4Unsure 02026-11-21 UTC');
    expect(screen.getByText('version 2')).toBeTruthy();
    expect(screen.queryByText('version 1')).toBeNull();
  });
  it('are drawn of one day too', () => {
    const { container } = render(<Stacked label="Topics" days={['2026-11-20']} layers={[{ ...layers[0]!, values: [3] }]} />);
    const points = container.querySelector('polygon')!.getAttribute('points')!.split(' ');
    const places = points.map((point) => Number(point.split(',')[0]));
    expect(new Set(places).size).toBe(2);
    expect(places.every(Number.isFinite)).toBe(true);
  });
  it('are shares of a bar, the rest of which is empty', () => {
    render(<ShareBar label="Answers" parts={[
      { key: 'a', label: 'Billing', hue: 1, share: 0.25 }, { key: 'b', label: 'No', share: 0 },
    ]} />);
    expect([...screen.getByRole<HTMLElement>('img').children as HTMLCollectionOf<HTMLElement>].map(({ title, style }) =>
      [title, style.flexGrow])).toEqual([['Billing', '0.25'], ['', '0.75']]);
  });
});

it('labels times at equal distances where it can', () => {
  expect(ticksOf(7, 574)).toEqual([0, 2, 4, 6]);
  expect(ticksOf(3, 574)).toEqual([0, 1, 2]);
  expect(ticksOf(30, 574)).toHaveLength(6);
  expect(ticksOf(30, 574).at(-1)).toBe(29);
  expect(ticksOf(9, 100)).toEqual([0, 8]);
});
