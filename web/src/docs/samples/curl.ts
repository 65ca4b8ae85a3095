import { json, type Operation } from '../document';
import { pretty } from '../layout';

/** The call as a command of a shell. */
export function curl({ method, path, parameters, body }: Operation, origin: string): string {
  const query = new URLSearchParams();
  // A header is left out: none is required, and those of the examples name something that the reader's Prism has not got.
  for (const { name, in: place, example } of parameters) {
    if (place === 'path') path = path.replace(`{${name}}`, () => encodeURIComponent(String(example)));
    else if (place === 'query' && example !== undefined) query.append(name, String(example));
  }
  query.sort();
  const url = origin + (query.size > 0 ? `${path}?${query.toString()}` : path);
  const implied = method === 'GET' || (method === 'POST' && body);
  const lines = [`curl ${implied ? '' : `-X ${method} `}"${url}"`, '  -H "Authorization: Bearer $PRISM_API_KEY"'];
  if (body) {
    const value = body.examples[0]!.value;
    const text = body.type === json ? pretty(value, 1) : String(value);
    lines.push(
      `  -H "Content-Type: ${body.type}"`, `  ${body.type === json ? '-d' : '--data-binary'} '${text.replaceAll("'", "'\\''")}'`,
    );
  }
  return lines.join(' \\\n');
}
