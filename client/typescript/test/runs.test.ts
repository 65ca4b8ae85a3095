import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { ApiError, ColumnsChangedError, ConnectionError, type NewRun, type Run } from "../src/index.js";
import { FakeFiles } from "./files.js";
import { answer, cut, failure, json, jsonType, serving, whole } from "./serving.js";

// A run of ten rows of which some are done.
const runAt = (status: Run["status"], done: number) =>
  whole<Run>("Run", { id: "r", prism: "tickets", status, rows: 10, ok: done, pending: 10 - done });

const event = (run: Run) => `: a comment\nevent: run\ndata: ${JSON.stringify(run)}\n\n`;

const follow = (response: ServerResponse, text: string) =>
  void response.writeHead(200, { "Content-Type": "text/event-stream" }).end(text);

describe("watchRun", () => {
  interface Case {
    name: string;
    /** What happens to each request for events; behind the last, 404. */
    events: ((response: ServerResponse) => void)[];
    /** What each read of the run returns; behind the last, the last. */
    reads: Run[];
    /** How many rows were done whenever progress was told. */
    seen: number[];
    status: Run["status"];
    streams: number;
  }
  it.each<Case>([
    {
      name: "reads events until it is finished",
      events: [(r) => follow(r, event(runAt("queued", 0)) + event(runAt("running", 4)) + event(runAt("finished", 10)))],
      reads: [], seen: [0, 4, 10], status: "finished", streams: 1,
    },
    {
      name: "ends with a pause",
      events: [(r) => follow(r, event(runAt("pausing", 4)) + event(runAt("paused", 5)) + event(runAt("finished", 10)))],
      reads: [], seen: [4, 5], status: "paused", streams: 1,
    },
    {
      name: "continues events that are cut",
      events: [(r) => void cut(r, `${event(runAt("running", 1))}data: {"id":`), (r) => follow(r, event(runAt("cancelled", 3)))],
      reads: [runAt("running", 2)], seen: [1, 2, 3], status: "cancelled", streams: 2,
    },
    {
      name: "asks where there are no events",
      events: [],
      reads: [runAt("running", 2), runAt("running", 8), runAt("finished", 10)], seen: [2, 8, 10], status: "finished", streams: 1,
    },
  ])("$name", async ({ events, reads, seen, status, streams }) => {
    let followed = 0;
    let read = 0;
    const prism = await serving((request, response) => {
      if (!request.url!.endsWith("/events")) json(response, 200, reads[Math.min(read++, reads.length - 1)]);
      else if (followed++ < events.length) events[followed - 1]!(response);
      else answer(response, 404, "text/html", "<h1>proxy</h1>");
    });
    const told: number[] = [];
    const run = await prism.watchRun("r", { onProgress: (now) => told.push(now.rows - now.pending) });
    expect([run.status, told, followed]).toEqual([status, seen, streams]);
  });

  it("ends with its signal", async () => {
    const leave = new AbortController();
    const prism = await serving((_, response) => void response.write(event(runAt("running", 4))));
    const error = await failure(prism.watchRun("r", { signal: leave.signal, onProgress: () => leave.abort() }), ConnectionError);
    expect(error.aborted).toBe(true);
  });

  it("passes an error of its caller on", async () => {
    const prism = await serving((_, response) => follow(response, event(runAt("running", 4))));
    const fault = new Error("mine");
    expect(await failure(prism.watchRun("r", { onProgress: () => { throw fault; } }), Error)).toBe(fault);
  });
});

it("runFile uploads, starts once and follows", async () => {
  const files = new FakeFiles();
  const sent: NewRun[] = [];
  const prism = await serving((request, response) => {
    if (request.url!.startsWith("/v1/files")) return files.handle(request, response);
    if (request.url === "/v1/runs/r/events") return follow(response, event(runAt("running", 4)) + event(runAt("finished", 10)));
    expect([request.method, request.url]).toEqual(["POST", "/v1/prisms/tickets/runs"]);
    sent.push(JSON.parse(request.body.toString()) as NewRun);
    // The run is made all the same. One call makes four attempts, so the second call is the one that has a response.
    if (sent.length <= 4) void cut(response);
    else json(response, 201, runAt("queued", 0));
  });
  const told: number[] = [];
  const run = await prism.runFile("tickets", { name: "a.csv", content: "text\nhello\n" },
    { fields: { message: "text" }, idempotency_key: undefined }, {
      onProgress: (now) => told.push(now.ok),
    });
  expect([run.status, told]).toEqual(["finished", [4, 10]]);
  expect(sent[0]).toMatchObject({
    file_id: "file-1", fields: { message: "text" }, idempotency_key: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
  });
  expect(new Set(sent.map((one) => one.idempotency_key)).size).toBe(1);
  expect(sent.length).toBe(5);
});

type LineFormat = "csv" | "tsv" | "jsonl";

