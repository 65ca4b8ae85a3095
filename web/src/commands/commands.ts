import type { Schemas } from '@/api';
import { goString, shellWord } from './strings';

export { goString, shellWord };

/** The ways to make a call, as people call them. */
export const ways = { curl: 'curl', go: 'Go', typescript: 'TypeScript', python: 'Python', prismctl: 'prismctl' } as const;
export type Way = keyof typeof ways;

/** What makes the same call as the console. The key is that of the environment. */
export type Commands = Record<Way, string>;

/** A create call. What is empty or null is not sent; without a version the latest one answers. */
export interface Call {
  prism: string;
  fields: Record<string, string>;
  version?: number;
  ref?: string | null;
  context?: string | null;
}

const authorized = `-H "Authorization: Bearer $PRISM_API_KEY"`;

const goHead = (origin: string) => `c, err := client.New(client.Config{URL: ${goString(origin)}, Key: os.Getenv("PRISM_API_KEY")})
if err != nil {
	return err
}`;

const typeScriptHead = (origin: string) => `import { Prism } from "@prism-results/client";

const prism = new Prism({ url: ${JSON.stringify(origin)}, key: process.env.PRISM_API_KEY ?? "" });
`;

const pythonHead = (origin: string) => `import os

from prism_results import Client

client = Client(${JSON.stringify(origin)}, os.environ["PRISM_API_KEY"])
`;

/** A call in each language: what stands behind the heads of the clients. */
export const commandsOf = (origin: string, { curl, go, typescript, python, prismctl }: Commands): Commands => ({
  curl, prismctl, go: `${goHead(origin)}\n${go}`, typescript: typeScriptHead(origin) + typescript,
  python: pythonHead(origin) + python,
});

export const curlGet = (url: string) => `curl --fail-with-body -sS ${authorized} ${shellWord(url)}`;

export const curlSend = (method: 'POST' | 'PUT', url: string, body: object, indent?: number) => [
  `curl --fail-with-body -sS${method === 'PUT' ? ' -X PUT' : ''} ${shellWord(url)}`,
  `${authorized} -H 'Content-Type: application/json'`,
  `-d ${shellWord(JSON.stringify(body, null, indent))}`,
].join(' \\\n  ');

// An object or call with a line for each part.
const lines = (open: string, parts: string[], close: string, indent: string) =>
  [open, ...parts.map((part) => `${indent}${part},`), close].join('\n');

/** How to read a result. */
export function readCommands(origin: string, id: string): Commands {
  return commandsOf(origin, {
    curl: curlGet(`${origin}/v1/results/${id}`),
    go: `result, err := c.ReadResult(ctx, ${goString(id)})`,
    typescript: `const result = await prism.readResult(${JSON.stringify(id)});`,
    python: `result = client.read_result(${JSON.stringify(id)})`,
    prismctl: `prismctl results get ${id}`,
  });
}

/** The body of a create call as the API takes it. */
export function bodyOf({ fields, version, ref, context }: Call): Schemas['CreateResult'] {
  return { fields, ...(version !== undefined && { version }), ...(ref && { ref }), ...(context && { context }) };
}

/** How to make a call. */
export function callCommands(origin: string, call: Call): Commands {
  const { prism, fields, version, ref, context } = call;
  const { fields: _, ...rest } = bodyOf(call);
  const values = Object.entries(fields).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  const more = (between: string) => Object.entries(rest).map(([name, value]) => `${name}${between}${JSON.stringify(value)}`);
  return commandsOf(origin, {
    curl: curlSend('POST', `${origin}/v1/prisms/${prism}/results`, bodyOf(call), 2),
    go: [
      `result, err := c.CreateResult(ctx, ${goString(prism)}, client.NewResult{`,
      `\tFields: map[string]string{`,
      ...Object.entries(fields).map(([key, value]) => `\t\t${goString(key)}: ${goString(value)},`),
      `\t},`,
      ...(version !== undefined ? [`\tVersion: ${version},`] : []),
      ...(ref ? [`\tRef: ${goString(ref)},`] : []),
      ...(context ? [`\tContext: ${goString(context)},`] : []),
      `\tIdempotencyKey: client.NewIdempotencyKey(),`,
      `})`,
    ].join('\n'),
    typescript: lines(`const result = await prism.createResult(${JSON.stringify(prism)}, {`,
      [lines('fields: {', values, '  }', '    '), ...more(': ')], '});', '  '),
    python: lines('result = client.create_result(',
      [JSON.stringify(prism), lines('fields={', values, '    }', '        '), ...more('=')], ')', '    '),
    prismctl: [
      `prismctl call ${shellWord(prism)}`,
      ...Object.entries(fields).map(([key, value]) => `--field ${shellWord(`${key}=${value}`)}`),
      ...(version !== undefined ? [`--version ${version}`] : []),
      ...(ref ? [`--ref ${shellWord(ref)}`] : []),
      ...(context ? [`--background ${shellWord(context)}`] : []),
    ].join(' \\\n  '),
  });
}

