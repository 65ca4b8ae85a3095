export type Kind = 'name' | 'string' | 'number' | 'word' | 'plain';

export interface Token {
  kind: Kind;
  text: string;
}

const widest = 84; // characters of a line

/**
 * A JSON text, indented: what is short stands on one line, except the whole text. Members and numbers stay as they were
 * sent, which parsing would not keep. At a depth above 0 the whole text too may stand on one line.
 */
export function layout(text: string, depth = 0, indent = '  '): Token[] {
  const found = [...text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|{\s*}|\[\s*\]|[{}[\],]|[^\s{}[\],"]+/g)];
  const parts: Token[] = [];
  const add = (kind: Kind, part: string) => { parts.push({ kind, text: part }); };
  let short = -1; // where the line ends that is kept short
  const line = (step: number) => { depth += step; add('plain', `\n${indent.repeat(Math.max(depth, 0))}`); };
  for (const [at, [token, string, colon]] of found.entries()) {
    const opens = token === '{' || token === '[';
    if (opens && depth > 0 && at > short) short = shortEnd(found, at);
    if (colon) { add('name', string!); add('plain', ': '); }
    else if (string) add('string', string);
    else if (token === ',') add('plain', at < short ? ', ' : ',');
    else if (/^[\]}]/.test(token) && at > short) { line(-1); add('plain', token); }
    else if (/^[{[\]}]/.test(token)) add('plain', token);
    else add(/^[-\d]/.test(token) ? 'number' : 'word', token);
    if (at > short && (opens || token === ',')) line(opens ? 1 : 0);
  }
  return parts;
}

// shortEnd is where what opens at a token closes again, or -1 when that is too far away for one line.
function shortEnd(tokens: RegExpExecArray[], at: number): number {
  let open = 0;
  for (let end = at, width = 0; end < tokens.length; end++) {
    const [token, , colon] = tokens[end]!;
    width += token.length + (colon || token === ',' ? 1 : 0);
    if (token === '{' || token === '[') open++;
    if (token === '}' || token === ']') open--;
    if (width > widest) return -1;
    if (open === 0) return end;
  }
  return -1;
}

export const plain = (tokens: Token[]) => tokens.map((token) => token.text).join('');

/** A value as indented JSON. */
export const pretty = (value: unknown, depth = 0, indent = '  ') => plain(layout(JSON.stringify(value), depth, indent));

const keywords =
  'package|import|func|for|range|with|if|err|nil|defer|return|const|await|new|from|print|true|false|null|True|False|None';
const code = new RegExp(`("(?:[^"\\\\\n]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*'|\`[^\`]*\`)|\\b(${keywords})\\b|\\b(\\d+)\\b`, 'g');

/** The strings, words and numbers of a sample. */
export function highlight(text: string): Token[] {
  const parts: Token[] = [];
  let end = 0;
  for (const match of text.matchAll(code)) {
    if (match.index > end) parts.push({ kind: 'plain', text: text.slice(end, match.index) });
    parts.push({ kind: match[1] ? 'string' : match[2] ? 'word' : 'number', text: match[0] });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ kind: 'plain', text: text.slice(end) });
  return parts;
}
