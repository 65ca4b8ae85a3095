import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, ConnectionError, type Prism, UnavailableError } from "../src/index.js";
import { Pauses } from "../src/pause.js";
import { dryRuns, everything } from "./everything.js";
import {
  answer, calling, cut, failedJson, failure, internalJson, jsonType, okJson, serving, unavailableJson,
} from "./serving.js";

type Row = [name: string, call: (prism: Prism) => PromiseLike<unknown>];

const named = (name: string): Row => [name, everything[name]!];
const unkeyed: Row = ["a create that refuses a key", (p) => p.createResult("a", { text: "t", idempotency_key: null })];

// What may not be made twice, and what may.
const once_: Row[] = [
  unkeyed,
  ["a run that refuses a key", (p) => p.createRun("a", { file_id: "f", fields: {}, idempotency_key: null })],
  ...[
    "retryResult", "createPrism", "createVersion", "createCalibration", "createKey", "deleteResults", "retryResults",
    "createFile", "retryRun", "tryDefinition", "checkModel", "addMember", "linkMember", "createView", "createComment",
    "assignResults", "createWebhook", "testWebhook", "rotateWebhook", "resendDelivery",
  ].map(named),
];
const twice: Row[] = [
  ["a create whose key the client chooses", (p) => p.createResult("a", { text: "t" })],
  ...Object.entries(dryRuns).map(([name, call]): Row => [`a dry run of ${name}`, call]),
  ["a run whose key the client chooses", (p) => p.createRun("a", { file_id: "f", fields: {} })],
  ...[
    "createResult", "readResult", "listResults", "exportResults", "readPrism", "listPrisms", "readVersion", "replaceLens",
    "archivePrism",
    "unarchivePrism", "listKeys", "revokeKey", "listAudit", "listChanges", "listVersions", "renamePrism", "listModels",
    "readRecord",
    "readUsage", "deleteResult",
    "setRetention", "setSearchable", "putPart", "completeFile", "listFiles", "readFile", "listFileRows", "deleteFile",
    "createRun", "listRuns",
    "readRun", "pauseRun",
    "resumeRun", "cancelRun", "listMembers", "changeMember", "removeMember", "previewLens", "setRunLimits", "listRunRows",
    "followRun",
    "putLabels", "readLabels", "addLabels", "listLabels", "listLabelQueue", "listCalibrations", "readCalibration",
    "pinCalibrations",
    "readPinnedCalibrations", "readQuality", "readThresholds", "compareVersions", "readDrift", "readDistribution", "setDrift",
  ].map(named),
];
// The methods that are generated are of reads.
twice.push(...Object.keys(everything).filter((name) => ![...once_, ...twice].some(([known]) => known === name)).map(named));
const all = [...once_, ...twice];

it("every operation is either to be repeated or not", () => {
  expect(all.length).toBe(Object.keys(everything).length + Object.keys(dryRuns).length + 4);
});

const page = (status: number) => (response: ServerResponse) => answer(response, status, "text/html", "<h1>proxy</h1>");
const document = (status: number, text: string) => (response: ServerResponse) => answer(response, status, jsonType, text);

// spec: idempotency-key, error-service-unavailable, failed-result-is-not-an-error
describe.each<[name: string, calls: Row[], first: (response: ServerResponse) => void, repeated: boolean]>([
  ["Prism's own 503 took nothing", all, document(503, unavailableJson), true],
  ["a lost answer may have been taken", once_, (response) => void cut(response), false],
  ["a lost answer of what may happen twice", twice, (response) => void cut(response), true],
  ["a 500 may have been taken", once_, document(500, internalJson), false],
  ["a 500 of what may happen twice", twice, document(500, internalJson), true],
  ["a proxy's 429 may have been taken", once_, page(429), false],
  ["a proxy's 429 of what may happen twice", twice, page(429), true],
  ["a proxy's 503 may have been taken", once_, page(503), false],
  ["a proxy's 503 in JSON may have been taken", once_, document(503, `{"message":"no healthy upstream"}`), false],
  ["another server's 503 in Prism's shape", once_, document(
    503, `{"statusCode":503,"error":"Service Unavailable","message":"queue full"}`,
  ), false],
  ["a proxy's 503 of what may happen twice", twice, page(503), true],
  ["a proxy's 502 is no failed result", once_, page(502), false],
  ["a proxy's 504 of what may happen twice", twice, page(504), true],
  ["a failed result is an answer", [unkeyed, named("createResult"), named("retryResult")], document(502, failedJson), false],
  ["a conflict is an answer", all, document(409, `{"error":{"code":"conflict","message":"no"}}`), false],
  ["a redirect is an answer", all, page(302), false],
])("%s", (_, calls, first, repeated) => {
  it.each(calls)("%s", async (_, call) => {
    const bodies: string[] = [];
    const prism = await serving((request, response) => {
      bodies.push(request.body.toString());
      if (bodies.length === 1) first(response);
      else answer(response, 400, jsonType, `{"error":{"code":"bad_request","message":"the second"}}`);
    });
    const error = await failure(call(prism), Error);
    expect(error instanceof ApiError && error.code === "bad_request", String(error)).toBe(repeated);
    expect(bodies.length).toBe(repeated ? 2 : 1);
    // The idempotency key too is that of the first attempt.
    expect(bodies.at(-1)).toBe(bodies[0]);
  });
});

