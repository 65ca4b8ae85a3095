import type { Schemas } from '@/api';

export type Sum = Schemas['UsageSum'];

/** The sum of one day, prism, model or key, whatever the currencies. */
export interface Total {
  /** The day, slug, model or key id; null if it is not known. */
  name: string | null;
  results: number;
  failed: number;
  inputTokens: number;
  outputTokens: number;
  /** By currency, without those of which nothing has a price. */
  costs: Record<string, number>;
}

const nothing = (name: string | null): Total => ({ name, results: 0, failed: 0, inputTokens: 0, outputTokens: 0, costs: {} });

/** Adds amounts that are decimals: 0.1 and 0.2 are 0.3. */
const money = (a: number, b: number): number => Number((a + b).toPrecision(15));

function add(total: Total, sum: Sum): Total {
  const costs = { ...total.costs };
  if (sum.currency !== null && sum.cost !== null) costs[sum.currency] = money(costs[sum.currency] ?? 0, sum.cost);
  return {
    name: total.name,
    results: total.results + sum.results,
    failed: total.failed + sum.failed,
    inputTokens: total.inputTokens + sum.input_tokens,
    outputTokens: total.outputTokens + sum.output_tokens,
    costs,
  };
}

/** One total for each name, in the order of the API, which has a sum for each name and currency. */
export function totals(sums: Sum[]): Total[] {
  const found = new Map<string | null, Total>();
  for (const sum of sums) {
    const name = sum.day ?? sum.prism ?? sum.model ?? sum.key_id ?? null;
    found.set(name, add(found.get(name) ?? nothing(name), sum));
  }
  return [...found.values()];
}

/** The total of everything. */
export function whole(sums: Sum[]): Total {
  return sums.reduce(add, nothing(null));
}

/** One total for each day from `from` up to but without `to`; a day without results has zeros. */
export function byDay(sums: Sum[], from: string, to: string): Total[] {
  const found = new Map(totals(sums).map((total) => [total.name, total]));
  return days(from, to).map((day) => found.get(day) ?? nothing(day));
}

/** The days from `from` up to but without `to`, as `2026-11-22`. */
export function days(from: string, to: string): string[] {
  const found: string[] = [];
  for (let at = Date.parse(from); at < Date.parse(to) && found.length < 366; at += 86_400_000) {
    found.push(new Date(at).toISOString().slice(0, 10));
  }
  return found;
}

/** The day so many days after another one. */
export function dayAfter(day: string, by: number): string {
  return new Date(Date.parse(day) + by * 86_400_000).toISOString().slice(0, 10);
}

export const today = (): string => new Date().toISOString().slice(0, 10);
