import { describe, expect, inject, it } from "vitest";
import {
  AnswerError, ApiError, FailedError, isSettled, type NewPrism, Prism, requestIdOf, ValidationError,
} from "../src/index.js";
import { refusing } from "./prism.js";
import { failure } from "./serving.js";

const prism = new Prism({ url: inject("url"), key: inject("key") });
const dryRun = { dryRun: true } as const;
const unknownId = "00000000-0000-7000-8000-000000000000";

// A prism with a question of each type.
const triage = (slug: string, model?: string): NewPrism => ({
  slug,
  name: "Triage",
  model,
  instructions: "A message from a customer.",
  fields: [{ key: "message", label: "Message" }],
  questions: [
    {
      key: "topic", type: "choice", text: "What is it about?", insufficient_information: true,
      options: [{ key: "delivery", label: "Delivery", description: "where it is" }, { key: "billing", label: "Billing" }],
    },
    { key: "upset", type: "yes_no", text: "Is the customer upset?" },
    { key: "urgency", type: "scale", text: "How soon?", levels: [{ key: "low", label: "Low" }, { key: "high", label: "High" }] },
  ],
});

// spec: dry-run
it("a prism is checked, created, changed and archived", async () => {
  expect((await prism.createPrism(triage("life"), dryRun)).slug).toBe("life");
  const made = await prism.createPrism(triage("life")); // a dry run has stored nothing
  expect((await failure(prism.createPrism(triage("life"), dryRun), ApiError)).code).toBe("conflict");
  expect(await prism.readPrism(made.id)).toEqual(made);
  expect((await prism.createVersion("life", triage("life"), dryRun)).version).toBe(2);
  const lens = { columns: made.lens.columns.slice(0, 1) };
  expect((await prism.replaceLens("life", lens, dryRun)).lens.columns).toHaveLength(1);

  const changed = await prism.replaceLens("life", lens, { ifMatch: made.etag });
  expect(changed.etag).not.toBe(made.etag);
  expect((await failure(prism.replaceLens("life", lens, { ifMatch: made.etag }), ApiError)).code).toBe("conflict");
  expect((await prism.createVersion("life", { ...triage("life"), if_latest: 1 }, { ifMatch: changed.etag })).version).toBe(2);
  expect((await failure(prism.createVersion("life", { ...triage("life"), if_latest: 1 }), ApiError)).code).toBe("conflict");
  const versions: number[] = [];
  for await (const { version } of prism.listVersions("life", { limit: 1 })) versions.push(version);
  expect(versions).toEqual([2, 1]);
  expect((await prism.readVersion("life", 1)).questions).toEqual(made.version.questions);

  expect((await prism.renamePrism("life", "Life")).name).toBe("Life");
  expect((await prism.setRetention("life", 30)).retention_days).toBe(30);
  expect((await prism.setSearchable("life", false)).searchable).toBe(false);
  expect((await prism.archivePrism("life")).archived_at).not.toBeNull();
  const archived = await prism.listPrisms({ archived: "true" });
  expect(archived.data.map(({ slug }) => slug)).toEqual(["life"]);
  expect((await prism.unarchivePrism("life")).archived_at).toBeNull();
});

