import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Curve } from './Curve';
import { farthest, radius, Reliability } from './Reliability';

beforeEach(() => { vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} }); });

const bins = [
  { n: 25, mean: 0.2, rate: 0.25, low: 0.1, high: 0.4 },
  { n: 100, mean: 0.8, rate: 0.5, low: 0.4, high: 0.6 },
];
const words = (bin: { mean: number }) => `About ${bin.mean}.`;
const draw = () => render(<Reliability label="Reliability of refund" bins={bins} shares={[0.25, 0, 0, 0.75]}
  axes={{ x: 'Probability', y: 'Share' }} wordsOf={words} />);
const number = (element: Element | undefined, name: string) => Number(element?.getAttribute(name));

describe('a reliability diagram', () => {
  it('has each point and its interval where they belong', () => {
    const { container } = draw();
    const diagonal = container.querySelector('.diagonal')!;
    const [x0, y0, x1, y1] = ['x1', 'y1', 'x2', 'y2'].map((name) => number(diagonal, name)) as [number, number, number, number];
    expect(x1 - x0).toBeCloseTo(y0 - y1); // the plot is a square, so that the diagonal is one
    container.querySelectorAll('.bin').forEach((group, i) => {
      const [circle, line] = [group.querySelector('circle')!, group.querySelector('line')!];
      const bin = bins[i]!;
      const at = (p: number) => y0 - (y0 - y1) * p;
      expect(number(circle, 'cx')).toBeCloseTo(x0 + (x1 - x0) * bin.mean);
      expect(number(circle, 'cy')).toBeCloseTo(at(bin.rate));
      expect([number(line, 'y1'), number(line, 'y2')]).toEqual([expect.closeTo(at(bin.low)), expect.closeTo(at(bin.high))]);
      expect(number(line, 'x1')).toBe(number(circle, 'cx'));
    });
  });
  it('has larger points for more labels, by their area', () => {
    expect([radius(100, 100), radius(25, 100), radius(0, 100)]).toEqual([7, 5, 3]);
    const { container } = draw();
    expect([...container.querySelectorAll('circle')].map((circle) => number(circle, 'r'))).toEqual([5, 7]);
  });
  it('has bars whose heights are the shares, on one line', () => {
    const { container } = draw();
    const bars = [...container.querySelectorAll('rect')];
    const heights = bars.map((bar) => number(bar, 'height'));
    expect(heights[0]! / heights[3]!).toBeCloseTo(1 / 3);
    expect(heights.slice(1, 3)).toEqual([0, 0]);
    expect(new Set(bars.map((bar) => Math.round(number(bar, 'y') + number(bar, 'height')))).size).toBe(1);
    expect(bars[3]!.textContent).toBe('75% of answers from 75% to 100%');
  });
  it('has percentages on both axes, and the sides of the diagonal by name', () => {
    const { container } = draw();
    const axis = [...container.querySelectorAll('.axis')].map((text) => text.textContent);
    expect(axis.filter((text) => text === '50%')).toHaveLength(2);
    expect(axis).toEqual(expect.arrayContaining(['too sure', 'too hesitant']));
    // The side that is too sure is that of the point whose probability is higher than the share that was so.
    const points = container.querySelector('.sure')!.getAttribute('points')!.split(' ');
    const sure = points.map((point) => point.split(',').map(Number));
    const diagonal = container.querySelector('.diagonal')!;
    expect(sure).toContainEqual([number(diagonal, 'x2'), number(diagonal, 'y1')]);
  });
  it('of yes and no is too sure of either', () => {
    const { container } = render(<Reliability label="Reliability" bins={bins} shares={[]} axes={{ x: 'Probability', y: 'Share' }}
      ofYes wordsOf={words} />);
    expect(screen.getByText('too sure of yes') && screen.getByText('too sure of no')).toBeTruthy();
    expect(container.querySelectorAll('.sure, .hesitant')).toHaveLength(4);
  });
  it('has calibrated points beside the stored ones, which a legend and the table name', async () => {
    const other = [{ n: 25, mean: 0.3, rate: 0.25, low: 0.1, high: 0.4 }];
    const { container } = render(<Reliability label="Reliability" bins={bins} shares={[]} axes={{ x: 'Probability', y: 'Share' }}
      beside={{ bins: other, name: 'Calibrated', other: 'Stored' }} wordsOf={words} />);
    const diagonal = container.querySelector('.diagonal')!;
    const [x0, x1] = [number(diagonal, 'x1'), number(diagonal, 'x2')];
    expect(number(container.querySelector('circle.before')!, 'cx')).toBeCloseTo(x0 + (x1 - x0) * 0.3);
    expect(screen.getByText('Calibrated') && screen.getByText('Stored')).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: /^Table/ }));
    expect(screen.getByRole('row', { name: '0.3, stored 0.25 0.1 0.4 25' })).toBeTruthy();
  });
  it('says the point that is farthest from the diagonal, and each point by arrow keys', async () => {
    draw();
    expect(farthest(bins)).toBe(1);
    expect(screen.getByText('About 0.8.')).toBeTruthy();
    screen.getByRole('img').focus();
    await userEvent.keyboard('{ArrowRight}');
    expect(screen.getByText('About 0.2.')).toBeTruthy();
    await userEvent.keyboard('{ArrowRight}{ArrowRight}');
    expect(screen.getByText('About 0.8.')).toBeTruthy();
  });
  it('has a text alternative and a table of its data', async () => {
    draw();
    expect(screen.getByRole('img').getAttribute('aria-label')).toBe(
      'Reliability of refund. About 0.2. About 0.8. Arrow keys read the points.',
    );
    await userEvent.click(screen.getByRole('button', { name: /^Table/ }));
    expect(screen.getByRole('row', { name: '0.8 0.5 0.4 0.6 100' })).toBeTruthy();
  });
});

