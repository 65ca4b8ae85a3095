import { Caller } from "./call.js";
import { Pauses } from "./pause.js";
import { Runs } from "./runs.js";

/** Which Prism is called, and how. */
export interface PrismConfig {
  /** The address of the API without /v1, such as "https://prism.example.com". */
  url: string;
  /** The API key. */
  key: string;
  /** The most attempts of a call whose repeat is safe; 4 by default, and 1 never repeats. */
  attempts?: number | undefined;
  /** The milliseconds that a whole call may take, if its own options do not say; see {@link CallOptions}. */
  timeout?: number | undefined;
  /** Makes the requests, such as one that goes through a proxy; the fetch of the runtime by default. */
  fetch?: typeof fetch | undefined;
  /** Names the program in the server's logs. Browsers send their own. */
  userAgent?: string | undefined;
  /** The pauses between attempts in milliseconds: each up to twice the one before, from `first`, 200, up to `most`, 10,000. */
  pauses?: { first: number; most: number } | undefined;
}

/**
 * A client of one Prism with one key. It has a method for each operation of the API, and for some things more that take several.
 *
 *     const prism = Prism.fromEnvironment();
 *     const result = await prism.createResult("tickets", { text: "I was charged twice for my order." });
 *     console.log(result.answers.choice("topic").value);
 */
export class Prism extends Runs {
  /** Makes a client. It makes no request. */
  constructor(config: PrismConfig) {
    const { key, attempts = 4, timeout, fetch, userAgent, pauses = { first: 200, most: 10_000 } } = config;
    if (typeof key !== "string" || !/^[!-~]+$/.test(key)) {
      throw new TypeError("prism: key is empty or holds characters that no API key has");
    }
    super(
      new Caller({
        base: base(config.url),
        key,
        agent: userAgent ?? (typeof document === "undefined" ? "prism-client-typescript" : undefined),
        attempts,
        timeout,
        fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
        pauses: new Pauses(pauses.first, pauses.most),
      }),
    );
  }

  /**
   * A client of the Prism that the environment names: PRISM_URL, http://127.0.0.1:8080 if it is not set, and PRISM_API_KEY. They
   * are the variables of prismctl.
   */
  static fromEnvironment(config: Partial<PrismConfig> = {}): Prism {
    const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env;
    if (!env) throw new TypeError("prism: this runtime has no process.env; use new Prism({ url, key })");
    const key = config.key ?? env["PRISM_API_KEY"];
    if (!key) throw new TypeError("prism: the environment variable PRISM_API_KEY is not set");
    return new Prism({ ...config, url: config.url ?? (env["PRISM_URL"] || "http://127.0.0.1:8080"), key });
  }
}

// The address that paths are appended to. The errors do not repeat the address, which may contain a password or a key.
function base(address: string): string {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new TypeError('prism: url is not an address such as "https://prism.example.com"');
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TypeError('prism: url is not an address such as "https://prism.example.com"');
  }
  if (url.username || url.password) throw new TypeError("prism: url holds a user or password; Prism takes an API key instead");
  if (/[?#]/.test(address)) throw new TypeError("prism: url ends in a query or fragment");
  return url.href.replace(/\/+$/, "");
}
