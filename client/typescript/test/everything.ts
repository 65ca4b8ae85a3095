import type {
  NewRun, NewVersion, NewView, NewWebhook, Prism, ResultAssignment, ResultDeletion, ResultRetry,
} from "../src/index.js";
import { Operations } from "../src/operations.js";

const version: NewVersion = {
  instructions: "i",
  model: "m",
  escalate: { to: "n", below: 0.5, questions: ["q"] },
  fields: [{ key: "f", label: "F" }],
  questions: [{ key: "q", type: "yes_no", text: "?" }],
  examples: [{ fields: { f: "v" }, answers: { q: true }, result_id: "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10" }],
  lens: { columns: [{ name: "q", question: "q", show: "answer" }] },
  if_latest: 1,
};
const { if_latest: _, ...first } = version;
const taking = { ...version, examples_from_labels: { question: "q", n: 2, seed: 1 } };
const { fields, questions, lens } = version;
const search = { q: "a", where: ["q:labelled", "q:is:a"] };
const anID = "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10";
const view: NewView = {
  name: "n", columns: ["c"], default: true, filters: {
    prism: "a", status: "ok", ref: "", version: 1, from: new Date(1000), to: new Date(2000), model: "m",
    key_id: anID, run: anID, assignee: "me", sort: "-q", ...search,
  },
};
const webhook: NewWebhook = {
  url: "https://a", events: ["result.created"], prisms: ["a"], status: "ok", condition: { column: "c", op: "is", value: "v" },
  answers: true, run_rows: true, enabled: false,
};
const deletion: ResultDeletion = {
  ref: "", from: new Date(0), before: new Date(1000), status: "ok", version: 1, model: "m", key_id: anID, run: anID,
  assignee: "me", ids: [anID], expect: 1, ...search,
};
const assignment: ResultAssignment = {
  member_id: anID, ref: "", from: new Date(0), to: new Date(1000), status: "ok", version: 1, model: "m", key_id: anID, run: anID,
  assignee: "me", ids: [anID], expect: 1, ...search,
};
const retry: ResultRetry = { prism: "a", from: new Date(1000), to: new Date(2000), expect: 1, ...search };
const run: NewRun = {
  file_id: "f", fields: { a: "b" }, ref: "r", context: "c", version: 1, name: "n", rows_per_second: 1, concurrency: 1,
  pause_at_failures: 0.5,
  labels: { q: "l" },
  idempotency_key: "k",
};
const page = { limit: 1, cursor: "c" };
const period = { from: new Date(1000), to: new Date(2000) };
const ifMatch = { ifMatch: '"e"' };
const dryRun = { dryRun: true } as const;

