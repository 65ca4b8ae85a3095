import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    url: string;
    key: string;
  }
}

/** The model that refuses every call, so that each of its results fails. */
export const refusing = "refusing";

/**
 * Starts a real Prism with throwaway data for all tests. `make typescript-check` builds its binary, PRISM_BINARY names another.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const binary = process.env["PRISM_BINARY"] ?? fileURLToPath(new URL("../../../bin/prism", import.meta.url));
  const folder = await mkdtemp(join(tmpdir(), "prism-typescript-"));
  const model = createServer((_, response) => response.writeHead(400).end("{}")).listen(0, "127.0.0.1");
  await once(model, "listening");
  const models = join(folder, "models.yaml");
  await writeFile(
    models,
    `default: offline
models:
  - name: offline
    provider: offline
  - name: ${refusing}
    provider: openai-chat
    base_url: http://127.0.0.1:${(model.address() as AddressInfo).port}/v1
    model: none
`,
  );
  const env = {
    PRISM_DATA_DIR: join(folder, "data"), PRISM_MODELS_FILE: models, PRISM_LISTEN: "127.0.0.1:0",
    PRISM_ADMIN_LISTEN: "127.0.0.1:0",
  };
  const prism = spawn(binary, ["serve"], { env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(prism, "close");
  let log = "";
  prism.stderr.on("data", (text: Buffer) => (log += text.toString()));
  let url: string | undefined;
  for await (const line of createInterface(prism.stdout)) {
    log += `${line}\n`;
    url = /^Prism listens at (\S+)/.exec(line)?.[1];
    if (url) break;
  }
  if (!url) throw new Error(`prism did not start:\n${log}`);
  const key = execFileSync(binary, ["key", "create", "--account", "demo"], { env, encoding: "utf8" }).trim();
  prism.stdout.resume();
  project.provide("url", url);
  project.provide("key", key);
  return async () => {
    prism.kill("SIGTERM");
    const [code] = (await ended) as [number | null];
    model.close();
    await rm(folder, { recursive: true, force: true });
    if (code !== 0) throw new Error(`prism exited with ${code}:\n${log}`);
  };
}
