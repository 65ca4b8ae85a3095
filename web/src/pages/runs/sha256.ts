import { Sha256 } from '../../../../client/typescript/src/sha256';

const piece = 1024 * 1024; // bytes that are hashed before the page may draw again: some milliseconds

/** The SHA-256 of a file in hexadecimal, and how far it is while it is computed. */
export async function sha256(file: Blob, told: (bytes: number) => void, signal: AbortSignal): Promise<string> {
  const hash = new Sha256();
  for (let at = 0; at < file.size; at += piece) {
    signal.throwIfAborted();
    hash.update(new Uint8Array(await file.slice(at, at + piece).arrayBuffer()));
    told(Math.min(file.size, at + piece));
  }
  return hash.hex();
}
