/** A create call: what Try sends, and what its commands send. */
export interface Call {
  prism: string;
  fields: Record<string, string>;
  context?: string;
  ref?: string;
  /** A version that is not the latest. */
  version?: number;
}

/** The body of the call as the API takes it. */
export function bodyOf({ fields, context, ref, version }: Call) {
  return { fields, ...(version !== undefined && { version }), ...(ref && { ref }), ...(context && { context }) };
}

/** A text for a shell, whatever is in it. */
export const quoted = (text: string): string => (/^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

export function curl(call: Call, origin: string): string {
  return [
    `curl --fail-with-body -sS ${quoted(`${origin}/v1/prisms/${call.prism}/results`)} \\`,
    `  -H "Authorization: Bearer $PRISM_API_KEY" -H 'Content-Type: application/json' \\`,
    `  -d ${quoted(JSON.stringify(bodyOf(call), null, 2))}`,
  ].join('\n');
}

/** A Go string literal. JSON's escapes are Go's, but for those of < > and &, which JSON.stringify does not make. */
const literal = (text: string): string => (text.includes('\n') && !/[`\r]/.test(text) ? `\`${text}\`` : JSON.stringify(text));

export function go(call: Call, origin: string): string {
  const fields = Object.entries(call.fields).map(([key, value]) => `\t\t${JSON.stringify(key)}: ${literal(value)},`);
  const members = [
    `\tFields: map[string]string{\n${fields.join('\n')}\n\t},`,
    call.version !== undefined && `\tVersion: ${call.version},`,
    call.ref && `\tRef: ${literal(call.ref)},`,
    call.context && `\tContext: ${literal(call.context)},`,
    `\tIdempotencyKey: client.NewIdempotencyKey(),`,
  ].filter(Boolean);
  return [
    '// go get github.com/prism-results/prism/client',
    `c, err := client.New(client.Config{URL: ${JSON.stringify(origin)}, Key: os.Getenv("PRISM_API_KEY")})`,
    'if err != nil {', '\treturn err', '}',
    `result, err := c.CreateResult(ctx, ${JSON.stringify(call.prism)}, client.NewResult{`, ...members, '})',
    'if err != nil {', '\treturn err', '}',
  ].join('\n');
}

export function prismctl(call: Call): string {
  return [
    `prismctl call ${call.prism}`,
    ...Object.entries(call.fields).map(([key, value]) => `--field ${key}=${quoted(value)}`),
    ...(call.version !== undefined ? [`--version ${call.version}`] : []),
    ...(call.ref ? [`--ref ${quoted(call.ref)}`] : []),
    ...(call.context ? [`--context ${quoted(call.context)}`] : []),
  ].join(' \\\n  ');
}
