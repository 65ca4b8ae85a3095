import { describe, expect, it } from "vitest";
import { AnswerError, Answers, type Prism, Row } from "../src/index.js";
import { answer, answering, failure, json, jsonType, okJson, resultId, rowJson, serving, whole } from "./serving.js";

describe("answers have the type of their question", () => {
  const answers = new Answers([
    ["topic", { type: "choice", value: "z", probabilities: { z: 0.75, a: 0.25 }, confidence: 0.5 }],
    ["upset", { type: "yes_no", probability: 0 }],
    ["urgency", { type: "scale", level: "low", probabilities: { low: 1, high: 0 } }],
    ["about", { type: "tags", values: ["refund", "vip"], probabilities: { vip: 0.5, late: 0.25, refund: 1 } }],
  ]);
  it("and are read without a cast", () => {
    const { value, confidence, probabilities } = answers.choice("topic");
    expect([value, confidence, Object.entries(probabilities)]).toEqual(["z", 0.5, [["z", 0.75], ["a", 0.25]]]);
    expect([
      answers.yesNo("upset").probability, answers.scale("urgency").level, answers.scale("urgency").probabilities["high"],
    ]).toEqual([0, "low", 0]);
    const { values, probabilities: each } = answers.tags("about");
    expect([values, Object.entries(each)]).toEqual([["refund", "vip"], [["vip", 0.5], ["late", 0.25], ["refund", 1]]]);
  });
  it.each<[string, () => unknown, string]>([
    [
      "an unknown question", () => answers.choice("topik"),
      `there is no question "topik"; there are "topic", "upset", "urgency", "about"`,
    ],
    ["a scale for a choice", () => answers.choice("urgency"), `the question "urgency" has the type scale, not choice`],
    ["a choice for yes or no", () => answers.yesNo("topic"), `the question "topic" has the type choice, not yes_no`],
    ["a yes_no for a scale", () => answers.scale("upset"), `the question "upset" has the type yes_no, not scale`],
    ["a choice for tags", () => answers.tags("topic"), `the question "topic" has the type choice, not tags`],
  ])("which has to fit: %s", (_, read, message) => {
    expect(read).toThrow(AnswerError);
    expect(read).toThrow(message);
  });
});

describe("columns have a kind", () => {
  const row = new Row([
    ["topic", "billing"], ["upset", "unsure"], ["urgency_average", 2.5], ["new", null], ["about", "refund; vip"], ["none", ""],
  ]);
  it("that is read without a cast", () => {
    const read: [
      string, "yes" | "no" | "unsure", number,
    ] = [row.text("topic"), row.yesNo("upset"), row.number("urgency_average")];
    expect(read).toEqual(["billing", "unsure", 2.5]);
    expect([row.tags("about"), row.tags("none"), row.tags("topic")]).toEqual([["refund", "vip"], [], ["billing"]]);
  });
  it.each<[string, () => unknown, string]>([
    [
      "an unknown column", () => row.text("topik"),
      `there is no column "topik"; there are "topic", "upset", "urgency_average", "new", "about", "none"`,
    ],
    ["a number for a text", () => row.text("urgency_average"), `the column "urgency_average" has a number, not a text`],
    ["a choice for yes or no", () => row.yesNo("topic"), `the column "topic" is not that of a yes_no question`],
    ["a choice for a number", () => row.number("topic"), `the column "topic" has a text, not a number`],
    ["a column without a value", () => row.text("new"), `the column "new" is null: the stored answers have no value for it`],
  ])("that has to fit: %s", (_, read, message) => {
    expect(read).toThrow(AnswerError);
    expect(read).toThrow(message);
  });
});

