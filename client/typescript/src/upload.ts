import type { CallOptions, Caller } from "./call.js";
import { ApiError, UnusableFileError } from "./errors.js";
import { Files } from "./files.js";
import { type Bounds, leaveIfAborted, patiently } from "./pause.js";
import { Sha256 } from "./sha256.js";
import type { File, FileFormat, NewFile } from "./types.js";

/** A file to upload. */
export interface Upload {
  /** The content. A Blob can be a file: one that was chosen in a browser, or that of `openAsBlob` in node. */
  content: Blob | Uint8Array | string;
  /** The name for people. A File of a browser has one. */
  name?: string | undefined;
  /** By default the one that the extension of the name stands for. */
  format?: FileFormat | undefined;
}

export interface UploadOptions extends CallOptions {
  /** Is told how many bytes Prism has at least. */
  onUpload?: ((sent: number, bytes: number) => void) | undefined;
}

const formats: FileFormat[] = ["csv", "tsv", "jsonl", "xlsx", "parquet"];

/** The format that the extension of a file's name stands for, below that of a compression, if it stands for one. */
export function fileFormatOf(name: string): FileFormat | undefined {
  const extension = /\.([^.]*?)(\.(gz|zst|zip))?$/i.exec(name)?.[1]?.toLowerCase();
  return { ndjson: "jsonl" as const, xlsm: "xlsx" as const }[extension ?? ""] ?? formats.find((format) => format === extension);
}

// How many parts are sent at once. One connection does not fill a long line.
const partsAtOnce = 4;

// Among how many files of the account an upload looks for its own.
const newestFiles = 100;
// How many missing parts a response names at most.
const mostMissing = 1000;

/** An upload under way. */
export class Uploading {
  readonly #files: Files;
  readonly #caller: Caller;
  readonly #bounds: Bounds;
  readonly #content: Blob;
  readonly #new: NewFile;
  readonly #tell: (sent: number, bytes: number) => void;
  #file: File | undefined;
  #found = false;
  // What was found could not be continued.
  #anew = false;
  #sent = 0;

  private constructor(
    files: Files, caller: Caller, bounds: Bounds, content: Blob, file: NewFile, tell: UploadOptions["onUpload"],
  ) {
    this.#files = files;
    this.#caller = caller;
    this.#bounds = bounds;
    this.#content = content;
    this.#new = file;
    this.#tell = tell ?? (() => {});
  }

  /** Uploads a file and waits until Prism has read it. */
  static async run(files: Files, caller: Caller, upload: Upload, bounds: Bounds, tell: UploadOptions["onUpload"]): Promise<File> {
    const content = upload.content instanceof Blob ? upload.content : new Blob([upload.content as Uint8Array<ArrayBuffer>]);
    const name = upload.name ?? (content as Blob & { name?: string }).name;
    if (!name) throw new TypeError("prism: uploadFile: the content has no name; pass one");
    const format = upload.format ?? fileFormatOf(name);
    if (!format) {
      throw new TypeError("prism: uploadFile: the extension of the name is not csv, tsv, jsonl, xlsx or parquet; pass a format");
    }
    const sha256 = await sum(content, bounds.signal);
    const uploading = new Uploading(files, caller, bounds, content, { name, format, bytes: content.size, sha256 }, tell);
    const file = await patiently(caller.pauses, bounds, () => uploading.#advance(), () => uploading.#sent);
    return uploading.#whenRead(file);
  }

  // Does all that is left of the upload.
  async #advance(): Promise<File> {
    try {
      let file = await this.#find();
      while (file.status === "uploading") {
        if (file.missing?.length) {
          await this.#sendMissing(file, file.missing);
          file = await this.#files.readFile(file.id, this.#bounds);
        } else {
          file = await this.#files.completeFile(file.id, this.#bounds);
        }
      }
      return file;
    } catch (error) {
      if (!this.#found || !(error instanceof ApiError && error.code === "conflict")) throw error;
      // A part was sent with other content, by another program or before a change.
      this.#anew = true;
      this.#found = false;
      this.#file = undefined;
      return this.#advance();
    }
  }

  // Reads the file again, or finds it among those of the account, or makes it.
  async #find(): Promise<File> {
    if (!this.#file && !this.#anew) {
      const wanted = this.#new;
      let looked = 0;
      for await (const f of this.#files.listFiles({}, this.#bounds)) {
        const same =
          f.sha256 === wanted.sha256 && f.name === wanted.name && f.format === wanted.format && f.bytes === wanted.bytes;
        if (same && f.status !== "unusable") this.#file = f;
        if (this.#file || ++looked === newestFiles) break;
      }
      this.#found = this.#file !== undefined;
    }
    // A file of a list may tell less of it.
    this.#file = this.#file
      ? await this.#files.readFile(this.#file.id, this.#bounds) : await this.#files.createFile(this.#new, this.#bounds);
    return this.#file;
  }

  // Sends the parts that are known to be missing.
  async #sendMissing(file: File, missing: number[]): Promise<void> {
    // Of the parts behind the last one that is named, nothing is known if the list is full.
    const there = missing.length === mostMissing ? missing[mostMissing - 1]! - mostMissing : file.parts - missing.length;
    this.#sent = there * file.part_bytes;
    let next = 0;
    const failures: unknown[] = [];
    const sender = async () => {
      while (next < missing.length && failures.length === 0) {
        try {
          await this.#send(file, missing[next++]!);
        } catch (error) {
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: partsAtOnce }, sender));
    if (failures.length > 0) throw failures[0];
  }

  async #send(file: File, number: number): Promise<void> {
    const begin = (number - 1) * file.part_bytes;
    const data = await this.#content.slice(begin, begin + file.part_bytes).arrayBuffer();
    await this.#files.putPart(file.id, number, new Uint8Array(data), this.#bounds);
    this.#sent += data.byteLength;
    this.#tell(Math.min(this.#sent, this.#content.size), this.#content.size);
  }

  // Waits until Prism has read the file.
  async #whenRead(file: File): Promise<File> {
    for (let n = 1; file.status === "reading"; n++) {
      await this.#caller.polls.must(n, this.#bounds, "uploadFile");
      file = await patiently(this.#caller.pauses, this.#bounds, () => this.#files.readFile(file.id, this.#bounds));
    }
    if (file.status === "unusable") throw new UnusableFileError(file);
    return file;
  }
}

/** The SHA-256 of a content in hex. */
export async function sum(content: Blob, signal?: AbortSignal): Promise<string> {
  const hash = new Sha256();
  const step = 1 << 20;
  for (let at = 0; at < content.size; at += step) {
    leaveIfAborted({ operation: "uploadFile" }, signal);
    hash.update(new Uint8Array(await content.slice(at, at + step).arrayBuffer()));
  }
  return hash.hex();
}

/** Files of rows, and their upload. */
export class Uploads extends Files {
  /**
   * Uploads a file and returns it when Prism has read it. It sends the missing parts several at a time, and asks again what is
   * missing when a connection is lost. A file of the same name, format and content that is among the account's newest hundred,
   * whole or in part, is continued and not sent again: so an upload that ended with its program is continued by the same call. A
   * file that Prism cannot read is an UnusableFileError.
   */
  uploadFile(upload: Upload, options: UploadOptions = {}): Promise<File> {
    const { onUpload, ...call } = options;
    return Uploading.run(this, this.caller, upload, this.caller.bounds(call), onUpload);
  }
}
