import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { ApiError, ConnectionError, fileFormatOf, UnavailableError, UnusableFileError } from "../src/index.js";
import { Sha256 } from "../src/sha256.js";
import { sum } from "../src/upload.js";
import { contentOf, FakeFiles } from "./files.js";
import { answer, answering, cut, failure, json, jsonType, serving, unavailableJson } from "./serving.js";

const content = "id,message\n1,hello\n2,bye\n";
const upload = { name: "tickets.csv", content };

function has(files: FakeFiles, content: string) {
  expect([files.stored[0]!.file.status, contentOf(files.stored[0]!)]).toEqual(["ready", content]);
}

it("a file is uploaded in parts and read", async () => {
  const files = new FakeFiles();
  const told: number[] = [];
  const file = await (await serving(files.handle)).uploadFile(upload, { onUpload: (sent, bytes) => told.push(sent / bytes) });
  expect([file.status, file.bytes, file.format]).toEqual(["ready", content.length, "csv"]);
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  expect([told.length, told.at(-1)]).toEqual([file.parts, 1]);
  has(files, content);
});

it.each<[string, Blob | Uint8Array | string]>([
  ["a text", content], ["bytes", new TextEncoder().encode(content)], ["a blob", new Blob([content])],
])("the content may be %s", async (_, content_) => {
  const files = new FakeFiles();
  await (await serving(files.handle)).uploadFile({ name: "tickets.csv", content: content_ });
  has(files, content);
});

it("a file of a browser has its name", async () => {
  const files = new FakeFiles();
  const { name } =
    await (await serving(files.handle)).uploadFile({ content: Object.assign(new Blob([content]), { name: "a.CSV" }) });
  expect(name).toBe("a.CSV");
});

it("parts are sent several at a time", async () => {
  const files = new FakeFiles();
  const waiting: (() => void)[] = []; // no part is stored before the other one is sent
  const prism = await serving(async (request, response) => {
    if (request.method === "PUT") {
      const both = new Promise<void>((go) => waiting.push(go));
      if (waiting.length === 2) for (const go of waiting) go();
      await both;
    }
    return files.handle(request, response);
  });
  await prism.uploadFile({ name: "a.csv", content: content.slice(0, 16) });
});

it("an upload goes on whichever response is lost", async () => {
  // The list, the file, its parts, the completion, and reading it.
  for (let lost = 1, requests = 1; lost <= requests; lost++) {
    const files = new FakeFiles();
    requests = 0;
    const prism = await serving((request, response) => {
      if (++requests !== lost) return files.handle(request, response);
      const { end } = response;
      response.end = (() => (response.end = end, void cut(response), response)) as never; // it is handled all the same
      response.writeHead = (() => response) as never;
      return files.handle(request, response);
    });
    await prism.uploadFile(upload);
    has(files, content);
    expect(requests).toBeGreaterThan(6);
  }
});

it("an upload that makes progress goes on, however often it is cut", async () => {
  const files = new FakeFiles(1);
  let puts = 0;
  const prism = await serving(
    (request, response) => (request.method === "PUT" && puts++ % 2 === 1 ? cut(response) : files.handle(request, response)),
    { attempts: 1 },
  );
  await prism.uploadFile({ name: "a.csv", content: "x".repeat(100) });
  has(files, "x".repeat(100));
});

it("an upload continues in another program", async () => {
  const files = new FakeFiles();
  const leave = new AbortController();
  const prism = await serving((request, response) => {
    if (!request.url!.endsWith("/parts/3") || leave.signal.aborted) return files.handle(request, response);
    leave.abort();
  });
  expect((await failure(prism.uploadFile(upload, { signal: leave.signal }), ConnectionError)).aborted).toBe(true);
  await prism.uploadFile(upload);
  has(files, content);
  expect([files.stored.length, files.puts <= 4 + 4]).toEqual([1, true]);
  const { puts } = files;
  expect((await prism.uploadFile(upload)).status).toBe("ready");
  expect(files.puts).toBe(puts); // it is there and was not sent again
  await prism.uploadFile({ ...upload, name: "other.csv" });
  await prism.uploadFile(upload); // which is not on the first page
  expect(files.stored.length).toBe(2);
});

