import { ApiError, api, ask, askAll, askRaw, type Schemas } from '@/api';
import { sha256 } from './sha256';

type File_ = Schemas['File'];
type NewFile = Schemas['NewFile'];

/** What an upload needs of the API. Tests have their own. */
export interface Files {
  newest: (signal: AbortSignal) => Promise<File_[]>;
  create: (file: NewFile, signal: AbortSignal) => Promise<File_>;
  read: (id: string, signal: AbortSignal) => Promise<File_>;
  put: (id: string, part: number, content: Blob, signal: AbortSignal) => Promise<void>;
  complete: (id: string, signal: AbortSignal) => Promise<File_>;
  /** Waits after a failure that may pass, longer each time; the first time is 1. */
  pause: (time: number, signal: AbortSignal) => Promise<void>;
}

export type Step = 'hashing' | 'sending' | 'waiting' | 'reading';

export interface Progress {
  step: Step;
  bytes: number;
  /** An upload that was begun earlier goes on, or the file is there already. */
  continued: boolean;
}

const atOnce = 4; // one connection does not fill a long line
const mostMissing = 1000; // missing parts that the API names at most

/**
 * Uploads a file and resolves when Prism has read it, as `ready` or `unusable`. What fails for a reason that may pass is repeated
 * until the signal aborts; a file of the same name, format and content among the newest hundred is continued and not sent again.
 */
export async function upload(
  content: File, format: NewFile['format'], told: (progress: Progress) => void, signal: AbortSignal, files: Files = overApi,
): Promise<File_> {
  const sum = await sha256(content, (bytes) => told({ step: 'hashing', bytes, continued: false }), signal);
  const wanted: NewFile = { name: content.name.slice(-200), format, bytes: content.size, sha256: sum };
  let sent = 0;
  let continued = false;
  const say = (step: Step) => told({ step, bytes: Math.min(sent, content.size), continued });
  const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let time = 1; ; time++) {
      const before = sent;
      try {
        return await work();
      } catch (error) {
        if (signal.aborted || !(error instanceof ApiError && error.passing)) throw error;
        if (sent > before) time = 1;
        say('waiting');
        await files.pause(time, signal);
      }
    }
  };

  const found = await patiently(async () => (await files.newest(signal)).find((file) => same(file, wanted)));
  let file = found ? await patiently(() => files.read(found.id, signal)) : await patiently(() => files.create(wanted, signal));
  continued = found !== undefined;
  while (file.status === 'uploading') {
    const { id, part_bytes: size } = file;
    await patiently(async () => {
      file = await files.read(id, signal);
      const missing = file.status === 'uploading' ? (file.missing ?? []) : [];
      // Of the parts behind the last one that is named, nothing is known if the list is full.
      sent = (missing.length === mostMissing ? missing.at(-1)! - mostMissing : file.parts - missing.length) * size;
      say('sending');
      await sendAll(missing, async (part) => {
        await files.put(id, part, content.slice((part - 1) * size, part * size), signal);
        sent += size;
        say('sending');
      });
    });
    file = await patiently(() => files.read(id, signal));
    if (file.status === 'uploading' && file.missing?.length === 0) file = await patiently(() => files.complete(id, signal));
  }
  sent = content.size;
  for (let time = 1; file.status === 'reading'; time++) {
    say('reading');
    await files.pause(time, signal);
    const { id } = file;
    file = await patiently(() => files.read(id, signal));
  }
  return file;
}

/** Whether a file of the account is the one to upload. One that Prism could not read is sent again. */
export function same(file: File_, wanted: NewFile): boolean {
  return file.status !== 'unusable'
    && file.sha256 === wanted.sha256 && file.name === wanted.name && file.format === wanted.format && file.bytes === wanted.bytes;
}

/** Sends parts, some at once. After a failure no further one begins, and those under way end first. */
async function sendAll(parts: number[], send: (part: number) => Promise<void>): Promise<void> {
  let next = 0;
  let failed: { error: unknown } | undefined;
  const worker = async () => {
    while (next < parts.length && !failed) {
      await send(parts[next++]!).catch((error: unknown) => { failed ??= { error }; });
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, parts.length) }, worker));
  if (failed) throw failed.error;
}

const overApi: Files = {
  newest: (signal) => askAll((cursor) => ask(api.GET('/v1/files', { params: { query: { limit: 100, cursor } }, signal })), 100),
  create: (body, signal) => ask(api.POST('/v1/files', { body, signal })),
  read: (file_id, signal) => ask(api.GET('/v1/files/{file_id}', { params: { path: { file_id } }, signal })),
  put: async (id, part, content, signal) => {
    // A buffer and not the Blob: a call that is made again with a new key needs the bytes twice.
    const body = await content.arrayBuffer();
    await askRaw(
      `/v1/files/${id}/parts/${part}`, { method: 'PUT', headers: { 'Content-Type': 'application/octet-stream' }, body, signal },
    );
  },
  complete: (file_id, signal) => ask(api.POST('/v1/files/{file_id}/complete', { params: { path: { file_id } }, signal })),
  pause: (time, signal) => new Promise((resolve, reject) => {
    const wake = () => { cleanup(); resolve(); };
    const stop = () => { cleanup(); reject(signal.reason as Error); };
    const timer = setTimeout(wake, Math.min(500 * 2 ** (time - 1), 15_000));
    const cleanup = () => {
      clearTimeout(timer);
      removeEventListener('online', wake);
      signal.removeEventListener('abort', stop);
    };
    addEventListener('online', wake);
    signal.addEventListener('abort', stop);
  }),
};
