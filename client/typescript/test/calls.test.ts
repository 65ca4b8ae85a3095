import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  ApiError, ConnectionError, FailedError, newIdempotencyKey, Prism, requestIdOf, UnavailableError, ValidationError,
} from "../src/index.js";
import {
  answer, answering, calling, cut, failedJson, failure, jsonType, key, okJson, resultId, serving, unavailableJson, whole,
} from "./serving.js";

const text = { text: "t" };

describe("errors", () => {
  it("have the status, the code, the message and the request's id", async () => {
    const prism = await answering(409, jsonType, `{"error":{"code":"conflict","message":"This prism is archived."}}`);
    const error = await failure(prism.replaceLens("a", { columns: [] }), ApiError);
    expect(error).toMatchObject({
      operation: "replaceLens", status: 409, code: "conflict", text: "This prism is archived.", requestId: "r-1",
    });
    expect(error.message).toBe("prism: replaceLens: 409 conflict: This prism is archived.");
  });

  it("the 503 has a code here", async () => {
    const error = await failure((await answering(503, jsonType, unavailableJson)).readPrism("a"), UnavailableError);
    expect(error.code).toBe("unavailable");
  });

  // spec: validation-message, error-missing-fields, error-unknown-fields
  it.each([
    ["Invalid request: text: Required", [{ path: "text", message: "Required" }]],
    [
      "Invalid request: format: Expected 'json' | 'raw'; "
        + "definition.questions.0.text: String must contain at least 1 character(s)",
      [
        { path: "format", message: "Expected 'json' | 'raw'" },
        { path: "definition.questions.0.text", message: "String must contain at least 1 character(s)" },
      ],
    ],
    ["Invalid request: a: one; two", [{ path: "a", message: "one; two" }]],
    ["Missing fields: subject, message", [
      { path: "fields.subject", message: "Required" }, { path: "fields.message", message: "Required" },
    ]],
    ["Unknown fields: a", [{ path: "fields.a", message: "Unknown field" }]],
    ["Request too large: about 9", [{ path: "", message: "Request too large: about 9" }]],
  ])("of validation have their problems: %s", async (message, problems) => {
    const prism = await answering(400, jsonType, JSON.stringify({ error: { code: "validation_failed", message } }));
    expect((await failure(prism.createResult("a", text), ValidationError)).problems).toEqual(problems);
  });

  it.each<[string, (prism: Prism) => Promise<unknown>]>([
    ["create", (p) => p.createResult("a", text)],
    ["create json", (p) => p.createResult("a", text, { format: "json" })],
    ["retry", (p) => p.retryResult("a")],
    ["retry json", (p) => p.retryResult("a", { format: "json" })],
  ])("carry a failed result: %s", async (_, call) => {
    const error = await failure(call(await answering(502, jsonType, failedJson)), FailedError);
    expect(error).toMatchObject({
      result: { id: resultId, status: "failed", answers: null }, body: failedJson, requestId: "r-1",
    });
    expect(error.message).toContain("within 15 seconds");
  });

  it("carry a failed row as it is", async () => {
    const row = "result_id\terror\nx\ty\n";
    const prism = await answering(502, "text/tab-separated-values; charset=utf-8", row);
    const error = await failure(prism.createResult("a", text, { format: "tsv" }), FailedError);
    expect([error.body, error.result]).toEqual([row, undefined]);
    expect((await failure(prism.createResult("a", text, { format: "csv" }), ApiError)).code).toBe("unexpected");
  });

  const tryOf = { definition: { fields: [], questions: [] }, ...text };

  it("carry a failed try", async () => {
    const failed = whole(
      "Try",
      { status: "failed", error: "The model did not answer within 15 seconds.", error_code: "timeout", raw: null, json: null },
    );
    const error = await failure((await answering(502, jsonType, JSON.stringify(failed))).tryDefinition(tryOf), FailedError);
    expect(error).toMatchObject({ try: { error_code: "timeout", answers: null, row: null }, result: undefined });
    expect(error.message).toBe("prism: tryDefinition: The model did not answer within 15 seconds.");
  });

  it.each(["<h1>proxy</h1>", "null", `{"status":"ok"}`, failedJson.slice(0, 20)])("take no other 502 for a failed one: %s",
    async (page) => {
      const prism = await answering(502, jsonType, page);
      expect((await failure(prism.tryDefinition(tryOf), ApiError)).code).toBe("unexpected");
      expect((await failure(prism.createResult("a", text, { attempts: 1 }), ApiError)).code).toBe("unexpected");
    });

  it.each([301, 403, 429, 502, 504])("a proxy's page is unexpected: %i", async (status) => {
    const prism = await answering(status, "text/html", "<h1>secret stack trace</h1>");
    const error = await failure(prism.createResult("a", { ...text, idempotency_key: null }), ApiError);
    expect([error.code, error.status]).toEqual(["unexpected", status]);
    expect(error.message).not.toContain("secret");
  });

  it.each([
    `<h1>log in</h1>`, "null", `"text"`, okJson.slice(0, 20), `{"id":"a"}`,
  ])("a success that is not Prism's is unexpected: %s", async (page) => {
    expect((await failure((await answering(200, "text/html", page)).readResult("a"), ApiError)).code).toBe("unexpected");
  });

  it("say that the caller left", async () => {
    const leave = new AbortController();
    const prism = await serving(() => leave.abort(new Error("my reason")));
    const error = await failure(prism.readResult("a", { signal: leave.signal }), ConnectionError);
    expect(error).toMatchObject({ sent: true, aborted: true, timedOut: false, cause: new Error("my reason") });
    expect(await failure(prism.readResult("a", { signal: leave.signal }), ConnectionError)).toMatchObject({
      sent: false, aborted: true,
    });
  });
});

