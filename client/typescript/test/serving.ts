import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { rowTypes } from "../src/call.js";
import { Prism, type PrismConfig } from "../src/index.js";
import { shapes } from "../src/shapes.js";

export const key = "prism_0123456789abcdefghijklmnopqrstuvABCDEF";
export const resultId = "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10";
const ok = (answers: string) =>
  `{"id":"${resultId}","ref":null,"prism":"a","version":1,"status":"ok","error":null,"took_ms":5,` +
  `"created_at":"2026-11-21T10:00:00.120Z","answers":${answers}}`;
export const okJson =
  ok(`{"z":{"type":"yes_no","probability":0.75},"a":{"type":"scale","level":"low","probabilities":{"low":1,"high":0}}}`);
/** A result in the format json. */
export const rowJson = ok(`{"z":"yes","a":0.5,"n":null}`);
export const failedJson =
  `{"id":"${resultId}","ref":null,"prism":"a","version":1,"status":"failed",` +
  `"error":"The model did not answer within 15 seconds.","took_ms":15000,"created_at":"2026-11-21T10:00:00.120Z","answers":null}`;
export const unavailableJson = `{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}`;
export const internalJson = `{"error":{"code":"internal_error","message":"Internal server error"}}`;
export const jsonType = "application/json; charset=utf-8";

/** A value of a schema with all that every Prism sends: its members, and empty ones. */
export function whole<T>(schema: string, members: object): T {
  const empty = shapes[schema]!.split(" ").map((member): [string, unknown] => {
    const [, name, kind, inner] = /^(\w*\??)(?:(=|:)(.+))?$/.exec(member)!;
    return [name!, inner === undefined
      ? "" : kind === "=" ? inner : inner.startsWith("[]") ? [] : inner.startsWith("{}") ? {} : whole(inner, {})];
  });
  return { ...Object.fromEntries(empty.filter(([name]) => !name.endsWith("?"))), ...members } as T;
}

export type Handler = (request: IncomingMessage & { body: Buffer; at: URL }, response: ServerResponse) => void | Promise<void>;

/**
 * A client of a server that the test is, which pauses for next to no time. A response has the type that Prism's has, unless it
 * sets another.
 */
export async function serving(handler: Handler, config: Partial<PrismConfig> = {}): Promise<Prism> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    const at = new URL(request.url!, "http://a");
    const rows = rowTypes[(at.searchParams.get("format") ?? "csv") as keyof typeof rowTypes];
    const type = { events: "text/event-stream", rows, results: rows }[at.pathname.split("/").at(-1)!];
    if (type) response.setHeader("Content-Type", type);
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => void handler(Object.assign(request, { body: Buffer.concat(chunks), at }), response));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return calling(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, config);
}

export const calling = (url: string, config: Partial<PrismConfig> = {}) =>
  new Prism({ url, key, pauses: { first: 1, most: 2 }, ...config });

export function answer(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { "Content-Type": type, "X-Request-Id": "r-1" }).end(text);
}

export const json = (response: ServerResponse, status: number, value: unknown) =>
  answer(response, status, jsonType, JSON.stringify(value));

export const answering = (status: number, type: string, text: string) =>
  serving((_, response) => answer(response, status, type, text));

/** Ends the connection without the rest of the response. Resolves when what was written has left. */
export async function cut(response: ServerResponse, text = ""): Promise<void> {
  if (text !== "") await new Promise((written) => response.write(text, written));
  response.socket?.destroySoon();
}

/** The error of a call that has to fail. */
export async function failure<E extends Error>(call: PromiseLike<unknown>, kind: new (...args: never[]) => E): Promise<E> {
  const error = await Promise.resolve(call).then(
    () => undefined,
    (e: unknown) => e,
  );
  if (!(error instanceof kind)) throw new Error(`got ${String(error)}, want a ${kind.name}`, { cause: error });
  return error;
}