const byHand: Record<string, (prism: Prism) => PromiseLike<unknown>> = {
  createResult: (p) => p.createResult("a", { fields: { a: "b" }, version: 1, idempotency_key: "k", ref: "r", context: "c" }),
  readResult: (p) => p.readResult("a"),
  retryResult: (p) => p.retryResult("a"),
  listResults: (p) =>
    p.listResults({
      prism: "a", status: "ok", ref: "r", version: 1, ...period, model: "m", key_id: "k", assignee: "me", run: "a",
      fields: true, format: "raw", ...search, sort: "-q", ...page,
    }),
  countResults: (p) =>
    p.countResults({
      by: "q", prism: "a", status: "ok", ref: "r", version: 1, ...period, model: "m", key_id: "k", assignee: "me", run: "a",
      ...search,
    }),
  exportSelected: (p) => p.exportSelected("a", ["b"]),
  exportResults: (p) => p.exportResults("a", {
    format: "csv", status: "ok", ref: "r", version: 1, ...period, model: "m", key_id: "k", assignee: "me", run: "a",
    ...search, after: "a", bom: true, delimiter: ";", safe: true, raw: true,
  }),
  createPrism: (p) => p.createPrism({ slug: "a", name: "n", searchable: false, ...first }),
  readPrism: (p) => p.readPrism("a"),
  listPrisms: (p) => p.listPrisms({ archived: "all", kind: "adhoc", ...page }),
  createVersion: (p) => p.createVersion("a", taking, ifMatch),
  listVersions: (p) => p.listVersions("a", page),
  renamePrism: (p) => p.renamePrism("a", "n"),
  setSearchable: (p) => p.setSearchable("a", false),
  readVersion: (p) => p.readVersion("a", 1),
  replaceLens: (p) => p.replaceLens("a", lens!, ifMatch),
  previewLens: (p) => p.previewLens("a", lens!),
  tryDefinition: (p) => p.tryDefinition({ definition: { fields, questions }, lens: lens!, fields: { a: "b" }, context: "c" }),
  archivePrism: (p) => p.archivePrism("a"),
  unarchivePrism: (p) => p.unarchivePrism("a"),
  createKey: (p) => p.createKey({ name: "n", role: "reader", expires_at: new Date(1000) }),
  listKeys: (p) => p.listKeys(page),
  revokeKey: (p) => p.revokeKey("a"),
  deleteResult: (p) => p.deleteResult("a"),
  deleteResults: (p) => p.deleteResults("a", deletion),
  retryResults: (p) => p.retryResults(retry),
  setRetention: (p) => p.setRetention("a", null),
  putLabels: (p) => p.putLabels("a", { labels: { q: true, r: null }, sample: "random", annotator: "n" }),
  readLabels: (p) => p.readLabels("a"),
  addLabels: (p) =>
    p.addLabels("a", { labels: [{ ref: "r", question: "q", value: "b" }], sample: "uncertain", annotator: "n", version: 1 }),
  listLabels: (p) => p.listLabels("a", { version: 1, question: "q", ...page }),
  listLabelQueue: (p) =>
    p.listLabelQueue("a", { question: "q", order: "uncertain", version: 1, assignee: "me", ...search, ...page }),
  createCalibration: (p) => p.createCalibration("a", 1, { question: "q", option: "o", method: "auto" }),
  listCalibrations: (p) => p.listCalibrations("a", 1, { question: "q", option: "o", ...page }),
  readCalibration: (p) => p.readCalibration("a", 1, "a"),
  pinCalibrations: (p) => p.pinCalibrations("a", 1, { q: null }),
  readPinnedCalibrations: (p) => p.readPinnedCalibrations("a", 1),
  readQuality: (p) => p.readQuality("a", 1, { question: "q", option: "o", model: "m", calibrated: true }),
  readThresholds: (p) =>
    p.readThresholds("a", 1, {
      question: "q", option: "o", false_yes: 5, false_no: 1, unsure: 0.5, model: "m", calibrated: "true",
    }),
  compareVersions: (p) => p.compareVersions("a", { a: 1, b: 2, question: "q", option: "o" }),
  readDrift: (p) => p.readDrift("a", { version: 1 }),
  readDistribution: (p) =>
    p.readDistribution("a", {
      question: "q", by: "hour", zone: "UTC", from: "2026-01-01", to: "2026-01-02", version: 1, ...search,
    }),
  setDrift: (p) => p.setDrift("a", { watched: true, version: 1, reference: period }),
  listAudit: (p) => p.listAudit({ ...period, actor: "operator", ...page }),
  createComment: (p) => p.createComment("a", "t"),
  listComments: (p) => p.listComments("a", page),
  deleteComment: (p) => p.deleteComment("a", "a"),
  assignResult: (p) => p.assignResult("a", "m"),
  assignResults: (p) => p.assignResults("a", assignment),
  readAssignee: (p) => p.readAssignee("a"),
  listAssignees: (p) => p.listAssignees(page),
  createView: (p) => p.createView(view),
  listViews: (p) => p.listViews(page),
  replaceView: (p) => p.replaceView("a", view),
  deleteView: (p) => p.deleteView("a"),
  createWebhook: (p) => p.createWebhook(webhook),
  listWebhooks: (p) => p.listWebhooks(page),
  replaceWebhook: (p) => p.replaceWebhook("a", webhook),
  deleteWebhook: (p) => p.deleteWebhook("a"),
  testWebhook: (p) => p.testWebhook("a"),
  rotateWebhook: (p) => p.rotateWebhook("a"),
  listDeliveries: (p) => p.listDeliveries("a", { status: "failed", ...page }),
  resendDelivery: (p) => p.resendDelivery("a", "a"),
  listEvents: (p) => p.listEvents({ event: ["run.paused"], prism: "a", answers: true, run_rows: true, after: "1.1", limit: 2 }),
  followEvents: (p) => p.followEvents({ event: ["run.paused"], prism: "a", answers: true, run_rows: true, after: "1.1" }).next(),
  addMember: (p) => p.addMember({ name: "n", email: "e", role: "reader", claim: { name: "n", value: "v" } }),
  listMembers: (p) => p.listMembers(page),
  changeMember: (p) => p.changeMember("a", { name: "n", role: "reader" }),
  removeMember: (p) => p.removeMember("a"),
  linkMember: (p) => p.linkMember("a"),
  readRecord: (p) => p.readRecord("a"),
  listChanges: (p) => p.listChanges({ after: 1, prism: "a", limit: 2, wait: 3 }),
  readUsage: (p) => p.readUsage({ ...period, by: "model", prism: "a", model: "m", key_id: "k" }),
  createFile: (p) => p.createFile({ name: "n", format: "csv", bytes: 1, sha256: "s" }),
  putPart: (p) => p.putPart("a", 1, new TextEncoder().encode("b")),
  completeFile: (p) => p.completeFile("a"),
  listFiles: (p) => p.listFiles(page),
  readFile: (p) => p.readFile("a"),
  readFileAgain: (p) => p.readFileAgain("a", {
    encoding: "auto", header_row: 2, sheet: "s", delimiter: ";", on_bad_row: "refuse",
  }),
  listFileRows: (p) => p.listFileRows("a", { offset: 1, limit: 2 }),
  deleteFile: (p) => p.deleteFile("a"),
  createRun: (p) => p.createRun("a", run),
  listRuns: (p) => p.listRuns({ prism: "a", status: "paused", ...page }),
  readRun: (p) => p.readRun("a"),
  pauseRun: (p) => p.pauseRun("a"),
  resumeRun: (p) => p.resumeRun("a"),
  cancelRun: (p) => p.cancelRun("a"),
  retryRun: (p) => p.retryRun("a"),
  checkModel: (p) => p.checkModel("a"),
  setRunLimits: (p) => p.setRunLimits("a", { rows_per_second: 1, concurrency: null }),
  listRunRows: (p) =>
    p.listRunRows("a", { format: "tsv", only: "ok", after: 1, bom: true, delimiter: ";", safe: true, raw: true }),
  followRun: (p) => p.followRun("a").next(),
};

