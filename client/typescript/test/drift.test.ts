import { readFileSync } from "node:fs";
import { describe, expect, inject, it } from "vitest";
import { ApiError, ConnectionError, Prism } from "../src/index.js";
import { dryRuns, everything } from "./everything.js";
import { answering, failure, jsonType, key } from "./serving.js";

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
}

interface Operation {
  operationId: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: { $ref: string } }> };
}

const document =
  JSON.parse(readFileSync(new URL("../../../services/gateway/internal/apidoc/openapi.json", import.meta.url), "utf8")) as {
    paths: Record<string, Record<string, Operation>>;
    components: {
      parameters: Record<string, Parameter>;
      schemas: Record<string, { properties?: Record<string, unknown> }>;
      examples: Record<string, { value: unknown }>;
    };
  };

const base = (ref: string) => ref.slice(ref.lastIndexOf("/") + 1);

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, operation]) => !operation.tags.includes("Formats of others")) // those are called by clients of others
    .map(([method, operation]) => ({ id: operation.operationId, path, method: method.toUpperCase(), operation })),
);

// What a client sends.
async function sent(call: (prism: Prism) => PromiseLike<unknown>) {
  let url: URL | undefined;
  let init: RequestInit | undefined;
  const fetch = (address: unknown, how?: RequestInit) => {
    url = new URL(String(address));
    init = how;
    return Promise.reject(new Error("recorded"));
  };
  await failure(call(new Prism({ url: "http://prism.test", key, attempts: 1, fetch })), ConnectionError);
  return {
    url: url!, init: init!,
    body: typeof init!.body === "string" ? (JSON.parse(init!.body) as Record<string, unknown>) : undefined,
  };
}

describe("the client can send everything that the document describes", () => {
  it.each(operations)("$id", async ({ id, path, method, operation }) => {
    expect(Prism.prototype, "the client has no method of this name").toHaveProperty(id);
    const call = everything[id];
    expect(call, "no test calls it").toBeDefined();
    const plain = await sent(call!);
    const dryRun = dryRuns[id] && (await sent(dryRuns[id]));
    expect(plain.body?.["dry_run"]).toBeUndefined();
    for (const { url, init } of dryRun ? [plain, dryRun] : [plain]) {
      expect(url.pathname).toBe(path.replace("{version}", "1").replace("{n}", "1").replaceAll(/\{\w+\}/g, "a"));
      expect(init.method).toBe(method);
      expect([...new Set(url.searchParams.keys())].sort()).toEqual(parameters(operation, "query"));
      expect(new Headers(init.headers).has("If-Match")).toBe(parameters(operation, "header").includes("If-Match"));
    }
    const schema = operation.requestBody?.content["application/json"]?.schema.$ref;
    const members = Object.keys((schema && document.components.schemas[base(schema)]?.properties) || {});
    // Of fields and text, a call sends one.
    const wanted = members.filter((name) => name !== "text" || !members.includes("fields"));
    expect([...new Set([...Object.keys(plain.body ?? {}), ...Object.keys(dryRun?.body ?? {})])].sort()).toEqual(wanted.sort());
  });

  it("and nothing else", () => {
    expect(Object.keys(everything).sort()).toEqual(operations.map(({ id }) => id).sort());
  });

  function parameters(operation: Operation, place: string): string[] {
    const all = (operation.parameters ?? []).map((p) => (p.$ref ? document.components.parameters[base(p.$ref)]! : p));
    return all.filter((p) => p.in === place).map((p) => p.name).sort();
  }
});

// spec: error-body
it("every error of the document has its code", async () => {
  const seen = new Set<string>();
  for (const { value } of Object.values(document.components.examples)) {
    const { code, message } = (value as { error?: { code?: string; message?: string } } | null)?.error ?? {};
    if (!code) continue;
    seen.add(code);
    const refused = await failure((await answering(400, jsonType, JSON.stringify(value))).readResult("a"), ApiError);
    expect([refused.code, refused.text]).toEqual([code, message]);
  }
  const described =
    document.components.schemas["Error"] as { properties: { error: { properties: { code: { enum: string[] } } } } };
  expect([...seen].toSorted()).toEqual(described.properties.error.properties.code.enum.toSorted());
});

it("the served document is the one that the client is tested against", async () => {
  const response = await fetch(`${inject("url")}/openapi.json`);
  expect(await response.json()).toEqual(document);
});
