// Signed 32 bit numbers everywhere: engines compute unsigned ones above 2^31 as doubles, at a fraction of the speed.
const constants = /* @__PURE__ */ (() => {
  // The first 32 bits of the fractions of the cube roots of the first 64 primes, as FIPS 180-4 says.
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
  const fraction = (root: number) => Math.floor((root - Math.floor(root)) * 2 ** 32);
  return {
    k: Int32Array.from(primes, (p) => fraction(Math.cbrt(p))), start: primes.slice(0, 8).map((p) => fraction(Math.sqrt(p))),
  };
})();

/**
 * SHA-256 of what comes piece by piece. The browser's own digest takes a whole file at once, and files have up to 5 GiB.
 */
export class Sha256 {
  readonly #state = Int32Array.from(constants.start);
  readonly #words = new Int32Array(64);
  readonly #rest = new Uint8Array(64);
  #length = 0;

  update(bytes: Uint8Array): this {
    let at = 0;
    const kept = this.#length % 64;
    this.#length += bytes.length;
    if (kept) {
      at = Math.min(64 - kept, bytes.length);
      this.#rest.set(bytes.subarray(0, at), kept);
      if (kept + at < 64) return this;
      this.#block(this.#rest, 0);
    }
    for (; at + 64 <= bytes.length; at += 64) this.#block(bytes, at);
    this.#rest.set(bytes.subarray(at));
    return this;
  }

  /** The digest in hexadecimal. Nothing can be added after it. */
  hex(): string {
    const bits = this.#length * 8;
    const padding = new Uint8Array(((this.#length % 64 < 56 ? 56 : 120) - (this.#length % 64)) + 8);
    padding[0] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(padding.length - 4, bits >>> 0);
    this.update(padding);
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  #block(bytes: Uint8Array, at: number): void {
    const [w, k, s] = [this.#words, constants.k, this.#state];
    for (let i = 0, j = at; i < 16; i++, j += 4) {
      w[i] = (bytes[j]! << 24) | (bytes[j + 1]! << 16) | (bytes[j + 2]! << 8) | bytes[j + 3]!;
    }
    for (let i = 16; i < 64; i++) {
      const [x, y] = [w[i - 15]!, w[i - 2]!];
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
    }
    let [a, b, c, d] = [s[0]!, s[1]!, s[2]!, s[3]!];
    let [e, f, g, h] = [s[4]!, s[5]!, s[6]!, s[7]!];
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + k[i]! + w[i]!) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    s[0]! += a;
    s[1]! += b;
    s[2]! += c;
    s[3]! += d;
    s[4]! += e;
    s[5]! += f;
    s[6]! += g;
    s[7]! += h;
  }
}

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