describe("a call that takes long", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  // A server that never answers. It tells when the request of each attempt ended.
  function silent(config = {}) {
    const ends: number[] = [];
    const began = performance.now();
    const fetch: typeof globalThis.fetch = (_, init) =>
      new Promise((_, reject) => {
        init!.signal!.addEventListener("abort", () => {
          ends.push(Math.round(performance.now() - began));
          reject(new Error("aborted"));
        });
      });
    return { ends, prism: calling("http://prism.test", { fetch, ...config }) };
  }

  async function late(call: Promise<unknown>): Promise<ConnectionError> {
    const error = failure(call, ConnectionError);
    await vi.runAllTimersAsync();
    return error;
  }

  it.each<[string, (prism: Prism) => Promise<unknown>, number]>([
    ["a read", (p) => p.readResult("a", { attempts: 1 }), 30_000],
    ["a create", (p) => p.createResult("a", text, { attempts: 1 }), 75_000],
    ["a retry", (p) => p.retryResult("a"), 75_000],
    ["a part", (p) => p.putPart("a", 1, new Uint8Array(1), { attempts: 1 }), 120_000],
    ["a dry run of a run", (p) => p.createRun("a", { file_id: "f", fields: {} }, { dryRun: true, attempts: 1 }), 60_000],
  ])("ends by itself: %s", async (_, call, limit) => {
    const { prism, ends } = silent();
    expect(await late(call(prism))).toMatchObject({ timedOut: true, aborted: false, sent: true });
    expect(ends).toEqual([limit]);
  });

  it("is repeated within its own time", async () => {
    const { prism, ends } = silent();
    await late(prism.readResult("a", { timeout: 70_000 }));
    expect(ends.length).toBe(3);
    expect(ends[2]).toBe(70_000);
  });

  it("is bounded by the time of the client", async () => {
    const { prism, ends } = silent({ timeout: 1000 });
    await late(prism.readResult("a"));
    expect(ends).toEqual([1000]);
  });

  it("a read that stalls ends, and a reader that stalls does not", async () => {
    let controller: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({ start: (c) => void (controller = c) });
    const fetch: typeof globalThis.fetch = (_, init) => {
      init!.signal!.addEventListener("abort", () => controller.error(new Error("aborted")));
      return Promise.resolve(new Response(body, { headers: { "Content-Type": "text/csv" } }));
    };
    const download = await calling("http://prism.test", { fetch }).exportResults("a");
    const chunks = download[Symbol.asyncIterator]();
    for (const letter of ["a", "b"]) {
      controller!.enqueue(new TextEncoder().encode(letter));
      expect(new TextDecoder().decode((await chunks.next()).value as Uint8Array)).toBe(letter);
      await vi.advanceTimersByTimeAsync(300_000);
    }
    const began = performance.now();
    expect(await late(chunks.next())).toMatchObject({ timedOut: true, operation: "exportResults" });
    expect(performance.now() - began).toBe(30_000);
  });
});

