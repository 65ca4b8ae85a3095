import { json, type Operation } from './document';
import { layout, plain, pretty } from './layout';

export const languages = ['curl', 'Go', 'TypeScript', 'Python'] as const;
export type Language = (typeof languages)[number];

/** A call that works as it stands, when PRISM_API_KEY is in the environment. */
export function sample(language: Language, operation: Operation, origin: string): string {
  return { curl, Go, TypeScript, Python }[language](operation, origin + addressOf(operation));
}

// The path and query with the examples of the document. A header is left out: none is required, and those of the examples
// name something that the reader's Prism has not got.
function addressOf({ path, parameters }: Operation): string {
  const query = new URLSearchParams();
  for (const { name, in: place, example } of parameters) {
    if (place === 'path') path = path.replace(`{${name}}`, () => encodeURIComponent(String(example)));
    else if (place === 'query' && example !== undefined) query.append(name, String(example));
  }
  query.sort();
  return query.size > 0 ? `${path}?${query.toString()}` : path;
}

function curl({ method, body }: Operation, url: string): string {
  const implied = method === 'GET' || (method === 'POST' && body);
  const lines = [`curl ${implied ? '' : `-X ${method} `}"${url}"`, '  -H "Authorization: Bearer $PRISM_API_KEY"'];
  if (body) {
    const value = body.examples[0]!.value;
    const text = body.type === json ? pretty(value, 1) : String(value);
    lines.push(`  -H "Content-Type: ${body.type}"`, `  ${body.type === json ? '-d' : '--data-binary'} '${text.replaceAll("'", "'\\''")}'`);
  }
  return lines.join(' \\\n');
}

function Go({ method, body }: Operation, url: string): string {
  const value = body?.examples[0]!.value;
  const text = body?.type === json ? pretty(value, 0, '\t') : String(value);
  // A raw string holds no backquote.
  const literal = text.includes('`') ? JSON.stringify(text) : `\`${text}\``;
  const imports = ['fmt', 'io', 'log', 'net/http', 'os', ...(body ? ['strings'] : [])];
  return [
    'package main', '', 'import (', ...imports.map((name) => `\t"${name}"`), ')', '',
    'func main() {',
    ...(body ? [`\tbody := strings.NewReader(${literal})`] : []),
    `\trequest, err := http.NewRequest("${method}", "${url}", ${body ? 'body' : 'nil'})`,
    '\tif err != nil {', '\t\tlog.Fatal(err)', '\t}',
    '\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("PRISM_API_KEY"))',
    ...(body ? [`\trequest.Header.Set("Content-Type", "${body.type}")`] : []),
    '\tresponse, err := http.DefaultClient.Do(request)',
    '\tif err != nil {', '\t\tlog.Fatal(err)', '\t}',
    '\tdefer response.Body.Close()',
    '\tanswer, err := io.ReadAll(response.Body)',
    '\tif err != nil {', '\t\tlog.Fatal(err)', '\t}',
    '\tfmt.Println(response.Status, string(answer))',
    '}',
  ].join('\n');
}

function TypeScript({ method, body }: Operation, url: string): string {
  const value = body?.examples[0]!.value;
  return [
    `const response = await fetch('${url}', {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    '  headers: {',
    '    Authorization: `Bearer ${process.env.PRISM_API_KEY}`,',
    ...(body ? [`    'Content-Type': '${body.type}',`] : []),
    '  },',
    ...(body ? [`  body: ${body.type === json ? `JSON.stringify(${pretty(value, 1)})` : JSON.stringify(value)},`] : []),
    '});',
    'console.log(response.status, await response.text());',
  ].join('\n');
}

const pythons: Record<string, string> = { true: 'True', false: 'False', null: 'None' };

function Python({ method, body }: Operation, url: string): string {
  const value = body?.examples[0]!.value;
  const literal = plain(layout(JSON.stringify(value ?? null), 1, '    ').map((token) =>
    (token.kind === 'word' ? { ...token, text: pythons[token.text]! } : token)));
  const bytes = body && body.type !== json;
  return [
    'import os', '', 'import requests', '',
    `response = requests.${method.toLowerCase()}(`,
    `    "${url}",`,
    '    headers={',
    '        "Authorization": f"Bearer {os.environ[\'PRISM_API_KEY\']}",',
    ...(bytes ? [`        "Content-Type": "${body.type}",`] : []),
    '    },',
    ...(body ? [bytes ? `    data=${literal}.encode(),` : `    json=${literal},`] : []),
    ')',
    'print(response.status_code, response.text)',
  ].join('\n');
}
