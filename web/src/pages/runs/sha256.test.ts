import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sha256 } from './sha256';

const bytes = (n: number) => Uint8Array.from({ length: n }, (_, i) => (i * 31 + (i >> 8)) % 256);
const expected = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

describe('SHA-256', () => {
  it('of a file says how far it is', async () => {
    const content = bytes(2_500_000);
    const told: number[] = [];
    expect(await sha256(new Blob([content]), (n) => told.push(n), new AbortController().signal)).toBe(expected(content));
    expect(told).toEqual([1_048_576, 2_097_152, 2_500_000]);
  });

  it('of a file stops when it is told', async () => {
    await expect(sha256(new Blob([bytes(10)]), () => undefined, AbortSignal.abort())).rejects.toThrow();
  });
});
