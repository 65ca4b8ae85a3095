import type { Schemas } from '@/api';
import { goString, shellWord } from './strings';

export { goString, shellWord };

/** What makes the same call as the console by curl, Go and prismctl. The key is that of the environment. */
export interface Commands {
  curl: string;
  go: string;
  prismctl: string;
}

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

/** How to read a result. */
export function readCommands(origin: string, id: string): Commands {
  return {
    curl: `curl --fail-with-body -sS ${authorized} ${shellWord(`${origin}/v1/results/${id}`)}`,
    go: `${goHead(origin)}\nresult, err := c.ReadResult(ctx, ${goString(id)})`,
    prismctl: `prismctl results get ${id}`,
  };
}

/** The body of a create call as the API takes it. */
export function bodyOf({ fields, version, ref, context }: Call): Schemas['CreateResult'] {
  return { fields, ...(version !== undefined && { version }), ...(ref && { ref }), ...(context && { context }) };
}

/** How to make a call. */
export function callCommands(origin: string, call: Call): Commands {
  const { prism, fields, version, ref, context } = call;
  return {
    curl: [
      `curl --fail-with-body -sS ${shellWord(`${origin}/v1/prisms/${prism}/results`)}`,
      `${authorized} -H 'Content-Type: application/json'`,
      `-d ${shellWord(JSON.stringify(bodyOf(call), null, 2))}`,
    ].join(' \\\n  '),
    go: [
      goHead(origin),
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
    prismctl: [
      `prismctl call ${shellWord(prism)}`,
      ...Object.entries(fields).map(([key, value]) => `--field ${shellWord(`${key}=${value}`)}`),
      ...(version !== undefined ? [`--version ${version}`] : []),
      ...(ref ? [`--ref ${shellWord(ref)}`] : []),
      ...(context ? [`--background ${shellWord(context)}`] : []),
    ].join(' \\\n  '),
  };
}