/** Measures of a version: without a question, of each. */
interface QualityCall {
  prism: string;
  version: number;
  question?: string | undefined;
  option?: string | undefined;
  model?: string | undefined;
  calibrated?: boolean | undefined;
}

export const queryOf = (parameters: Record<string, string | number | undefined>) => {
  const query = new URLSearchParams(
    Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  ).toString();
  return query && `?${query}`;
};

const goFilter = ({ question, option, model, calibrated }: QualityCall) => `client.QualityFilter{${[
  ...(question !== undefined ? [`Question: ${goString(question)}`] : []),
  ...(option !== undefined ? [`Option: ${goString(option)}`] : []),
  ...(model !== undefined ? [`Model: ${goString(model)}`] : []), ...(calibrated ? ['Calibrated: true'] : []),
].join(', ')}}`;

// What is chosen, as an object of TypeScript and as keywords of Python.
export const object = (parts: Record<string, string | number | true | undefined>) => {
  const members = Object.entries(parts).filter(([, value]) => value !== undefined);
  return `{ ${members.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')} }`;
};
export const keywords = (parts: Record<string, string | number | true | undefined>) =>
  Object.entries(parts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `, ${name}=${value === true ? 'True' : JSON.stringify(value)}`)
    .join('');

/** A question, or an option of it. */
interface Target {
  question?: string | undefined;
  option?: string | undefined;
}

export const targetFlags = ({ question, option }: Target) => [
  ...(question !== undefined ? [`--question ${shellWord(question)}`] : []),
  ...(option !== undefined ? [`--option ${shellWord(option)}`] : []),
];

const flags = ({ version, question, option, model, calibrated }: QualityCall) => [
  `--version ${version}`, ...targetFlags({ question, option }),
  ...(model !== undefined ? [`--model ${shellWord(model)}`] : []), ...(calibrated ? ['--calibrated'] : []),
].join(' ');

/** How to measure a version by its labels. */
export function qualityCommands(origin: string, call: QualityCall): Commands {
  const { prism, version, question, option, model, calibrated } = call;
  const selected = { question, option, model, calibrated: calibrated || undefined } as const;
  return commandsOf(origin, {
    curl: curlGet(`${origin}/v1/prisms/${prism}/versions/${version}/quality${queryOf({
      question, option, model, calibrated: calibrated ? 'true' : undefined,
    })}`),
    go: `quality, err := c.ReadQuality(ctx, ${goString(prism)}, ${version}, ${goFilter(call)})`,
    typescript: `const quality = await prism.readQuality(${JSON.stringify(prism)}, ${version}, ${object(selected)});`,
    python: `quality = client.read_quality(${JSON.stringify(prism)}, ${version}${keywords(selected)})`,
    prismctl: `prismctl quality ${prism} ${flags(call)}`,
  });
}

/** How to choose thresholds by what mistakes cost. */
export function thresholdCommands(
  origin: string, call: QualityCall, costs: { false_yes: number; false_no: number; unsure: number },
): Commands {
  const { prism, version, question, option, model, calibrated } = call;
  const selected = { question, option, model, calibrated: calibrated || undefined } as const;
  const { false_yes, false_no, unsure } = costs;
  return commandsOf(origin, {
    curl: curlGet(`${origin}/v1/prisms/${prism}/versions/${version}/quality/thresholds${queryOf({
      question, option, ...costs, model, calibrated: calibrated ? 'true' : undefined,
    })}`),
    go: `thresholds, err := c.ReadThresholds(ctx, ${goString(prism)}, ${version}, ${goFilter(call)},\n`
      + `\tclient.Costs{FalseYes: ${false_yes}, FalseNo: ${false_no}, Unsure: ${unsure}})`,
    typescript: `const thresholds = await prism.readThresholds(${JSON.stringify(prism)}, ${version}, ${object({
      question, option, ...costs, model: selected.model, calibrated: selected.calibrated,
    })});`,
    python: `thresholds = client.read_thresholds(${JSON.stringify(prism)}, ${version}${keywords({
      question, option, ...costs, model: selected.model, calibrated: selected.calibrated,
    })})`,
    prismctl: `prismctl quality thresholds ${prism} ${flags(call)} \\\n`
      + `  --false-yes ${false_yes} --false-no ${false_no} --unsure ${unsure}`,
  });
}

/** How to compare version b with version a. */
export function compareCommands(
  origin: string, prism: string, a: number, b: number, { question, option }: Target & { question: string },
): Commands {
  return commandsOf(origin, {
    curl: curlGet(`${origin}/v1/prisms/${prism}/compare${queryOf({ a, b, question, option })}`),
    go: `comparison, err := c.CompareVersions(ctx, ${goString(prism)}, ${a}, ${b}, ${goString(question)})`,
    typescript: `const comparison = await prism.compareVersions(${JSON.stringify(prism)}, ${
      object({ a, b, question, option })});`,
    python: `comparison = client.compare_versions(${JSON.stringify(prism)}, ${a}, ${b}, ${JSON.stringify(question)}${
      keywords({ option })})`,
    prismctl: `prismctl compare ${prism} ${a} ${b} ${targetFlags({ question, option }).join(' ')}`,
  });
}