// The operations whose methods are generated, and so take no more than the parts of their path.
const plain = Object.getOwnPropertyNames(Operations.prototype).filter((name) => name !== "constructor").map(
  (name) => [
    name, (prism: Prism) => (prism as unknown as Record<string, (...path: string[]) => PromiseLike<unknown>>)[name]!("a"),
  ] as const,
);

/** Calls each operation with all that it can send. */
export const everything: typeof byHand = { ...byHand, ...Object.fromEntries(plain) };

/** Calls the operations that have a dry run, with it. */
export const dryRuns: Record<string, (prism: Prism) => PromiseLike<unknown>> = {
  createPrism: (p) => p.createPrism({ slug: "a", name: "n", searchable: false, ...first }, dryRun),
  createVersion: (p) => p.createVersion("a", taking, { ...ifMatch, ...dryRun }),
  replaceLens: (p) => p.replaceLens("a", lens!, { ...ifMatch, ...dryRun }),
  createRun: (p) => p.createRun("a", { from_labels_of: 1, from_results: { ids: ["i"] } }, dryRun),
  deleteResults: (p) => p.deleteResults("a", deletion, dryRun),
  retryResults: (p) => p.retryResults(retry, dryRun),
  assignResults: (p) => p.assignResults("a", assignment, dryRun),
};