describe("what is cut", () => {
  it("is not taken for a whole download", async () => {
    const prism = await serving((_, response) => cut(response, "result_id\r\n"));
    const download = await prism.exportResults("a");
    let got = "";
    const read = async () => {
      for await (const chunk of download) got += new TextDecoder().decode(chunk);
    };
    expect((await failure(read(), ConnectionError)).operation).toBe("exportResults");
    expect(got).toBe("result_id\r\n");
  });

  it("is read again if it is a document", async () => {
    let n = 0;
    const prism = await serving((_, response) => {
      response.setHeader("Content-Type", n < 2 ? jsonType : "application/jsonl");
      return n++ % 2 === 0 ? cut(response, okJson.slice(0, 20)) : void response.end(okJson);
    });
    expect((await prism.readResult("a")).id).toBe(resultId);
    expect(await prism.readResult("a", { format: "jsonl" })).toBe(okJson);
  });
});

it.each([301, 302, 303, 307, 308])("a redirect is not followed: %i", async (status) => {
  let followed = false;
  const prism = await serving((request, response) => {
    followed ||= request.url === "/elsewhere";
    response.writeHead(status, { Location: "/elsewhere" }).end();
  });
  expect(await failure(prism.readResult("a"), ApiError)).toMatchObject({ status, code: "unexpected" });
  expect(followed).toBe(false);
});

it("the key is not shown", async () => {
  const prism = await answering(401, jsonType, `{"error":{"code":"unauthorized","message":"Invalid API key"}}`);
  const shown: unknown[] = [prism, await failure(prism.listKeys(), ApiError)];
  shown.push(await failure(calling("http://127.0.0.1:1").listResults({ ref: "private" }), ConnectionError));
  for (const config of [
    { url: `http://user:${key}@host/`, key }, { url: `nowhere ${key}`, key }, { url: "http://host", key: `${key}\n` },
  ]) {
    try {
      shown.push(new Prism(config));
    } catch (error) {
      shown.push(error);
    }
  }
  expect(shown.slice(3).every((error) => error instanceof TypeError)).toBe(true);
  const logged = shown.map((one) => inspect(one, { depth: 9, showHidden: true }) + JSON.stringify(one)).join();
  expect(logged).not.toContain(key.slice(6));
  expect(logged).not.toContain("private");
});