it("a result is created once, read in every format, listed, exported and deleted", async () => {
  await prism.createPrism(triage("results"));
  const key = "typescript-1";
  const made = await prism.createResult("results", {
    fields: { message: "Where is my parcel?" }, ref: "r-1", context: "It snows.", version: 1, idempotency_key: key,
  });
  expect([made.ref, made.status, [...made.answers.keys()]]).toEqual(["r-1", "ok", ["topic", "upset", "urgency"]]);
  const topic = made.answers.choice("topic");
  expect([topic.value, Object.keys(topic.probabilities)]).toEqual([
    "delivery", ["delivery", "billing", "insufficient_information"],
  ]);
  expect(topic.confidence).toBeGreaterThan(0);
  expect(Object.keys(made.answers.scale("urgency").probabilities)).toEqual(["low", "high"]);
  expect(() => made.answers.choice("topik")).toThrow(AnswerError);
  expect(requestIdOf(made)).toMatch(/./);

  expect(await prism.createResult("results", { text: "another", idempotency_key: key })).toEqual(made);
  expect(await prism.readResult(made.id)).toEqual(made);
  const { row } = await prism.readResult(made.id, { format: "json" });
  if (!row) throw new Error("it failed");
  expect([...row.keys()]).toEqual(["topic", "topic_probability", "upset", "upset_probability", "urgency", "urgency_average"]);
  expect([row.text("topic"), row.number("topic_probability")]).toEqual(["delivery", topic.probabilities["delivery"]]);
  expect(["yes", "no", "unsure"]).toContain(row.yesNo("upset"));
  expect(row.number("upset_probability")).toBe(made.answers.yesNo("upset").probability);
  for (const format of ["csv", "tsv", "jsonl"] as const) {
    const text = await prism.readResult(made.id, { format });
    expect(text).toContain(made.id);
    expect(await prism.createResult("results", { text: "another", idempotency_key: key }, { format })).toBe(text);
  }

  const other = await prism.createResult("results", { text: "I want my money back." }, { requestId: "typescript-request" });
  expect(requestIdOf(other)).toBe("typescript-request");
  const record = await prism.readRecord(other.id);
  expect([record.fields, record.model?.name]).toEqual([{ message: "I want my money back." }, "offline"]);
  const listed: string[] = [];
  for await (const { id, answers } of prism.listResults({ prism: "results", limit: 1 })) {
    listed.push(id);
    expect(answers?.has("topic")).toBe(true);
  }
  expect(listed).toEqual([other.id, made.id]);
  const { data } = await prism.listResults({ prism: "results", ref: "r-1", format: "json", from: new Date(made.created_at) });
  expect(data[0]?.row).toEqual(row);

  const exported: unknown[] = [];
  for await (const row of (await prism.exportResults("results", { format: "jsonl" })).rows()) exported.push(row["result_id"]);
  expect(exported).toEqual([made.id, other.id]);
  const lines = (await (await prism.exportResults("results", { status: "ok", after: made.id })).text()).split("\r\n");
  expect([lines[0]?.startsWith("result_id,"), lines[1]?.startsWith(other.id), lines.length]).toEqual([true, true, 3]);

  const preview = await prism.previewLens("results", { columns: [{ name: "7", question: "topic", show: "answer" }] }, [made.id]);
  expect(preview.data[0]?.result.row?.text("7")).toBe("delivery");

  expect(await prism.deleteResults("results", { ref: "r-1" }, dryRun)).toEqual({ deleting: 1 });
  expect(await prism.deleteResults("results", { ref: "r-1", before: new Date(0) })).toEqual({ deleting: 0 });
  await prism.deleteResult(made.id);
  expect((await failure(prism.readResult(made.id), ApiError)).code).toBe("not_found");
});

it("a failed result is saved and can be retried", async () => {
  await prism.createPrism(triage("refused", refusing));
  const failed = await failure(prism.createResult("refused", { text: "Hello" }), FailedError);
  expect(failed.result).toMatchObject({ prism: "refused", status: "failed", answers: null });
  expect(failed.requestId).toMatch(/./);
  expect(await prism.readResult(failed.result!.id)).toEqual(failed.result);
  const again = await failure(prism.retryResult(failed.result!.id, { format: "json" }), FailedError);
  expect(again.result!.id).not.toBe(failed.result!.id);
  expect((await failure(prism.retryResult(failed.result!.id), ApiError)).code).toBe("conflict");
  const row = await failure(prism.retryResult(again.result!.id, { format: "csv" }), FailedError);
  expect([row.result, row.body.startsWith("result_id,")]).toEqual([undefined, true]);
  expect(await prism.retryResults({ prism: "refused" }, dryRun)).toEqual({ retrying: 1 });
  expect((await failure(prism.retryResults({ prism: "refused", expect: 7 }), ApiError)).code).toBe("conflict");
  const { model: _, slug: __, name: ___, ...definition } = triage("");
  const tried =
    await failure(prism.tryDefinition({ definition: { ...definition, model: refusing }, text: "Hello" }), FailedError);
  expect(tried.try?.error_code).toBe("parameter");
  const answered = await prism.tryDefinition({ definition, text: "Where is my parcel?" });
  expect([answered.answers.choice("topic").value, answered.row.text("topic")]).toEqual(["delivery", "delivery"]);
});