describe("answers and columns keep their order", () => {
  const json = { format: "json" } as const;
  it("of a result", async () => {
    const result = await (await answering(200, jsonType, okJson)).createResult("a", { text: "t" });
    expect([...result.answers.keys()]).toEqual(["z", "a"]);
    expect(JSON.stringify(result)).toBe(okJson);
    const { row, ...told } = await (await answering(200, jsonType, rowJson)).createResult("a", { text: "t" }, json);
    expect([...row]).toEqual([["z", "yes"], ["a", 0.5], ["n", null]]);
    expect(JSON.stringify({ ...told, answers: row })).toBe(rowJson);
  });
  it.each(['"10":"a","2":"b \\"3\\": c","x":1,"1":null', '"__proto__":"a","1" : 2'])("with any names: %s", async (members) => {
    const text = rowJson.replace('"z":"yes","a":0.5,"n":null', members);
    const result = await (await answering(200, jsonType, text)).createResult("a", { text: "t" }, json);
    const names = [...members.matchAll(/(?<=^|,)"(\w+)"/g)].map(([, name]) => name);
    expect([...result.row.keys()]).toEqual(names);
    expect([...result.row.values()]).toEqual(members.startsWith('"10') ? ["a", 'b "3": c', 1, null] : ["a", 2]);
    expect(result.id).toBe(resultId);
  });
  it("of lists and tries, in both forms", async () => {
    const page = (of: string) => `{"data":[${of}],"next_cursor":null}`;
    const { data } = await (await answering(200, jsonType, page(okJson))).listResults();
    expect(data[0]!.answers!.yesNo("z").probability).toBe(0.75);
    const rows = await (await answering(200, jsonType, page(rowJson.replace('"a":0.5', '"7":0.5')))).listResults(json);
    expect([...rows.data[0]!.row!.keys()]).toEqual(["z", "7", "n"]);
    const tried = await (
      await answering(
        200, jsonType,
        `{"status":"ok","took_ms":1,"raw":{"z":{"type":"yes_no","probability":0.5},"a":{"type":"yes_no","probability":1}},`
          + `"json":{"z":"unsure","9":1}}`,
      )
    ).tryDefinition({ definition: { fields: [], questions: [] }, text: "t" });
    expect([...tried.answers.keys(), ...tried.row.keys()]).toEqual(["z", "a", "z", "9"]);
    expect([tried.answers.yesNo("a").probability, tried.row.yesNo("z")]).toEqual([1, "unsure"]);
  });
  it("of both models of an escalation", async () => {
    const [first, second] =
      [{ z: { type: "yes_no", probability: 0.5 } }, null].map((answers) => whole("AnsweredModel", { answers }));
    const escalation = { questions: ["z"], error_code: "timeout", first, second };
    const record = await (await answering(200, jsonType, JSON.stringify(whole("Record", { escalation })))).readRecord("a");
    expect([record.escalation?.first.answers?.yesNo("z").probability, record.escalation?.second.answers]).toEqual([0.5, null]);
  });
  it("and other names stay", async () => {
    const { data } = await (await answering(200, jsonType, `{"data":[{"2024":"1","n":null}],"offset":0}`)).listFileRows("f");
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
      json(response, 200, {
        data: ["a", "b", "c"].slice(begin, end).map((id) => whole("ApiKey", { id })), next_cursor: end < 3 ? String(end) : null,
      });
    });
  const ids = async (list: ReturnType<Prism["listKeys"]>) => {
    const seen: string[] = [];
    for await (const { id } of list) seen.push(id);
    return seen;
  };

  it("are a page when they are awaited", async () => {
    const asked: string[] = [];
    const list = (await listing(asked)).listKeys({ limit: 1 });
    expect(await list).toEqual({ data: [whole("ApiKey", { id: "a" })], next_cursor: "1" });
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
      n++ === 0 ? json(response, 200, { data: [whole("ApiKey", { id: "a" })], next_cursor: "x" })
        : answer(response, 401, jsonType, `{"error":{"code":"unauthorized","message":"no"}}`),
    );
    const seen: string[] = [];
    await failure((async () => { for await (const { id } of prism.listKeys()) seen.push(id); })(), Error);
    expect(seen).toEqual(["a"]);
  });
});
