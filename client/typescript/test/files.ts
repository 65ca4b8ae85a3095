import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { File, NewFile } from "../src/index.js";
import { answer, type Handler, json, jsonType } from "./serving.js";

interface Stored {
  file: File;
  parts: Map<number, string>;
}

const refuse = (response: ServerResponse, status: number, code: string, message: string) =>
  answer(response, status, jsonType, JSON.stringify({ error: { code, message } }));

export const contentOf = (one: Stored) => Array.from({ length: one.file.parts }, (_, i) => one.parts.get(i + 1) ?? "").join("");

/** A Prism that keeps files in parts of a few bytes. */
export class FakeFiles {
  /** Newest first. */
  stored: Stored[] = [];
  puts = 0;
  readonly #partBytes: number;

  constructor(partBytes = 8) {
    this.#partBytes = partBytes;
  }

  readonly handle: Handler = (request, response) => {
    const [id, what, number] = request.at.pathname.split("/").slice(3);
    if (id === undefined) {
      if (request.method === "GET") { // one file a page, as of large ones
        const at = Number(request.at.searchParams.get("cursor") ?? 0);
        const data = this.stored.slice(at, at + 1).map(({ file }) => file);
        return json(response, 200, { data, next_cursor: at + 1 < this.stored.length ? String(at + 1) : null });
      }
      return this.#create(response, JSON.parse(request.body.toString()) as NewFile);
    }
    const one = this.stored.find(({ file }) => file.id === id);
    if (!one) return refuse(response, 404, "not_found", "File not found");
    if (what === "parts") return this.#put(response, one, Number(number), request.body.toString());
    if (what === "complete") return this.#complete(response, one);
    json(response, 200, one.file);
    if (one.file.status === "reading") one.file.status = "ready";
  };

  #create(response: ServerResponse, file: NewFile): void {
    const one: Stored = {
      parts: new Map(),
      file: {
        ...file, id: `file-${this.stored.length + 1}`, sha256: file.sha256 ?? null, status: "uploading", error: null,
        part_bytes: this.#partBytes,
        parts: Math.ceil(file.bytes / this.#partBytes), missing: [], rows: null, columns: null, delimiter: null,
        encoding: null, encoding_sure: null, header_row: null, proposed_header_row: null, sheet: null, bad_rows: null,
        notes: null, created_at: "", expires_at: "",
      },
    };
    this.stored.unshift(one);
    this.#note(one);
    json(response, 201, one.file);
  }

  #put(response: ServerResponse, one: Stored, number: number, data: string): void {
    const was = one.parts.get(number);
    if (data.length !== Math.min(this.#partBytes, one.file.bytes - (number - 1) * this.#partBytes)) {
      return refuse(response, 400, "validation_failed", "a part of another length");
    }
    if (was !== undefined && was !== data) return refuse(response, 409, "conflict", "Part was already sent with other content.");
    one.parts.set(number, data);
    this.puts++;
    this.#note(one);
    json(response, 200, { part: number, bytes: data.length, sha256: "" });
  }

  #complete(response: ServerResponse, one: Stored): void {
    if (one.file.missing!.length > 0) return refuse(response, 409, "conflict", "Parts are missing: 1.");
    if (createHash("sha256").update(contentOf(one)).digest("hex") !== one.file.sha256) {
      return refuse(response, 409, "conflict", "The file's content differs from its sha256.");
    }
    one.file.status = "reading";
    json(response, 202, one.file);
  }

  #note(one: Stored): void {
    const numbers = Array.from({ length: one.file.parts }, (_, i) => i + 1);
    one.file.missing = numbers.filter((number) => !one.parts.has(number)).slice(0, 1000);
  }
}
