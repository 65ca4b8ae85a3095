import type { Schemas } from '@/api';

/** A reference period as it is typed: hours of UTC, such as `2026-11-02T09:00`. */
export interface TypedPeriod {
  from: string;
  to: string;
}

const hour = 3_600_000;
const longest = 90 * 24 * hour; // the API's (spec: drift-reference-set)

/** The text of an input for a time of UTC. */
export const typedHour = (at: number): string => new Date(Math.floor(at / hour) * hour).toISOString().slice(0, 16);

/** The last whole week of UTC days before a time, to begin with. */
export function lastWeek(now: number): TypedPeriod {
  const to = Math.floor(now / (24 * hour)) * 24 * hour;
  return { from: typedHour(to - 7 * 24 * hour), to: typedHour(to) };
}

/** A typed period in the API's form. Each half may be missing or wrong. */
export const periodOf = ({ from, to }: TypedPeriod): Schemas['DriftPeriod'] => ({ from: `${from}:00.000Z`, to: `${to}:00.000Z` });

/** What is wrong with a typed period, by its half; the period that is set already may stay, however old it is. */
export function periodProblems(
  typed: TypedPeriod, now: number, set: { from: string | null; to: string | null } | undefined,
): Partial<TypedPeriod> {
  const { from, to } = periodOf(typed);
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  const problems: Partial<TypedPeriod> = {};
  for (const [half, at] of [['from', begin], ['to', end]] as const) {
    if (Number.isNaN(at)) problems[half] = 'Type a day and an hour.';
    else if (at % hour !== 0) problems[half] = 'Type a whole hour, such as 09:00.';
  }
  if (problems.from || problems.to || (set && begin === Date.parse(set.from ?? '') && end === Date.parse(set.to ?? ''))) {
    return problems;
  }
  if (begin < now - longest) problems.from = 'At most 90 days ago: older results are not counted.';
  else if (begin >= end) problems.from = 'Before the end of the period.';
  if (end > now) problems.to = 'Not in the future.';
  return problems;
}