it("an upload with other content is begun anew", async () => {
  const files = new FakeFiles();
  const prism = await serving(files.handle);
  const stuck =
    await prism.createFile({ name: upload.name, format: "csv", bytes: content.length, sha256: await sum(new Blob([content])) });
  for (let n = 0; n < stuck.parts; n++) { // the file was another while these were sent
    await prism.putPart(stuck.id, n + 1, new TextEncoder().encode("x".repeat(Math.min(8, content.length - n * 8))));
  }
  expect((await prism.uploadFile(upload)).id).not.toBe(stuck.id);
  has(files, content);
});

it("a file of many parts is asked for in turns", async () => {
  const files = new FakeFiles(1);
  const many = "x".repeat(1025);
  let last = 0;
  await (await serving(files.handle)).uploadFile({ name: "a.csv", content: many }, {
    onUpload: (sent) => {
      expect(sent).toBeGreaterThanOrEqual(last);
      last = sent;
    },
  });
  expect(last).toBe(many.length);
  has(files, many);
});

describe("an upload that cannot succeed says why", () => {
  it("an unusable file", async () => {
    const files = new FakeFiles();
    const prism = await serving((request, response) => {
      const file = files.stored[0]?.file;
      if (file?.status !== "reading") return files.handle(request, response);
      json(response, 200, { ...file, status: "unusable", error: "Line 7: not UTF-8." });
    });
    const error = await failure(prism.uploadFile(upload), UnusableFileError);
    expect([error.file.id, error.message]).toEqual(["file-1", "prism: uploadFile: the file is unusable: Line 7: not UTF-8."]);
  });
  it("a refused key", async () => {
    const prism = await answering(401, jsonType, `{"error":{"code":"unauthorized","message":"Invalid API key"}}`);
    expect((await failure(prism.uploadFile(upload), ApiError)).code).toBe("unauthorized");
  });
  it("a server that stays away", async () => {
    let n = 0;
    const prism = await serving((_, response) => {
      n++;
      answer(response, 503, jsonType, unavailableJson);
    });
    await failure(prism.uploadFile(upload), UnavailableError);
    expect(n).toBe(10 * 4);
  });
  it("a file that Prism does not finish reading in time", async () => {
    const files = new FakeFiles();
    const prism = await serving((request, response) => {
      const file = files.stored[0]?.file;
      return file?.status === "reading" ? json(response, 200, file) : files.handle(request, response);
    });
    expect((await failure(prism.uploadFile(upload, { timeout: 1500 }), ConnectionError)).timedOut).toBe(true);
  });
  it.each([[{ content }, "has no name"], [{ content, name: "f.xls" }, "pass a format"]])("a file whose format is not known",
    async (wrong, message) => {
      expect((await failure((await serving(() => {})).uploadFile(wrong), TypeError)).message).toContain(message);
    });
});

it.each([
  ["a.csv", "csv"], ["b.TSV", "tsv"], ["c.jsonl", "jsonl"], ["d.xlsx", "xlsx"], ["e.x.parquet", "parquet"], ["f.xls", undefined],
  ["g", undefined], ["h.ndjson", "jsonl"], ["i.XLSM", "xlsx"], ["j.csv.gz", "csv"], ["k.ndjson.zst", "jsonl"],
  ["l.xlsm.zip", "xlsx"], ["m.ods", undefined],
])(
  "the format of %s is %s",
  (name, format) => {
    expect(fileFormatOf(name)).toBe(format);
  },
);

it("the SHA-256 is that of node", () => {
  const data = Uint8Array.from({ length: 1000 }, (_, i) => (i * 7919) % 256);
  for (let length = 0; length < 300; length++) {
    const hash = new Sha256();
    hash.update(data.subarray(0, length / 3));
    hash.update(data.subarray(length / 3, length));
    expect(hash.hex()).toBe(createHash("sha256").update(data.subarray(0, length)).digest("hex"));
  }
});
