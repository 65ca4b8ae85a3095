import type { Schemas } from '@/api';

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A text as a Go string literal. */
export function goString(text: string): string {
  return text.includes('\n') && !text.includes('`') && !text.includes('\r') ? `\`${text}\`` : JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const authorized = `-H "Authorization: Bearer $PRISM_API_KEY"`;

const goHead = (origin: string) => `c, err := client.New(client.Config{URL: ${goString(origin)}, Key: os.Getenv("PRISM_API_KEY")})
if err != nil {
	return err
}`;

/** How to read a result by curl, Go and prismctl. The key is that of the environment. */
export function readSnippets(origin: string, id: string): Snippets {
  return {
    curl: `curl --fail-with-body -sS ${authorized} ${shellWord(`${origin}/v1/results/${id}`)}`,
    go: `${goHead(origin)}\nresult, err := c.ReadResult(ctx, ${goString(id)})`,
    prismctl: `prismctl results get ${id}`,
  };
}

export interface Snippets {
  curl: string;
  go: string;
  prismctl: string;
}

type Call = Pick<Schemas['Record'], 'prism' | 'version' | 'fields' | 'ref' | 'context'>;

/** The call that made a result, to be made again as a new result. */
export function callSnippets(origin: string, { prism, version, fields, ref, context }: Call): Snippets {
  const body = { fields, version, ...(ref !== null && { ref }), ...(context !== null && { context }) };
  const flags = [
    ...Object.entries(fields).map(([key, value]) => `--field ${shellWord(`${key}=${value}`)}`),
    `--version ${version}`,
    ...(ref !== null ? [`--ref ${shellWord(ref)}`] : []),
    ...(context !== null ? [`--context ${shellWord(context)}`] : []),
  ];
  const members = [
    `Fields:  map[string]string{${Object.entries(fields).map(([key, value]) => `${goString(key)}: ${goString(value)}`).join(', ')}},`,
    `Version: ${version},`,
    ...(ref ? [`Ref:     ${goString(ref)},`] : []),
    ...(context ? [`Context: ${goString(context)},`] : []),
  ];
  return {
    curl: `curl --fail-with-body -sS ${authorized} -H 'Content-Type: application/json' \\\n  ${shellWord(`${origin}/v1/prisms/${prism}/results`)} -d ${shellWord(JSON.stringify(body))}`,
    go: `${goHead(origin)}\nresult, err := c.CreateResult(ctx, ${goString(prism)}, client.NewResult{\n${members.map((m) => `\t${m}`).join('\n')}\n})`,
    prismctl: `prismctl call ${shellWord(prism)} ${flags.join(' ')}`,
  };
}
