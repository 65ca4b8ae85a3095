import { describe, expect, it } from "vitest";
import { ApiError, type Prism } from "../src/index.js";
import { lacking, without } from "../src/lacking.js";
import { responses } from "../src/shapes.js";
import { dryRuns, everything } from "./everything.js";
import { answering, failure, jsonType, okJson, rowJson, serving, whole } from "./serving.js";

/** The status of success of an operation that stores something. */
const statusOf = (operation: string) => [202, 201].find((status) => `${operation} ${status}` in responses) ?? 200;

describe("an answer of any server is none of Prism", () => {
  const all = [
    ...Object.entries(everything)
      .map(([name, call]): [string, number, (prism: Prism) => PromiseLike<unknown>] => [name, statusOf(name), call]),
    ...Object.entries(dryRuns)
      .map(([name, call]): [string, number, (prism: Prism) => PromiseLike<unknown>] => [`a dry run of ${name}`, 200, call]),
  ];
  it.each(all)("%s", async (_, status, call) => {
    const error = await failure(call(await answering(status, jsonType, "{}")), ApiError);
    expect([error.code, error.status]).toEqual(["unexpected", status]);
    expect(error.text).toMatch(/^http:\/\/127\.0\.0\.1:\d+ sent a response/);
  });
});

it("an event of any server is none of Prism", async () => {
  const prism = await serving((_, response) => void response.end("data: {}\n\n"));
  expect((await failure(prism.followRun("r").next(), ApiError)).text).toContain(
    "sent a response without id, prism, version, file_id, status and ",
  );
});

describe("what is lacking is named", () => {
  const prism = (members: object) => whole<object>("Prism", members);
  const result = (answers: object) => ({ ...(JSON.parse(okJson) as object), answers });
  const both = "Result|RawResult";
  it.each<[string, string, unknown, string[]]>([
    ["nothing", "Prism", prism({}), []],
    ["members that only newer Prisms have", "Prism", prism({ newer: [{}] }), []],
    ["a member", "Prism", prism({ slug: undefined }), ["slug"]],
    ["a null where there is none", "Prism", prism({ latest_version: null }), ["latest_version"]],
    ["an object", "Prism", prism({ lens: null }), ["lens"]],
    ["a member of an object", "Prism", prism({ version: whole("Version", { questions: undefined }) }), ["version.questions"]],
    ["an object where a list is", "PrismPage", { data: {} }, ["data"]],
    ["a list", "PrismPage", {}, ["data"]],
    ["a member of an item", "PrismPage", { data: [prism({}), prism({ slug: null })] }, ["data.1.slug"]],
    ["a member of a map", "LabelledResult", {
      result_id: "a", version: 1, labels: { q: {} },
    }, ["labels.q.value", "labels.q.origin", "labels.q.key_id", "labels.q.labelled_at"]],
    ["the format raw", both, JSON.parse(okJson), []],
    ["the format json", both, JSON.parse(rowJson), []],
    ["members of answers", both, result({ c: { type: "choice" }, y: { type: "yes_no" } }), [
      "answers.c.value", "answers.c.probabilities", "answers.c.confidence", "answers.y.probability",
    ]],
    ["members of answers in their order", both, result(new Map([["1", { type: "yes_no" }]])), ["answers.1.probability"]],
    ["the type of an answer", both, result({ c: {} }), ["answers.c.type"]],
    ["an answer of an unknown type", both, result({ c: { type: "newer" } }), []],
    ["no object", "Prism", "a", [""]],
  ])("%s", (_, of, value, want) => expect(lacking(value, of)).toEqual(want));

  it("but not all of it", () => {
    expect(without(["a", "b"])).toBe("a response without a, b");
    expect(without([..."abcdefg"])).toBe("a response without a, b, c, d, e and 2 more");
  });
});

it("rows of another type are no rows of Prism", async () => {
  const prism = await answering(200, "text/html", "<h1>Sign in</h1>");
  expect((await failure(prism.exportResults("a"), ApiError)).text).toMatch(/ sent a response body that is not text\/csv$/);
  expect((await failure(prism.readResult("a", { format: "jsonl" }), ApiError)).text).toMatch(
    / sent a response body that is not application\/jsonl$/,
  );
});