// spec: escalation
it("a doubtful answer has a second model", async () => {
  await prism.createPrism({ ...triage("doubtful"), escalate: { to: refusing, below: 1, questions: ["upset"] } });
  const made = await prism.createResult("doubtful", { text: "Hello" });
  const { escalation } = await prism.readRecord(made.id);
  expect([escalation?.questions, escalation?.error_code, escalation?.second.answers]).toEqual([["upset"], "parameter", null]);
  expect(escalation?.first.answers?.yesNo("upset")).toEqual(made.answers.yesNo("upset"));
});

it("results are labelled, and labels measure versions", async () => {
  await prism.createPrism(triage("labelled"));
  const texts = Array.from({ length: 36 }, (_, i) => ({ text: `Where is parcel ${i}?`, ref: `p-${i}` }));
  for await (const { error } of prism.createResults("labelled", texts)) if (error) throw error;
  const page = await prism.listLabelQueue("labelled", { question: "topic", limit: 2 });
  expect([page.sample, page.data.length, page.data[0]!.answers.choice("topic").value]).toEqual(["random", 2, "delivery"]);
  const [first] = page.data;
  const put = await prism.putLabels(
    first!.result_id, { labels: { topic: "Billing", upset: false }, sample: page.sample, annotator: "Ada" },
  );
  expect(put.labels["topic"]).toMatchObject({ value: "billing", sample: "random", annotator: "Ada", origin: "call" });
  expect((await prism.putLabels(first!.result_id, { labels: { topic: null } })).labels["topic"]).toBeUndefined();
  expect((await prism.readLabels(first!.result_id)).labels["upset"]!.value).toBe(false);
  const labels = texts.map(({ ref }) => ({ ref, question: "topic", value: "delivery" }));
  const wrong = [{ ref: "none", question: "topic", value: "delivery" }, { ref: "p-0", question: "topic", value: "lost" }];
  const added = await prism.addLabels("labelled", { labels: [...labels, ...wrong], sample: "random" });
  expect([added.labelled, added.not_found, added.invalid.map(({ index }) => index)]).toEqual([36, [36], [37]]);
  const labelled: string[] = [];
  for await (const { ref } of prism.listLabels("labelled", { question: "topic", limit: 20 })) labelled.push(ref!);
  expect(labelled.sort()).toEqual(texts.map(({ ref }) => ref).sort());
  const left: string[] = [];
  for await (const { result_id } of prism.listLabelQueue("labelled", { question: "upset", order: "uncertain", limit: 20 })) {
    left.push(result_id);
  }
  expect([left.length, left.includes(first!.result_id)]).toEqual([35, false]);

  const [topic, upset] = (await prism.readQuality("labelled", 1)).questions;
  expect([topic!.labels, topic!.counted, topic!.accuracy!.value, topic!.confusion!.values[0]]).toEqual([36, 36, 1, "delivery"]);
  expect([upset!.labels, upset!.accuracy, upset!.calibration]).toEqual([1, null, null]);
  const { version } = await prism.createVersion("labelled", triage("labelled"));
  const few = [
    prism.readQuality("labelled", 1, { question: "upset", calibrated: true }),
    prism.createCalibration("labelled", 1, { question: "topic", method: "auto" }),
    prism.readThresholds("labelled", 1, { question: "upset", false_yes: 5, false_no: 1, unsure: 0.5 }),
    prism.compareVersions("labelled", { a: 1, b: version, question: "topic" }),
  ];
  for (const { code, text } of await Promise.all(few.map((call) => failure(call, ApiError)))) {
    expect([code, text]).toEqual(["conflict", expect.stringContaining("labels")]);
  }
  expect((await prism.listCalibrations("labelled", 1)).data).toEqual([]);
  expect((await failure(prism.readCalibration("labelled", 1, unknownId), ApiError)).code).toBe("not_found");
  expect((await prism.pinCalibrations("labelled", 1, { topic: null })).questions["topic"]).toBeNull();
  expect(await prism.readPinnedCalibrations("labelled", 1)).toEqual({
    version: 1, questions: { topic: null, upset: null, urgency: null },
  });
});

it("labelled inputs of a version are answered by the next", async () => {
  await prism.createPrism(triage("next"));
  const made = await prism.createResult("next", { text: "Where is my parcel?" });
  await prism.putLabels(made.id, { labels: { topic: "billing" }, sample: "random" });
  await prism.createVersion("next", triage("next"));
  expect((await prism.createRun("next", { from_labels_of: 1 }, dryRun)).rows).toBe(1);
  const run = await prism.watchRun((await prism.createRun("next", { from_labels_of: 1 })).id);
  expect([run.status, run.version, run.ok, run.labels]).toEqual(["finished", 2, 1, { stored: 1, invalid: 0 }]);
  expect((await prism.createRun("next", { from_results: { ids: [made.id], version: 1 } }, dryRun)).rows).toBe(1);
});

