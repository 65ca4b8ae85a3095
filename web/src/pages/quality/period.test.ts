import { expect, it } from 'vitest';
import { lastWeek, periodOf, periodProblems } from './period';

const now = Date.parse('2026-11-22T12:34:00Z');
const set = { from: '2026-08-01T00:00:00.000Z', to: '2026-08-08T00:00:00.000Z' };

// spec: drift-reference-set
it.each([
  ['whole hours of the last 90 days', '2026-08-24T13:00', '2026-11-22T12:00', {}],
  ['one hour', '2026-11-22T11:00', '2026-11-22T12:00', {}],
  ['the period that is set, however old', '2026-08-01T00:00', '2026-08-08T00:00', {}],
  ['too old', '2026-08-24T12:00', '2026-11-22T12:00', { from: 'At most 90 days ago: older results are not counted.' }],
  ['the future', '2026-11-22T11:00', '2026-11-22T13:00', { to: 'Not in the future.' }],
  ['no time at all', '2026-11-22T11:00', '2026-11-22T11:00', { from: 'Before the end of the period.' }],
  ['an end before its begin', '2026-11-22T12:00', '2026-11-22T11:00', { from: 'Before the end of the period.' }],
  ['half an hour', '2026-11-22T09:30', '2026-11-22T11:00', { from: 'Type a whole hour, such as 09:00.' }],
  ['nothing', '', '', { from: 'Type a day and an hour.', to: 'Type a day and an hour.' }],
])('a period of %s', (_, from, to, problems) => {
  expect(periodProblems({ from, to }, now, set)).toEqual(problems);
});

it('a period is typed in UTC, and begins with the last whole week', () => {
  expect(lastWeek(now)).toEqual({ from: '2026-11-15T00:00', to: '2026-11-22T00:00' });
  expect(periodOf(lastWeek(now))).toEqual({ from: '2026-11-15T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z' });
});
