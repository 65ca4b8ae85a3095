import { Account } from "./account.js";
import { type CallOptions, limits } from "./call.js";
import type { List } from "./lists.js";
import type { File, FileOptions, FilePart, FileRows, NewFile, Selection } from "./types.js";

/** Files of rows. */
export class Files extends Account {
  /** Begins an upload. uploadFile does all of it. */
  createFile(file: NewFile, options?: CallOptions): Promise<File> {
    return this.caller.json({ operation: "createFile", method: "POST", path: ["files"], body: file, want: 201 }, options);
  }

  /**
   * Sends a part of a file; the first has the number 1. Sending a part again has no other effect; other content for it is a
   * conflict.
   */
  putPart(file: string, number: number, data: Uint8Array, options?: CallOptions): Promise<FilePart> {
    return this.caller.json(
      { operation: "putPart", method: "PUT", path: ["files", file, "parts", number], body: data, limit: limits.part }, options,
    );
  }

  /** Ends an upload and has the file read. It is a conflict while parts are missing, or if the content has another SHA-256. */
  completeFile(file: string, options?: CallOptions): Promise<File> {
    return this.caller.json(
      { operation: "completeFile", method: "POST", path: ["files", file, "complete"], repeatable: true, want: 202 }, options,
    );
  }

  /** Has a file read in another way. What is not given is found out. It is a conflict if a run has the file. */
  readFileAgain(file: string, reading: FileOptions = {}, options?: CallOptions): Promise<File> {
    return this.caller.json(
      { operation: "readFileAgain", method: "POST", path: ["files", file, "read"], body: reading, repeatable: true, want: 202 },
      options,
    );
  }

  /** Lists files, newest first. */
  listFiles(selection?: Selection<"listFiles">, options?: CallOptions): List<File> {
    return this.list("listFiles", ["files"], selection, options);
  }

  /** Reads what is known of a file. */
  readFile(file: string, options?: CallOptions): Promise<File> {
    return this.caller.json({ operation: "readFile", method: "GET", path: ["files", file] }, options);
  }

  /** Reads rows of a ready file: at most `limit`, behind the first `offset` rows. */
  listFileRows(file: string, selection?: Selection<"listFileRows">, options?: CallOptions): Promise<FileRows> {
    return this.caller.json(
      { operation: "listFileRows", method: "GET", path: ["files", file, "rows"], query: selection }, options,
    );
  }

  /** Deletes a file. It is a conflict while a run that is not over uses the file. */
  deleteFile(file: string, options?: CallOptions): Promise<void> {
    return this.caller.nothing({ operation: "deleteFile", method: "DELETE", path: ["files", file] }, options);
  }
}
