// SHA-256 of content that comes in pieces, FIPS 180-4. The web's crypto.subtle takes only content that is in memory as a whole,
// and is missing on pages without TLS.

const constants = roots(64, 3);
const initial = roots(8, 2);

/** The first 32 bits of the fractional parts of the roots of the first primes. */
function roots(count: number, degree: number): Int32Array {
  const found = new Int32Array(count);
  for (let n = 0, candidate = 2; n < count; candidate++) {
    let prime = true;
    for (let d = 2; d * d <= candidate; d++) prime &&= candidate % d !== 0;
    if (!prime) continue;
    const root = degree === 2 ? Math.sqrt(candidate) : Math.cbrt(candidate);
    found[n++] = Math.floor((root % 1) * 2 ** 32);
  }
  return found;
}

export class Sha256 {
  readonly #state = initial.slice();
  readonly #words = new Int32Array(64);
  readonly #block = new Uint8Array(64);
  readonly #view = new DataView(this.#block.buffer);
  #length = 0;

  update(data: Uint8Array): void {
    for (let at = 0; at < data.length; ) {
      const begin = this.#length % 64;
      const part = data.subarray(at, at + 64 - begin);
      this.#block.set(part, begin);
      this.#length += part.length;
      at += part.length;
      if (this.#length % 64 === 0) this.#mix();
    }
  }

  /** The digest in hex. Nothing can be added behind it. */
  hex(): string {
    const length = this.#length;
    this.update(Uint8Array.of(0x80));
    this.update(new Uint8Array((120 - (this.#length % 64)) % 64));
    this.#view.setUint32(56, Math.floor(length / 2 ** 29));
    this.#view.setUint32(60, (length * 8) >>> 0);
    this.#mix();
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  #mix(): void {
    const w = this.#words;
    for (let i = 0; i < 16; i++) w[i] = this.#view.getInt32(4 * i);
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15]!;
      const y = w[i - 2]!;
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
    }
    // With destructuring and iterators in place of single assignments it would hash 60 MB in a second, not 150.
    const k = constants;
    const state = this.#state;
    let a = state[0]!, b = state[1]!, c = state[2]!, d = state[3]!, e = state[4]!, f = state[5]!, g = state[6]!, h = state[7]!;
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
    state[0]! += a;
    state[1]! += b;
    state[2]! += c;
    state[3]! += d;
    state[4]! += e;
    state[5]! += f;
    state[6]! += g;
    state[7]! += h;
  }
}
