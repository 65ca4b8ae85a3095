// Runs edge.js of a folder, with the package in its node_modules, where there is nothing but the globals of the web: no module of
// node can be imported. Prints what the handler responds.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import vm from "node:vm";

const [folder, name] = process.argv.slice(2);
const globals = [
  "AbortController", "AbortSignal", "Blob", "Headers", "ReadableStream", "Request", "Response", "TextDecoder", "TextEncoder", "URL", "clearTimeout",
  "crypto", "fetch", "performance", "setTimeout",
];
const context = vm.createContext(Object.fromEntries(globals.map((global) => [global, globalThis[global]])));
const modules = new Map();

async function load(path) {
  if (!modules.has(path)) modules.set(path, new vm.SourceTextModule(await readFile(path, "utf8"), { context, identifier: path }));
  return modules.get(path);
}

const packaged = join(folder, "node_modules", name, "dist");
const main = await load(join(folder, "edge.js"));
await main.link((specifier, from) => {
  if (specifier === name) return load(join(packaged, "index.js"));
  if (from.identifier.startsWith(packaged) && specifier.startsWith("./")) return load(join(packaged, specifier));
  throw new Error(`${from.identifier} imports ${specifier}`);
});
await main.evaluate();
const env = { PRISM_URL: process.env.PRISM_URL, PRISM_API_KEY: process.env.PRISM_API_KEY };
const response = await main.namespace.default.fetch(new Request("https://edge.test", { method: "POST", body: "I was charged twice." }), env);

const { Prism } = modules.get(join(packaged, "index.js")).namespace;
const prism = new Prism({ url: env.PRISM_URL, key: env.PRISM_API_KEY });
const run = await prism.runFile("tickets", { name: "edge.csv", content: "text\nhello\n" }, { fields: { text: "text" } });
let environment;
try {
  Prism.fromEnvironment();
} catch (error) {
  environment = error.message;
}
console.log(JSON.stringify({ response: await response.json(), run: run.status, environment }));
