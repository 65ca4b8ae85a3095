import { describe, expect, it } from "vitest";
import { AnswerError, Answers, type Prism, RawAnswers } from "../src/index.js";
import { answer, answering, failure, json, jsonType, okJson, resultId, serving } from "./serving.js";

const answers = new Answers([["topic", "billing"], ["upset", "unsure"], ["urgency", "high"], ["urgency_average", 2.5], ["new", null]]);

describe("answers have a kind", () => {
  it("that is read without a cast", () => {
    const read: [string, "yes" | "no" | "unsure", string, number] = [
      answers.choice("topic"), answers.yesNo("upset"), answers.scale("urgency"), answers.number("urgency_average"),
    ];
    expect(read).toEqual(["billing", "unsure", "high", 2.5]);
  });
  it.each<[string, () => unknown, string]>([
    ["an unknown column", () => answers.choice("topik"), `there is no column "topik"; there are "topic", "upset", "urgency", "urgency_average", "new"`],
    ["a number for a choice", () => answers.choice("urgency_average"), `the column "urgency_average" has a number, not an answer`],
    ["a choice for yes or no", () => answers.yesNo("topic"), `the column "topic" is not that of a yes_no question`],
    ["a choice for a number", () => answers.number("topic"), `the column "topic" has a text, not a number`],
    ["a column without an answer", () => answers.scale("new"), `the column "new" is null: the version that answered lacks its question`],
  ])("that has to fit: %s", (_, read, message) => {
    expect(read).toThrow(AnswerError);
    expect(read).toThrow(message);
  });

  const raw = new RawAnswers([
    ["topic", { type: "choice", value: "z", probabilities: { z: 0.75, a: 0.25 }, confidence: 0.5 }],
    ["upset", { type: "yes_no", probability: 0 }],
    ["urgency", { type: "scale", level: "low", probabilities: { low: 1, high: 0 } }],
  ]);
  it("also as they are stored", () => {
    expect([raw.choice("topic").probabilities["z"], raw.yesNo("upset").probability, raw.scale("urgency").level]).toEqual([0.75, 0, "low"]);
    expect(() => raw.scale("topic")).toThrow(`the question "topic" has the type choice, not scale`);
    expect(() => raw.choice("x")).toThrow(`there is no question "x"`);
  });
});

describe("answers keep their order", () => {
  it("of a result", async () => {
    const result = await (await answering(200, jsonType, okJson)).createResult("a", { text: "t" });
    expect([...result.answers]).toEqual([["z", "yes"], ["a", 0.5], ["n", null]]);
    expect(JSON.stringify(result)).toBe(okJson);
  });
  it.each(['"10":"a","2":"b \\"3\\": c","x":1,"1":null', '"__proto__":"a","1" : 2'])("with any names: %s", async (members) => {
    const text = okJson.replace('"z":"yes","a":0.5,"n":null', members);
    const result = await (await answering(200, jsonType, text)).createResult("a", { text: "t" });
    const names = [...members.matchAll(/(?<=^|,)"(\w+)"/g)].map(([, name]) => name);
    expect([...result.answers.keys()]).toEqual(names);
    expect([...result.answers.values()]).toEqual(members.startsWith('"10') ? ["a", 'b "3": c', 1, null] : ["a", 2]);
    expect(result.id).toBe(resultId);
  });
  it("of lists and tries, in both forms", async () => {
    const page = `{"data":[${okJson.replace('"a":0.5', '"7":0.5')}],"next_cursor":null}`;
    const { data } = await (await answering(200, jsonType, page)).listResults();
    expect([...data[0]!.answers!.keys()]).toEqual(["z", "7", "n"]);
    const tried = await (
      await answering(200, jsonType, `{"status":"ok","raw":{"z":{"type":"yes_no","probability":0.5},"a":{"type":"yes_no","probability":1}},"json":{"z":"unsure","9":1}}`)
    ).tryDefinition({ definition: { fields: [], questions: [] }, text: "t" });
    expect([...tried.raw.keys(), ...tried.json.keys()]).toEqual(["z", "a", "z", "9"]);
    expect([tried.raw.yesNo("a").probability, tried.json.yesNo("z")]).toEqual([1, "unsure"]);
  });
  it("and other names stay", async () => {
    const { data } = await (await answering(200, jsonType, `{"data":[{"2024":"1","n":null}]}`)).listFileRows("f");
    expect(data).toEqual([{ "2024": "1", n: null }]);
  });
});

describe("lists", () => {
  // Three items on pages of the size that is asked for.
  const listing = (asked: string[]) =>
    serving((request, response) => {
      asked.push(request.at.search);
      const begin = Number(request.at.searchParams.get("cursor") ?? 0);
      const end = begin + Math.min(Number(request.at.searchParams.get("limit") ?? 50), 2);
      json(response, 200, { data: ["a", "b", "c"].slice(begin, end).map((id) => ({ id })), next_cursor: end < 3 ? String(end) : null });
    });
  const ids = async (list: ReturnType<Prism["listKeys"]>) => {
    const seen: string[] = [];
    for await (const { id } of list) seen.push(id);
    return seen;
  };

  it("are a page when they are awaited", async () => {
    const asked: string[] = [];
    const list = (await listing(asked)).listKeys({ limit: 1 });
    expect(await list).toEqual({ data: [{ id: "a" }], next_cursor: "1" });
    expect((await list).next_cursor).toBe("1");
    expect(asked).toEqual(["?limit=1"]);
  });
  it("are every item when they are iterated", async () => {
    const asked: string[] = [];
    expect(await ids((await listing(asked)).listKeys({ limit: 2 }))).toEqual(["a", "b", "c"]);
    expect(asked).toEqual(["?limit=2", "?limit=2&cursor=2"]);
  });
  it("begin where the selection says", async () => {
    expect(await ids((await listing([])).listKeys({ cursor: "1" }))).toEqual(["b", "c"]);
  });
  it("ask for large pages by themselves", async () => {
    const asked: string[] = [];
    await ids((await listing(asked)).listKeys());
    expect(asked[1]).toContain("limit=100");
  });
  it("read no page that nobody needs", async () => {
    const asked: string[] = [];
    for await (const { id } of (await listing(asked)).listKeys({ limit: 2 })) if (id === "a") break;
    expect(asked).toHaveLength(1);
  });
  it("end with the error of a page", async () => {
    let n = 0;
    const prism = await serving((_, response) =>
      n++ === 0 ? json(response, 200, { data: [{ id: "a" }], next_cursor: "x" }) : answer(response, 401, jsonType, `{"error":{"code":"unauthorized","message":"no"}}`),
    );
    const seen: string[] = [];
    await failure((async () => { for await (const { id } of prism.listKeys()) seen.push(id); })(), Error);
    expect(seen).toEqual(["a"]);
  });
});
