import { afterEach, describe, expect, it, vi } from 'vitest';
import { serve } from '@/test/server';
import { CutError, download, drain, fileName, forExcel, sizeText, styleFlags, TooLargeError, withQuery } from './download';

const stream = (pieces: number[], end: 'close' | Error = 'close') => new ReadableStream<Uint8Array>({
  pull(controller) {
    const next = pieces.shift();
    if (next !== undefined) controller.enqueue(new Uint8Array(next));
    else if (end === 'close') controller.close();
    else controller.error(end);
  },
});

describe('a download', () => {
  it('gives every piece in order and says how many bytes there are', async () => {
    const [got, told]: [number[], number[]] = [[], []];
    await drain(stream([3, 5]), (piece) => got.push(piece.length), (bytes) => told.push(bytes));
    expect([got, told]).toEqual([[3, 5], [3, 8]]);
  });

  it('that is too large for the memory ends, and is read no further', async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(10)), cancel: () => { cancelled = true; },
    });
    await expect(drain(body, () => undefined, () => undefined, 25)).rejects.toBeInstanceOf(TooLargeError);
    expect(cancelled).toBe(true);
  });

  it('that was cut is not taken for a whole one', async () => {
    await expect(drain(stream([1500], new TypeError('network error')), () => undefined, () => undefined)).rejects.toEqual(
      new CutError(1500),
    );
  });

  it('that was stopped says nothing', async () => {
    const stopped = new DOMException('stopped', 'AbortError');
    await expect(drain(stream([], stopped), () => undefined, () => undefined)).rejects.toBe(stopped);
  });
});

describe('a download of a selection', () => {
  afterEach(() => { vi.unstubAllGlobals(); vi.restoreAllMocks(); });

  it('sends the ids, and saves what comes', async () => {
    const calls = await serve('reader', () => new Response('rows'));
    const saved: Blob[] = [];
    const createObjectURL = (blob: Blob) => { saved.push(blob); return 'blob:rows'; };
    Object.assign(URL, { createObjectURL, revokeObjectURL: () => undefined });
    const clicked = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => undefined);
    await download('/v1/prisms/p/results/export', 'p.xlsx', {
      stream: false, onBytes: () => undefined, signal: new AbortController().signal, body: { ids: ['a'], format: 'xlsx' },
    });
    expect(calls.map(({ method, path, body }) => [method, path, body])).toEqual(
      [['POST', '/v1/prisms/p/results/export', { ids: ['a'], format: 'xlsx' }]],
    );
    expect([await saved[0]!.text(), clicked.mock.calls.length]).toEqual(['rows', 1]);
  });
});

it('names a file after what is in it, without characters that file systems refuse', () => {
  const now = new Date('2026-11-22T23:59:00Z');
  expect(fileName(['support', 'results'], 'csv', now)).toBe('support-results-2026-11-22.csv');
  expect(fileName(['../Fragen: "März"/2', 'answers'], 'xlsx', now)).toBe('Fragen-Ma-rz-2-answers-2026-11-22.xlsx');
  expect(fileName(['…'], 'csv', now)).toBe('prism-2026-11-22.csv');
});

it('says sizes as file managers do', () => {
  expect([0, 999, 1000, 12_345_678, 5_000_000_000].map(sizeText)).toEqual(['0 bytes', '999 bytes', '1.0 KB', '12 MB', '5.0 GB']);
});

it('leaves parameters out that are not set', () => {
  expect(withQuery('/v1/x', { format: 'csv', from: undefined, ref: 'a b&c' })).toBe('/v1/x?format=csv&ref=a+b%26c');
  expect(withQuery('/v1/x', {})).toBe('/v1/x');
  expect(withQuery('/v1/x', { where: ['a:is:b', 'c:labelled'] })).toBe('/v1/x?where=a%3Ais%3Ab&where=c%3Alabelled');
});

it('writes csv for Excel with the separator of the language', () => {
  expect(forExcel('csv', 'en')).toEqual({ bom: 'true', safe: 'true' });
  expect(['de', 'fr', 'pt-BR'].map((language) => forExcel('csv', language).delimiter)).toEqual([';', ';', ';']);
  expect(forExcel('tsv', 'de')).toEqual({ bom: 'true', safe: 'true' });
  expect(styleFlags(forExcel('csv', 'de'))).toBe(" --bom --delimiter ';' --safe");
  expect(styleFlags({})).toBe('');
});