it("a prism is watched for drift", async () => {
  await prism.createPrism(triage("watched"));
  expect((await prism.readDrift("watched")).watched).toBe(false);
  const hour = 3_600_000;
  const to = new Date(Math.floor(Date.now() / hour) * hour);
  const reference = { from: new Date(to.getTime() - hour), to };
  const drift = await prism.setDrift("watched", { watched: true, version: 1, reference });
  expect([drift.watched, drift.reference?.kind, drift.reference?.to, drift.questions.map(({ question }) => question)]).toEqual([
    true, "set", to.toISOString(), ["topic", "upset", "urgency"],
  ]);
  expect((await prism.readDrift("watched", { version: 1 })).questions[0]?.day.probability).toBeNull();
  expect((await prism.setDrift("watched", { watched: false })).questions).toEqual([]);
});

describe("what is wrong is told", () => {
  it("by its paths", async () => {
    const wrong = { slug: "?", fields: [], questions: [] };
    const error = await failure(prism.createPrism(wrong), ValidationError);
    expect(error.status).toBe(400);
    expect(error.problems.map(({ path }) => path)).toEqual(["slug", "fields", "questions"]);
    const missing = await failure(prism.createResult("tickets", { fields: { other: "x" } }), ValidationError);
    expect(missing.problems).toEqual([{ path: "fields.text", message: "Required" }]);
    const surrogate = await failure(prism.createResult("tickets", { text: "\ud800" }), ValidationError);
    expect(surrogate.problems[0]?.path).toBe("text");
  });
  it.each<[string, () => PromiseLike<unknown>, string, number]>([
    ["an unknown result", () => prism.readResult(unknownId), "not_found", 404],
    ["an unknown prism", () => prism.createResult("no-such-prism", { text: "x" }), "not_found", 404],
    ["an unknown key", () => new Prism({ url: inject("url"), key: "prism_unknown" }).listModels(), "unauthorized", 401],
  ])("by its code: %s", async (_, call, code, status) => {
    expect(await failure(call(), ApiError)).toMatchObject({ code, status });
  });
});

it("an account has keys, members, models, usage and an audit", async () => {
  const made = await prism.createKey({ name: "reader", role: "reader", expires_at: new Date(Date.now() + 3_600_000) });
  const reader = new Prism({ url: inject("url"), key: made.key });
  expect((await failure(reader.createResult("tickets", { text: "x" }), ApiError)).status).toBe(403);
  const keys: string[] = [];
  for await (const { id } of prism.listKeys()) keys.push(id);
  expect(keys).toContain(made.id);
  await prism.revokeKey(made.id);
  expect((await failure(reader.listModels(), ApiError)).status).toBe(401);

  const view = await prism.createView({ name: "Sure", filters: { from: new Date(0), q: "refund" }, columns: ["topic"] });
  expect((await prism.listViews()).data).toEqual([view]);
  expect(view.filters).toEqual({ from: "1970-01-01T00:00:00.000Z", q: "refund" });
  expect((await prism.replaceView(view.id, { name: "All", filters: {} })).columns).toBeNull();
  await prism.deleteView(view.id);
  expect((await prism.listViews()).data).toEqual([]);

  const member = await prism.addMember({ name: "Ada", email: "ada@example.com", role: "reader" });
  expect((await prism.linkMember(member.id)).link).not.toBe(member.link);
  expect((await prism.changeMember(member.id, { role: "caller" })).role).toBe("caller");
  await prism.removeMember(member.id);
  expect((await prism.listMembers()).data.map(({ id }) => id)).not.toContain(member.id);

  expect((await prism.listModels()).data.map(({ name }) => name)).toEqual(["offline", refusing]);
  const actions: string[] = [];
  for await (const { action } of prism.listAudit({ from: new Date(Date.now() - 3_600_000) })) actions.push(action);
  expect(actions).toContain("member.remove");
  await prism.createResult("tickets", { text: "x" });
  expect((await prism.readUsage({ by: "prism", prism: "tickets" })).data[0]?.results).toBeGreaterThan(0);
  let last = 0;
  for await (const change of prism.changes({ prism: "tickets", wait: 5 })) {
    expect(change).toMatchObject({ type: "created", prism: "tickets" });
    last = change.seq;
    break;
  }
  for await (const { seq } of prism.changes({ after: last })) {
    expect(seq).toBeGreaterThan(last);
    last = seq;
  }
  expect((await prism.listChanges({ after: last })).next).toBeGreaterThanOrEqual(last);
});

