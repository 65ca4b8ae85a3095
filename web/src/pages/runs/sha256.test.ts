import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Sha256, sha256 } from './sha256';

const bytes = (n: number) => Uint8Array.from({ length: n }, (_, i) => (i * 31 + (i >> 8)) % 256);
const expected = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

describe('SHA-256', () => {
  it.each([0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000, 70_001])('of %i bytes is that of node', (n) => {
    expect(new Sha256().update(bytes(n)).hex()).toBe(expected(bytes(n)));
  });

  it.each([1, 7, 63, 64, 65])('does not depend on pieces, here of %i bytes', (size) => {
    const [hash, content] = [new Sha256(), bytes(500)];
    for (let at = 0; at < content.length; at += size) hash.update(content.subarray(at, at + size));
    expect(hash.hex()).toBe(expected(content));
  });

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
