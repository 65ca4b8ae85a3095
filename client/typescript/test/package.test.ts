import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

const run = promisify(execFile);
const here = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFile(join(here, path), "utf8");
const manifest = JSON.parse(await read("package.json")) as { name: string; version: string; dependencies?: object };
const env = { PATH: process.env["PATH"], PRISM_URL: inject("url"), PRISM_API_KEY: inject("key") };

// A folder in which the package is installed as npm would.
let folder: string;
let packed: { path: string }[];

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "prism-package-")));
  const { stdout } =
    await run("npm", ["run", "--silent", "package", "--", "--json", "--pack-destination", folder], { cwd: here });
  const [archive] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  packed = archive!.files;
  const place = join(folder, "node_modules", manifest.name);
  await mkdir(place, { recursive: true });
  await run("tar", ["-xzf", join(folder, basename(archive!.filename)), "-C", place, "--strip-components", "1"]);
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

it("the package has what is built, the README and the licence", async () => {
  const modules = (await readdir(join(here, "src"))).map((name) => name.replace(/\.ts$/, ""));
  const built = modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]);
  expect(packed.map(({ path }) => path).sort()).toEqual(["LICENSE", "README.md", "package.json", ...built].sort());
  expect(await read("LICENSE")).toBe(await read("../../LICENSE"));
});

it("the package depends on nothing", () => {
  const wanted = Object.keys(manifest).filter((name) => /dependencies$/i.test(name));
  expect(wanted).toEqual(["devDependencies"]);
});

describe("the samples of the README", () => {
  const blocks = async (language: string) => [...(await read("README.md")).matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, of]) => of === language)
    .map(([, , text]) => text!);

  // A program that targets the web, and one of node without the types of the web.
  it.each([
    ["the web", { lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"], types: [] }],
    ["node", { lib: ["lib.es2022.d.ts"], types: ["node"], typeRoots: [join(here, "node_modules/@types")] }],
  ])("have the types of %s", async (_, options) => {
    const file = join(folder, "readme.ts");
    await writeFile(file, (await blocks("ts")).join("\n"));
    const program = ts.createProgram([file], {
      ...options, strict: true, exactOptionalPropertyTypes: true, noEmit: true, target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
    });
    // The program and the package, and not all that a library declares.
    const files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(folder));
    const problems = [
      ...program.getOptionsDiagnostics(),
      ...files.flatMap((one) => [...program.getSyntacticDiagnostics(one), ...program.getSemanticDiagnostics(one)]),
    ];
    expect(files.length).toBeGreaterThan(10);
    expect(ts.formatDiagnostics(
      problems, { getCanonicalFileName: (name) => name, getCurrentDirectory: () => folder, getNewLine: () => "\n" },
    )).toBe("");
  });

  it("run, one after the other", async () => {
    const { outputText } = ts.transpileModule((await blocks("ts")).join("\n"), {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
    });
    await writeFile(join(folder, "readme.js"), outputText);
    const { stdout, stderr } = await run(process.execPath, ["readme.js"], { cwd: folder, env });
    const [first] = await blocks("text");
    expect(stdout.slice(0, first!.length)).toBe(first);
    expect(stdout).toContain("2 of 2\n");
    expect(stderr.trim().split("\n")).toEqual(["fields.text Required"]);
  });

  it("run on the edge, with nothing but what the web has", async () => {
    await writeFile(join(folder, "edge.js"), (await blocks("js")).join("\n"));
    const { stdout } = await run(
      process.execPath, ["--no-warnings", "--experimental-vm-modules", join(here, "test/edge.mjs"), folder, manifest.name],
      { env },
    );
    expect(JSON.parse(stdout)).toEqual({
      response: { topic: "billing" }, run: "finished",
      environment: "prism: this runtime has no process.env; use new Prism({ url, key })",
    });
  });
});