describe("a client", () => {
  it.each(["", "host", "ftp://host", "http://", "http://h?x", "http://h#x", "http://h?", "http://h:x"])("refuses the address %j",
    (url) => {
      expect(() => new Prism({ url, key })).toThrow(/^prism: url /);
    });
  it.each(["", "a b", "ä"])("refuses the key %j", (wrong) => {
    expect(() => new Prism({ url: "http://h", key: wrong })).toThrow(/^prism: key /);
  });
  it.each([{ attempts: 0 }, { attempts: 1.5 }, { timeout: 0 }, { timeout: NaN }])("refuses the options %j", async (options) => {
    expect(
      (await failure(calling("http://h").readResult("a", options), TypeError)).message,
    ).toMatch(/^prism: (attempts|timeout) /);
  });
  it.each(["", ".", ".."])("refuses the id %j, whose address would be that of another operation", async (id) => {
    expect((await failure(calling("http://h").deleteResult(id), TypeError)).message).toContain("deleteResult");
  });
  it("refuses a parameter that has no UTF-8", async () => {
    await failure(calling("http://h").readResult("\ud800"), TypeError);
    await failure(calling("http://h").listResults({ ref: "\ud800" }), TypeError);
  });

  afterEach(() => void vi.unstubAllEnvs());

  it("is made from the environment", async () => {
    const urls: string[] = [];
    const fetch: typeof globalThis.fetch = (url) => {
      urls.push(url as string);
      return Promise.reject(new Error("recorded"));
    };
    vi.stubEnv("PRISM_API_KEY", "");
    expect(() => Prism.fromEnvironment()).toThrow("PRISM_API_KEY is not set");
    vi.stubEnv("PRISM_API_KEY", key);
    for (const url of ["", "https://prism.example.com"]) {
      vi.stubEnv("PRISM_URL", url);
      await failure(Prism.fromEnvironment({ fetch, attempts: 1 }).readResult("a"), ConnectionError);
    }
    expect(urls).toEqual(["http://127.0.0.1:8080/v1/results/a?format=raw", "https://prism.example.com/v1/results/a?format=raw"]);
  });
});

describe("a request", () => {
  it("has an escaped address below the path of the client's", async () => {
    const urls: unknown[] = [];
    const headers: Headers[] = [];
    const prism = new Prism({
      url: "https://host/some/where/", key, attempts: 1, userAgent: "me",
      fetch: (url, init) => {
        urls.push(url);
        headers.push(new Headers(init!.headers));
        return Promise.reject(new Error("recorded"));
      },
    });
    await failure(prism.readPrism("a/b ?c%é", { requestId: "mine" }), ConnectionError);
    await failure(prism.listResults({ ref: "a&b=c+ü", from: new Date(0) }), ConnectionError);
    expect(urls).toEqual([
      "https://host/some/where/v1/prisms/a%2Fb%20%3Fc%25%C3%A9",
      "https://host/some/where/v1/results?ref=a%26b%3Dc%2B%C3%BC&from=1970-01-01T00%3A00%3A00.000Z&format=raw",
    ]);
    expect(Object.fromEntries(headers[0]!)).toEqual({
      authorization: `Bearer ${key}`, "user-agent": "me", "x-request-id": "mine",
    });
  });

  it("has an id that its answer names", async () => {
    expect(requestIdOf(await (await answering(200, jsonType, okJson)).readResult("a"))).toBe("r-1");
    expect(requestIdOf(await (await answering(200, "text/csv", "")).exportResults("a"))).toBe("r-1");
    expect(requestIdOf({})).toBeUndefined();
  });

  it("has an idempotency key that no other has", () => {
    expect(newIdempotencyKey()).not.toBe(newIdempotencyKey());
  });
});

// spec: prism-etag
it("a prism has the ETag of its response", async () => {
  const prism = await serving((request, response) => {
    response.setHeader("ETag", `"e"`);
    const status = request.method === "POST" && request.url === "/v1/prisms" ? 201 : 200;
    answer(response, status, jsonType, JSON.stringify(whole("Prism", {})));
  });
  const calls = [
    prism.createPrism({ slug: "a", fields: [], questions: [] }), prism.readPrism("a"), prism.renamePrism("a", "n"),
    prism.replaceLens("a", { columns: [] }),
    prism.setRetention("a", null), prism.setSearchable("a", false), prism.archivePrism("a"), prism.unarchivePrism("a"),
  ];
  for (const { etag } of await Promise.all(calls)) expect(etag).toBe(`"e"`);
});
