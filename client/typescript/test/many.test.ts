import { expect, it } from "vitest";
import {
  ApiError, ConnectionError, FailedError, type Format, type NewResult, type Outcome, UnavailableError,
} from "../src/index.js";
import { answer, failedJson, failure, jsonType, okJson, rowJson, serving, unavailableJson } from "./serving.js";

async function all<T, F extends Format>(outcomes: AsyncIterable<Outcome<T, F>>): Promise<Outcome<T, F>[]> {
  const seen: Outcome<T, F>[] = [];
  for await (const outcome of outcomes) seen.push(outcome);
  return seen.sort((a, b) => a.index - b.index);
}

const texts = (count: number): NewResult[] => Array.from({ length: count }, (_, i) => ({ text: `text ${i}`, ref: String(i) }));

// A server that answers when so many calls are there, and knows the bodies of all.
async function gathering(atOnce: number) {
  const bodies: { text: string; idempotency_key: string }[] = [];
  let waiting: (() => void)[] = [];
  let most = 0;
  const prism = await serving(async (request, response) => {
    bodies.push(JSON.parse(request.body.toString()) as (typeof bodies)[0]);
    const all = new Promise<void>((go) => waiting.push(go));
    most = Math.max(most, waiting.length);
    if (waiting.length === atOnce) {
      for (const go of waiting) go();
      waiting = [];
    }
    await all;
    answer(response, 200, jsonType, okJson);
  });
  return { prism, bodies, most: () => most };
}

it("many texts are answered, as many at once as is said, each with its key", async () => {
  const { prism, bodies, most } = await gathering(3);
  const items = [...texts(5), { text: "keyed", idempotency_key: "mine" }];
  const outcomes = await all(prism.createResults("a", items, { concurrency: 3 }));
  expect(outcomes.map(({ item }) => item)).toEqual(items);
  expect(outcomes.every(({ result }) => result?.answers.yesNo("z").probability === 0.75)).toBe(true);
  expect(new Set(bodies.map((body) => body.idempotency_key)).size).toBe(6);
  expect(bodies.find((body) => body.text === "keyed")?.idempotency_key).toBe("mine");
  expect(most()).toBe(3);
});

it("a job gives the same items the same keys, in any order", async () => {
  const { prism, bodies } = await gathering(1);
  const keys = async (job: string, ...items: NewResult[]) => {
    bodies.length = 0;
    await all(prism.createResults("a", items, { job, concurrency: 1 }));
    return bodies.map((body) => body.idempotency_key);
  };
  const [one, two, three] = await keys("May", { text: "a" }, { text: "a", ref: "1" }, { fields: { x: "1", y: "2" } });
  expect(new Set([one, two, three]).size).toBe(3);
  expect(await keys("May", { fields: { y: "2", x: "1" } }, { ref: "1", text: "a" }, { text: "a" })).toEqual([three, two, one]);
  expect(await keys("June", { text: "a" })).not.toEqual([one]);
});

// A job that began with another version of the client, or with the Go client, whose test has the same keys, goes on with the
// next.
it.each<[NewResult, string]>([
  [
    { fields: { b: "2", a: "1" }, text: "t", version: 3, ref: "r", context: "c" } as unknown as NewResult,
    "c4bea5d5160516a14c70895b6d4686b0fcd3ab2a7b6712f54ac27d4e8abab309",
  ],
  [
    { text: "<é & \u2028\u2029>\b\f\u0001\u007f🙂\n", context: null } as unknown as NewResult,
    "904ed2e954b4c9eee6d31df2360cf0a63c912860ddcdaae0ef486477bb195df6",
  ],
])("the keys of a job stay the same: %#", async (item, key) => {
  const bodies: { idempotency_key: string }[] = [];
  const prism = await serving((request, response) => {
    bodies.push(JSON.parse(request.body.toString()) as (typeof bodies)[0]);
    answer(response, 200, jsonType, okJson);
  });
  await all(prism.createResults("p", [item], { job: "j" }));
  expect(bodies[0]?.idempotency_key).toBe(key);
});

it("outcomes have the format that is asked for", async () => {
  const prism = await serving((request, response) =>
    answer(response, 200, jsonType, request.at.search === "?format=json" ? rowJson : okJson),
  );
  const outcomes =
    await Promise.all([all(prism.createResults("a", texts(1))), all(prism.createResults("a", texts(1), { format: "json" }))]);
  expect([outcomes[0]![0]?.result?.answers.yesNo("z").probability, outcomes[1]![0]?.result?.row.yesNo("z")]).toEqual([
    0.75, "yes",
  ]);
});

it("texts are taken as they are needed", async () => {
  let taken = 0;
  let returned = false;
  async function* endless(): AsyncGenerator<NewResult> {
    try {
      for (;;) yield { text: String(taken++) };
    } finally {
      returned = true;
    }
  }
  const { prism } = await gathering(1);
  for await (const { index } of prism.createResults("a", endless(), { concurrency: 2 })) if (index >= 4) break;
  expect(taken).toBeLessThanOrEqual(8);
  expect(returned).toBe(true);
});

it("a text without an answer has its error, and the others go on", async () => {
  const prism = await serving((request, response) =>
    request.body.includes("text 1") ? answer(response, 502, jsonType, failedJson) : answer(response, 200, jsonType, okJson),
  );
  const outcomes = await all(prism.createResults("a", texts(3)));
  expect(outcomes.map(({ error }) => error?.constructor)).toEqual([undefined, FailedError, undefined]);
});

it("an account over its limit waits longer than for one call", async () => {
  let n = 0;
  const prism = await serving((_, response) =>
    (++n < 10 ? answer(response, 503, jsonType, unavailableJson) : answer(response, 200, jsonType, okJson)),
  );
  expect((await all(prism.createResults("a", texts(1))))[0]!.result).toBeDefined();
  n = -100;
  expect((await all(prism.createResults("a", texts(1), { attempts: 2 })))[0]!.error).toBeInstanceOf(UnavailableError);
});

it.each([401, 404])("what every text would be refused for ends all: %i", async (status) => {
  let n = 0;
  const code = status === 401 ? "unauthorized" : "not_found";
  const prism = await serving((_, response) => {
    n++;
    answer(response, status, jsonType, JSON.stringify({ error: { code, message: "no" } }));
  });
  expect((await failure(all(prism.createResults("a", texts(100), { concurrency: 2 })), ApiError)).status).toBe(status);
  expect(n).toBeLessThanOrEqual(2);
});

it("a signal ends all", async () => {
  const leave = new AbortController();
  const prism = await serving(() => leave.abort());
  expect((await failure(all(prism.createResults("a", texts(9), { signal: leave.signal })), ConnectionError)).aborted).toBe(true);
});

it("a concurrency that is none is refused", async () => {
  const { prism } = await gathering(1);
  await failure(all(prism.createResults("a", texts(1), { concurrency: 0 })), TypeError);
});