describe('a curve', () => {
  const curve = (marks: { x: number; label: string }[] = []) => render(
    <Curve label="Mistakes" axes={{ x: 'Kept', y: 'Wrong' }}
      lines={[{ label: 'Wrong', points: [{ x: 0, y: 0 }, { x: 0.5, y: 0.1 }, { x: 1, y: 0.2 }] }]} marks={marks} initial={1}
      formatX={String} formatY={String} wordsOf={(i) => `Point ${i}.`} />,
  );
  it('has its points where they belong, up to a round number', () => {
    const { container } = curve([{ x: 0.5, label: 'here' }]);
    const points = container.querySelector('polyline')!.getAttribute('points')!.split(' ').map((point) =>
      point.split(',').map(Number) as [number, number]);
    const lines = [...container.querySelectorAll('.grid')].map((line) => number(line, 'y1'));
    expect(points.map(([, y]) => y)).toEqual(lines.map((y) => expect.closeTo(y))); // 0, half and all of 0.2
    expect(points[1]![0]).toBeCloseTo((points[0]![0] + points[2]![0]) / 2);
    expect(number(container.querySelector('.mark')!, 'x1')).toBeCloseTo(points[1]![0]);
  });
  it('has the names of its marks below each other, so that near ones stay readable', () => {
    const { container } = curve([{ x: 0.5, label: 'no up to' }, { x: 0.52, label: 'yes from' }]);
    const [no, yes] = [...container.querySelectorAll('.mark + text')].map((text) => number(text, 'y'));
    expect(yes! - no!).toBeGreaterThanOrEqual(12);
  });
  it('begins at its first point of interest and goes on by arrow keys', async () => {
    curve();
    expect(screen.getByText('Point 1.')).toBeTruthy();
    screen.getByRole('img').focus();
    await userEvent.keyboard('{ArrowLeft}{ArrowLeft}');
    expect(screen.getByText('Point 0.')).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: /^Table/ }));
    expect(screen.getByRole('row', { name: '0.5 0.1' })).toBeTruthy();
  });
});
