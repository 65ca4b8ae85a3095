import { typedNumber } from '@/design';

/** Why a typed limit is none that can be sent; undefined for a number above 0, and for no text, which is no limit. */
export function limitProblem(text: string, whole = false): string | undefined {
  if (!text.trim()) return undefined;
  const n = typedNumber(text);
  if (!Number.isFinite(n) || n <= 0) return 'A number above 0, or nothing.';
  return whole && !Number.isInteger(n) ? 'A whole number, or nothing.' : undefined;
}

/** A typed limit that has no problem, as it is sent. */
export const limitOf = (text: string): number | undefined => (text.trim() ? typedNumber(text) : undefined);