it("keys that the client chooses differ from call to call, and a call that refuses one sends none", async () => {
  const keys: unknown[] = [];
  const prism = await serving((request, response) => {
    keys.push((JSON.parse(request.body.toString()) as { idempotency_key?: string }).idempotency_key);
    answer(response, 200, jsonType, okJson);
  });
  for (const idempotency_key of [undefined, undefined, "mine", null]) {
    await prism.createResult("a", { text: "t", idempotency_key });
  }
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(keys[1]).toMatch(/^[0-9a-f]{32}$/);
  expect(keys[1]).not.toBe(keys[0]);
  expect(keys.slice(2)).toEqual(["mine", undefined]);
});

it("an error has the key of its call", async () => {
  const sent: string[] = [];
  const prism = await serving((request, response) => {
    sent.push((JSON.parse(request.body.toString()) as { idempotency_key: string }).idempotency_key);
    void cut(response);
  });
  const lost = await failure(prism.createResult("a", { text: "t" }), ConnectionError);
  expect(new Set(sent)).toEqual(new Set([lost.idempotencyKey]));
});

it("a call that was never sent is repeated", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  let attempts = 0;
  const prism = calling(`http://127.0.0.1:${port}`, {
    fetch: (...request) => {
      attempts++;
      return fetch(...request);
    },
  });
  const lost = await failure(unkeyed[1](prism), ConnectionError);
  expect([lost.sent, attempts]).toEqual([false, 4]);
  expect(lost.message).toContain("ECONNREFUSED");
});

it.each([
  ["by default", {}, {}, 4],
  ["of a client", { attempts: 2 }, {}, 2],
  ["of a call", { attempts: 2 }, { attempts: 3 }, 3],
])("attempts are bounded %s", async (_, config, options, want) => {
  let n = 0;
  const prism = await serving((_, response) => {
    n++;
    answer(response, 503, jsonType, unavailableJson);
  }, config);
  await failure(prism.readResult("a", options), UnavailableError);
  expect(n).toBe(want);
});

// spec: retry-after-of-a-503
it.each([["7", 7], ["", undefined], ["-1", undefined], ["soon", undefined], ["99999999999", undefined]])(
  "an error tells when to try again: %j",
  async (header, want) => {
    const prism = await serving((_, response) => {
      response.setHeader("Retry-After", header);
      answer(response, 503, jsonType, unavailableJson);
    });
    expect((await failure(prism.readResult("a", { attempts: 1 }), UnavailableError)).retryAfter).toBe(want);
  },
);

describe("pauses", () => {
  const pauses = new Pauses(200, 10_000);
  const unbounded = { end: Infinity };
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  async function timed(wait: Promise<boolean>): Promise<[boolean, number]> {
    const began = performance.now();
    const ended = wait.then((waited): [boolean, number] => [waited, performance.now() - began]);
    await vi.runAllTimersAsync();
    return ended;
  }

  it.each([[1, 200], [2, 400], [3, 800], [60, 10_000]])("after attempt %i, up to %i ms", async (n, most) => {
    const [waited, took] = await timed(pauses.wait(n, 0, unbounded));
    expect(waited).toBe(true);
    expect(took).toBeGreaterThanOrEqual(Math.floor(most / 2));
    expect(took).toBeLessThanOrEqual(most + 1);
  });
  it("of what the server asked for", async () => {
    const [waited, took] = await timed(pauses.wait(1, 3, unbounded));
    expect(waited).toBe(true);
    expect(took).toBeGreaterThanOrEqual(3000);
    expect(took).toBeLessThanOrEqual(3101);
  });
  it("none of more than a minute", async () => {
    expect(await timed(pauses.wait(1, 61, unbounded))).toEqual([false, 0]);
  });
  it("none that the end of the call would cut", async () => {
    expect(await timed(pauses.wait(1, 0, { end: performance.now() + 50 }))).toEqual([false, 0]);
  });
  it("until the signal is aborted", async () => {
    const leave = new AbortController();
    setTimeout(() => leave.abort(), 1);
    expect(await timed(pauses.wait(1, 0, { signal: leave.signal, end: Infinity }))).toEqual([false, 1]);
  });
});