// Rows as Prism writes them, with every text that could be taken for a row's end, of a file that was a download.
function rowsOf(format: LineFormat, delimiter?: string): { header: string; rows: string[] } {
  const names = ("text prism_row prism_result_id prism_status prism_error prism_prism_row prism_prism_result_id " +
    "prism_prism_status prism_prism_error prism_prism_prism_row Topic").split(" ");
  const texts = ["plain", "two\r\nlines", 'a "quoted" word', '\r\n\r\n"\r\n', "", '"', "é,\n"];
  const rows = texts.map((text, i) => {
    const values = [text, "99", "an-id", "ok", "", String(i + 1), "id", "ok", "", "98", "é"];
    if (format === "jsonl") {
      return `${JSON.stringify(Object.fromEntries(names.map((name, at) => [name, at === 5 ? i + 1 : values[at]])))}\n`;
    }
    if (format === "tsv" && !delimiter) return `${[text.replaceAll(/[\r\n]/g, " "), ...values.slice(1)].join("\t")}\n`;
    return `${[`"${text.replaceAll('"', '""')}"`, ...values.slice(1)].join(delimiter ?? ",")}\r\n`;
  });
  const mark = delimiter ? "\ufeff" : "";
  return {
    rows,
    header: {
      csv: `${mark}${names.join(delimiter ?? ",")}\r\n`, tsv: `${mark}${names.join(delimiter ?? "\t")}\n`, jsonl: "",
    }[format],
  };
}

describe("listRunRows", () => {
  // The response is cut at every third of its bytes, and the next one half a response further.
  it.each<[LineFormat, ";" | "\t" | undefined]>([
    ["csv", undefined], ["tsv", undefined], ["jsonl", undefined], ["csv", ";"], ["tsv", "\t"],
  ])("continues behind the last row of %s between %j", async (format, delimiter) => {
    const { header, rows } = rowsOf(format, delimiter);
    const whole = Buffer.from(header + rows.join(""));
    let at = 0;
    const prism = await serving((request, response) => {
      const body = Buffer.from(header + rows.slice(Number(request.at.searchParams.get("after") ?? 0)).join(""));
      if (at >= body.length) return void response.end(body);
      const begin = body.subarray(0, at);
      at += Math.floor(body.length / 2);
      response.write(begin, () => response.socket?.destroySoon());
    });
    for (let from = 1; from <= whole.length; from += 3) {
      at = from;
      const text = await (await prism.listRunRows("r", { format, delimiter, bom: delimiter !== undefined })).text();
      // Like fetch, text() drops the mark.
      if (text !== whole.toString().replace("\ufeff", "")) throw new Error(`cut at ${from}: ${text}`);
    }
  });

  const begun = (then: (response: ServerResponse) => void) => {
    const { header, rows } = rowsOf("csv");
    let n = 0;
    return serving((_, response) => (n++ === 0 ? cut(response, header + rows[0]) : then(response)));
  };

  it("cannot continue with other columns", async () => {
    const prism = await begun((response) => response.end("text,Other\r\n"));
    await failure((await prism.listRunRows("r")).text(), ColumnsChangedError);
  });
  it("cannot continue what is gone", async () => {
    const prism =
      await begun((response) => answer(response, 404, jsonType, `{"error":{"code":"not_found","message":"Run not found"}}`));
    expect((await failure((await prism.listRunRows("r")).text(), ApiError)).code).toBe("not_found");
  });
  it("gives up on a server that stays away", async () => {
    const prism = await begun((response) => void cut(response));
    await failure((await prism.listRunRows("r")).text(), ConnectionError);
  });
  it("does not continue xlsx", async () => {
    let n = 0;
    const prism = await serving((_, response) => (n++, cut(response, "PK")));
    await failure((await prism.listRunRows("r", { format: "xlsx" })).text(), ConnectionError);
    expect(n).toBe(1);
  });
  it("has the format of the file unless another one is asked for", async () => {
    const prism = await serving((_, response) => {
      response.setHeader("Content-Type", "application/jsonl; charset=utf-8");
      response.end('{"a":1}\n');
    });
    const rows = [];
    for await (const row of (await prism.listRunRows("r")).rows()) rows.push(row);
    expect(rows).toEqual([{ a: 1 }]);
  });
  it("can be left", async () => {
    let closed: () => void;
    const gone = new Promise<void>((resolve) => (closed = resolve));
    const prism = await serving((request, response) => {
      request.socket.on("close", closed);
      response.write("text\r\nhello\r\n");
    });
    const download = await prism.listRunRows("r");
    for await (const chunk of download) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    await gone;
    await (await prism.listRunRows("r")).cancel();
  });
});

describe("a download", () => {
  const of = async (text: string) => (await serving((_, response) => void response.end(text))).exportResults("a");

  it("is read as rows", async () => {
    const rows: unknown[] = [];
    for await (const row of (await of('{"a":1}\n{"b":"x\\n"}\n')).rows()) rows.push(row);
    expect(rows).toEqual([{ a: 1 }, { b: "x\n" }]);
  });
  it("of another format is not read as rows", async () => {
    expect((await failure((await of("a,b\n1,2\n")).rows().next(), TypeError)).message).toContain("jsonl");
  });
  it("is a stream", async () => {
    expect(await new Response((await of("é\n")).stream()).text()).toBe("é\n");
  });
});