it("a file is uploaded once, run, followed and downloaded", async () => {
  const content = "id,message\n1,I was charged twice\n2,\"Where is\nmy parcel?\"\n";
  const upload = { name: "tickets.csv", content };
  const file = await prism.uploadFile(upload);
  expect([file.status, file.rows, file.columns?.map(({ name }) => name)]).toEqual(["ready", 2, ["id", "message"]]);
  expect(await prism.uploadFile(upload)).toEqual(file);
  expect((await prism.listFileRows(file.id, { offset: 1 })).data).toEqual([{ id: "2", message: "Where is\nmy parcel?" }]);

  const plan = await prism.createRun("tickets", { file_id: file.id, fields: { text: "message" } }, dryRun);
  expect([plan.rows, plan.invalid_total]).toEqual([2, 0]);
  const told: number[] = [];
  const run = await prism.runFile(
    "tickets", upload, { fields: { text: "message" }, ref: "id" }, { onProgress: (now) => told.push(now.ok) },
  );
  expect([run.status, run.ok, run.file_id, told.at(-1), isSettled(run)]).toEqual(["finished", 2, file.id, 2, true]);
  expect(await prism.watchRun(run.id)).toEqual(await prism.readRun(run.id));

  const rows: unknown[] = [];
  for await (const row of (await prism.listRunRows(run.id, { format: "jsonl" })).rows()) {
    rows.push([row["id"], row["prism_row"], row["prism_status"]]);
  }
  expect(rows).toEqual([["1", 1, "ok"], ["2", 2, "ok"]]);
  const csv = await (await prism.listRunRows(run.id)).text();
  expect(await (await prism.listRunRows(run.id, { after: 1 })).text()).toBe(
    csv.split("\r\n")[0] + "\r\n" + csv.slice(csv.indexOf("\r\n2,") + 2),
  );
  const sheet = await new Response((await prism.listRunRows(run.id, { format: "xlsx" })).stream()).arrayBuffer();
  expect(new TextDecoder().decode(sheet.slice(0, 2))).toBe("PK");
  const results: (string | null)[] = [];
  for await (const { ref } of prism.listResults({ run: run.id })) results.push(ref);
  expect(results).toEqual(["1", "2"]);
  expect((await prism.listRuns({ prism: "tickets" })).data.map(({ id }) => id)).toContain(run.id);
  expect((await failure(prism.retryRun(run.id), ApiError)).code).toBe("conflict");
});

it("a run is steered", async () => {
  const file = await prism.uploadFile({ name: "slow.jsonl", content: '{"text":"a"}\n'.repeat(50) });
  const run = await prism.createRun(
    "tickets", { file_id: file.id, fields: { text: "text" }, rows_per_second: 0.1, idempotency_key: "steered" },
  );
  expect(
    (await prism.createRun("tickets", { file_id: file.id, fields: { text: "text" }, idempotency_key: "steered" })).id,
  ).toBe(run.id);
  expect((await failure(prism.deleteFile(file.id), ApiError)).code).toBe("conflict");
  await prism.pauseRun(run.id);
  expect((await prism.watchRun(run.id)).status).toBe("paused");
  await prism.setRunLimits(run.id, { rows_per_second: 0.2, concurrency: 1 });
  await prism.resumeRun(run.id);
  await prism.cancelRun(run.id);
  expect((await prism.watchRun(run.id)).status).toBe("cancelled");
});

it("many texts are answered once", async () => {
  await prism.createPrism(triage("many"));
  const items = Array.from({ length: 40 }, (_, i) => ({ text: `Where is parcel ${i}?`, ref: String(i) }));
  const ids = new Map<number, string>();
  for (let round = 0; round < 2; round++) {
    for await (const { index, item, result } of prism.createResults("many", items, { job: "parcels" })) {
      expect(result?.ref).toBe(item.ref);
      expect(ids.get(index) ?? result!.id).toBe(result!.id);
      ids.set(index, result!.id);
    }
  }
  expect(new Set(ids.values()).size).toBe(40);
});
