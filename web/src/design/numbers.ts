const grouped = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 });
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 12 });
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 });
const percents = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

/** A number for reading: 4 significant digits, whole numbers whole, thousands separated. */
export function shown(value: number): string {
  return Number.isInteger(value) ? whole.format(value) : grouped.format(value);
}

/** Every digit, thousands separated: for titles. */
export function exactly(value: number): string {
  return exact.format(value);
}

/** At most 3 significant digits with K, M or B: for axes. */
export function short(value: number): string {
  return compact.format(value);
}

/**
 * A part from 0 to 1 as a percentage with at most one digit behind the point. A part that is not whole never reads as 0% or 100%.
 */
export function percent(part: number): string {
  if (part > 0 && part < 0.001) return '<0.1%';
  if (part < 1 && part > 0.999) return '>99.9%';
  return percents.format(part);
}

/** A part from 0 to 1 as a whole percentage, for places without room. What is not whole never reads as 0% or 100%. */
export function wholePercent(part: number): string {
  if (part > 0 && part < 0.005) return '<1%';
  if (part < 1 && part >= 0.995) return '>99%';
  return `${Math.round(part * 100)}%`;
}

/** An amount of money; its code stands behind a currency without a common sign. */
export function money(value: number, currency: string | null): string {
  if (!currency) return shown(value);
  try {
    return new Intl.NumberFormat('en-US', { style: 'currency', currency, maximumSignificantDigits: 4 }).format(value);
  } catch {
    return `${shown(value)} ${currency}`;
  }
}

/** `1 result`, `2 results`, `1,200 results`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${shown(n)} ${n === 1 ? one : many}`;
}

/**
 * The number that somebody typed, with a point or a comma before its decimals; NaN for what is none. `1,000` is none: some
 * read it as one and some as a thousand.
 */
export function typedNumber(text: string): number {
  const digits = text.trim();
  if (!digits || /^[+-]?[1-9]\d{0,2}(,\d{3})+$/.test(digits)) return NaN;
  return Number(digits.replace(',', '.'));
}

const units = [['second', 60], ['minute', 60], ['hour', 24], ['day', 30], ['month', 12], ['year', Infinity]] as const;
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `5 minutes ago`, `in 3 days`, `now` within 10 seconds. */
export function ago(at: number, now: number): string {
  let amount = (at - now) / 1000;
  if (Math.abs(amount) < 10) return 'now';
  for (const [unit, size] of units) {
    if (Math.abs(amount) < size - 0.5) return relative.format(Math.round(amount), unit);
    amount /= size;
  }
  return '';
}

const local = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** The exact time twice: in UTC as the API has it, and in the reader's zone. */
export function exactTime(iso: string): string {
  return `${iso.replace('T', ' ').replace('Z', ' UTC')}\n${local.format(new Date(iso))} here`;
}

/** `850 ms`, `1.2 s`, `3 min 5 s`, `2 h 10 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${shown(Math.round(ms / 100) / 10)} s`;
  const seconds = Math.round(ms / 1000);
  const [h, min, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (h > 0) return min ? `${h} h ${min} min` : `${h} h`;
  return s ? `${min} min ${s} s` : `${min} min`;
}
