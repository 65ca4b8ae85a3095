import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ApiError, type Schemas } from '@/api';
import { type Files, type Progress, upload } from './upload';

type File_ = Schemas['File'];

const partBytes = 4;
const text = 'id,text\n1,hello\n2,world\n';
const lost = () => new ApiError(0, 'no_response', 'Prism does not respond.');

/** Files in memory, with parts of 4 bytes. `trouble` may throw before a call; it gets the call's name and a number of its own. */
class FakeFiles implements Files {
  stored = new Map<string, { file: File_; parts: Map<number, string> }>();
  calls: string[] = [];
  pauses: number[] = [];
  reads = 2; // times that a file is being read before it is ready
  trouble: (call: string, time: number) => void = () => undefined;
  shows = 1000; // missing parts that are named at most

  #enter(call: string): void {
    this.calls.push(call);
    this.trouble(call, this.calls.filter((one) => one === call).length);
  }

  newest = async () => {
    this.#enter('newest');
    return [...this.stored.values()].map(({ file }) => file);
  };

  create = async (wanted: Schemas['NewFile']) => {
    this.#enter('create');
    const parts = Math.ceil(wanted.bytes / partBytes);
    const file = {
      ...wanted, sha256: wanted.sha256 ?? null, id: `file-${this.stored.size + 1}`, status: 'uploading', error: null,
      part_bytes: partBytes, parts, missing: [], rows: null, columns: null, delimiter: null,
      encoding: null, encoding_sure: null, header_row: null, proposed_header_row: null, sheet: null, bad_rows: null, notes: null,
      created_at: '', expires_at: '',
    } satisfies File_;
    this.stored.set(file.id, { file, parts: new Map() });
    return this.#seen(file.id);
  };

  read = async (id: string) => {
    this.#enter('read');
    const { file } = this.stored.get(id)!;
    if (file.status === 'reading' && this.reads-- <= 0) this.stored.get(id)!.file = { ...file, status: 'ready', rows: 2 };
    return this.#seen(id);
  };

  put = async (id: string, part: number, content: Blob) => {
    this.#enter(`put ${part}`);
    this.stored.get(id)!.parts.set(part, await content.text());
  };

  complete = async (id: string) => {
    this.#enter('complete');
    const one = this.stored.get(id)!;
    one.file = { ...one.file, status: 'reading' };
    return this.#seen(id);
  };

  pause = async (time: number, signal: AbortSignal) => {
    signal.throwIfAborted();
    this.pauses.push(time);
  };

  #seen(id: string): File_ {
    const { file, parts } = this.stored.get(id)!;
    const missing = Array.from({ length: file.parts }, (_, i) => i + 1).filter((n) => !parts.has(n)).slice(0, this.shows);
    return { ...file, missing: file.status === 'uploading' ? missing : null };
  }

  content(id = 'file-1'): string {
    return [...this.stored.get(id)!.parts].sort(([a], [b]) => a - b).map(([, part]) => part).join('');
  }
}

const file = (name = 'tickets.csv', content = text) => new File([content], name);
const start = (files: FakeFiles, content = file(), signal = new AbortController().signal) => {
  const told: Progress[] = [];
  return { told, done: upload(content, 'csv', (progress) => told.push(progress), signal, files) };
};

describe('an upload', () => {
  it('sends every part once and waits until the file is read', async () => {
    const files = new FakeFiles();
    const { told, done } = start(files);
    expect((await done).status).toBe('ready');
    expect(files.content()).toBe(text);
    expect(files.calls.filter((call) => call.startsWith('put')).sort()).toEqual([
      'put 1', 'put 2', 'put 3', 'put 4', 'put 5', 'put 6',
    ]);
    expect(files.stored.get('file-1')!.file.sha256).toBe(createHash('sha256').update(text).digest('hex'));
    expect(told.at(-1)).toEqual({ step: 'reading', bytes: text.length, continued: false });
  });

  it('goes on after a cut connection, and sends only what is missing', async () => {
    const files = new FakeFiles();
    files.trouble = (call, time) => { if (call === 'put 5' && time < 3) throw lost(); };
    const { told, done } = start(files);
    expect((await done).status).toBe('ready');
    expect(files.content()).toBe(text);
    expect(files.calls.filter((call) => call === 'put 1')).toHaveLength(1);
    expect(files.calls.filter((call) => call === 'put 5')).toHaveLength(3);
    expect(told.map(({ step }) => step)).toContain('waiting');
  });

  it('pauses longer each time, and begins anew after progress', async () => {
    const files = new FakeFiles();
    files.trouble = (call, time) => {
      if (call === 'read' && time <= 3) throw lost();
      if (call === 'put 6' && time === 1) throw lost();
    };
    await start(files).done;
    expect(files.pauses.slice(0, 4)).toEqual([1, 2, 3, 1]);
  });

  it('continues an upload that was begun before, when the same file is chosen again', async () => {
    const files = new FakeFiles();
    const first = new AbortController();
    files.trouble = (call) => {
      if (call !== 'put 4') return;
      first.abort();
      throw lost();
    };
    await expect(start(files, file(), first.signal).done).rejects.toThrow();
    const before = files.calls.length;
    files.trouble = () => undefined;
    const { told, done } = start(files);
    expect((await done).id).toBe('file-1');
    expect(files.content()).toBe(text);
    const again = files.calls.slice(before);
    expect(again).not.toContain('create');
    expect(again).not.toContain('put 1');
    expect(again).toContain('put 4');
    expect(told.at(-1)!.continued).toBe(true);
  });

  it('sends nothing of a file that is there already', async () => {
    const files = new FakeFiles();
    await start(files).done;
    files.calls = [];
    expect((await start(files).done).id).toBe('file-1');
    expect(files.calls.filter((call) => call.startsWith('put') || call === 'create' || call === 'complete')).toEqual([]);
  });

  it.each([
    ['another name', file('other.csv')], ['other content of the same size', file('tickets.csv', text.replace('hello', 'jello'))],
  ])('of %s is another file', async (_, other) => {
    const files = new FakeFiles();
    await start(files).done;
    expect((await start(files, other).done).id).toBe('file-2');
  });

  it('sends a file again that could not be read before', async () => {
    const files = new FakeFiles();
    await start(files).done;
    files.stored.get('file-1')!.file.status = 'unusable';
    files.reads = 0;
    expect((await start(files).done).id).toBe('file-2');
  });

  it('asks for further missing parts when not all are named at once', async () => {
    const files = new FakeFiles();
    files.shows = 2;
    await start(files).done;
    expect(files.content()).toBe(text);
  });

  it('fails at once for a reason that does not pass', async () => {
    const files = new FakeFiles();
    files.trouble = (call) => {
      if (call === 'put 2') throw new ApiError(409, 'conflict', 'Part 2 was already sent with other content.');
    };
    await expect(start(files).done).rejects.toThrow('Part 2 was already sent');
    expect(files.pauses).toEqual([]);
  });
});
