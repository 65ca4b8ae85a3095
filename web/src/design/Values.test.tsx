import { act, cleanup, render } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Time } from './Values';

beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-11-27T08:00:00Z') }));
afterEach(() => { cleanup(); vi.useRealTimers(); });

it('times of the same second say the same, whenever their rows came', () => {
  const at = '2026-11-27T07:59:50Z';
  const first = render(<Time at={at} />).container;
  const said = () => [...document.querySelectorAll('time')].map((time) => time.textContent);
  expect(said()).toEqual(['10 seconds ago']);
  act(() => void vi.advanceTimersByTime(20_000));
  expect(said()).toEqual(['10 seconds ago']);
  render(<Time at={at} />);
  expect(said()).toEqual(['30 seconds ago', '30 seconds ago']);
  act(() => void vi.advanceTimersByTime(10_000));
  expect(said()).toEqual(['40 seconds ago', '40 seconds ago']);
  expect(first.textContent).toBe('40 seconds ago');
});
